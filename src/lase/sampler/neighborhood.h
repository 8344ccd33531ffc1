#pragma once

#include <cstdint>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

// In place of the number of arcs to draw: all of them.
inline constexpr int64_t kWholeNeighborhood = -1;

// The arcs that a sampler may draw: those of a graph, or those between some of its nodes.
struct Neighborhoods {
  Array<int64_t> row_ptr;
  Array<int32_t> neighbor;
  Array<int32_t> link;

  int64_t degree(int64_t u) const { return row_ptr[u + 1] - row_ptr[u]; }
};

Neighborhoods all_neighborhoods(const Graph& graph);

// Only arcs both of whose nodes are kept; nodes keep their numbers.
Neighborhoods neighborhoods_within(const Graph& graph, const std::vector<bool>& kept);

}  // namespace lase
