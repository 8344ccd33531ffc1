#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "lase/base/array.h"
#include "lase/base/index_array.h"

namespace lase {

// Fan-out value that selects the whole neighborhood.
inline constexpr int64_t kWholeNeighborhood = -1;

// CSR adjacency: N(u) is the arcs row_ptr[u] … row_ptr[u+1] − 1, sorted by neighbor. Arc i leads to
// v = neighbor[i], and row link[i] of the link attributes is its f(e).
struct Adjacency {
  Array<int64_t> row_ptr;   // [nodes+1]
  Array<int32_t> neighbor;  // [arcs]
  IndexArray link;          // [arcs]

  int64_t node_count() const { return row_ptr.size() - 1; }
  int64_t arc_count() const { return neighbor.size(); }
  int64_t degree(int64_t u) const { return row_ptr[u + 1] - row_ptr[u]; }
};

// The arcs i of nodes u for which keep(u, i); node ids do not change. Called from several threads.
Adjacency filter_arcs(const Adjacency& graph,
                      const std::function<bool(int64_t u, int64_t arc)>& keep);

// The arcs between kept nodes; node ids do not change.
Adjacency adjacency_within(const Adjacency& graph, const std::vector<bool>& kept);

}  // namespace lase
