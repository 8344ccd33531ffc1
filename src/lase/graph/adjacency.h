#pragma once

#include <cstdint>
#include <vector>

#include "lase/base/array.h"
#include "lase/base/index_array.h"

namespace lase {

// In place of a fan-out: the whole neighborhood.
inline constexpr int64_t kWholeNeighborhood = -1;

// N(u) of every node: the arcs row_ptr[u] … row_ptr[u+1], where neighbor[i] is v and link[i] is the
// row of f(e) among the link attributes. Neighbors ascend within a row.
struct Adjacency {
  Array<int64_t> row_ptr;   // [nodes+1]
  Array<int32_t> neighbor;  // [arcs]
  IndexArray link;          // [arcs]

  int64_t node_count() const { return row_ptr.size() - 1; }
  int64_t arc_count() const { return neighbor.size(); }
  int64_t degree(int64_t u) const { return row_ptr[u + 1] - row_ptr[u]; }
};

// Only the arcs both of whose nodes are kept; nodes keep their numbers.
Adjacency adjacency_within(const Adjacency& graph, const std::vector<bool>& kept);

}  // namespace lase
