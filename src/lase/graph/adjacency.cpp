#include "lase/graph/adjacency.h"

#include <algorithm>

#include "lase/base/parallel.h"

namespace lase {

Adjacency filter_arcs(const Adjacency& graph,
                      const std::function<bool(int64_t u, int64_t arc)>& keep) {
  const int64_t nodes = graph.node_count();
  constexpr int64_t kNodes = 4096;
  // Calls visit(u, i) for every arc that is kept.
  const auto for_each_arc = [&](const auto& visit) {
    parallel_for(nodes, kNodes, [&](int64_t first, int64_t last) {
      for (int64_t u = first; u < last; ++u) {
        for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
          if (keep(u, i)) visit(u, i);
        }
      }
    });
  };
  Buffer<int64_t> row_ptr;
  row_ptr.resize(nodes + 1);
  std::fill(row_ptr.begin(), row_ptr.end(), 0);
  for_each_arc([&](int64_t u, int64_t) { ++row_ptr[u + 1]; });
  for (int64_t u = 0; u < nodes; ++u) row_ptr[u + 1] += row_ptr[u];
  Buffer<int32_t> neighbor;
  neighbor.resize(row_ptr[nodes]);
  IndexBuffer link(row_ptr[nodes], graph.link.is_wide() ? kLargestNarrow + 1 : 0);
  std::vector<int64_t> next(row_ptr.begin(), row_ptr.end());
  for_each_arc([&](int64_t u, int64_t i) {
    const int64_t at = next[static_cast<size_t>(u)]++;
    neighbor[at] = graph.neighbor[i];
    link.set(at, graph.link[i]);
  });
  return {row_ptr.freeze(), neighbor.freeze(), link.freeze()};
}

Adjacency adjacency_within(const Adjacency& graph, const std::vector<bool>& kept) {
  return filter_arcs(graph, [&](int64_t u, int64_t i) {
    return kept[static_cast<size_t>(u)] && kept[static_cast<size_t>(graph.neighbor[i])];
  });
}

}  // namespace lase
