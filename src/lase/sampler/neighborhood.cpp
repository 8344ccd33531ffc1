#include "lase/sampler/neighborhood.h"

namespace lase {

Neighborhoods all_neighborhoods(const Graph& graph) {
  return {graph.row_ptr, graph.neighbor, graph.link};
}

Neighborhoods neighborhoods_within(const Graph& graph, const std::vector<bool>& kept) {
  Buffer<int64_t> row_ptr;
  Buffer<int32_t> neighbor;
  Buffer<int32_t> link;
  row_ptr.push_back(0);
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; kept[static_cast<size_t>(u)] && i < graph.row_ptr[u + 1];
         ++i) {
      if (!kept[static_cast<size_t>(graph.neighbor[i])]) continue;
      neighbor.push_back(graph.neighbor[i]);
      link.push_back(graph.link[i]);
    }
    row_ptr.push_back(neighbor.size());
  }
  return {row_ptr.freeze(), neighbor.freeze(), link.freeze()};
}

}  // namespace lase
