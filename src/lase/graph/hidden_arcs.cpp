#include "lase/graph/hidden_arcs.h"

#include <algorithm>

namespace lase {

HiddenArcs::HiddenArcs(const Adjacency& graph, std::span<const int32_t> source,
                       std::span<const int32_t> target) {
  const auto hide = [&](int32_t u, int32_t v) {
    const auto* row = graph.neighbor.data();
    const auto [first, last] =
        std::equal_range(row + graph.row_ptr[u], row + graph.row_ptr[u + 1], v);
    for (const auto* at = first; at != last; ++at) arcs_.push_back(at - row);
  };
  for (size_t i = 0; i < source.size(); ++i) {
    hide(source[i], target[i]);
    hide(target[i], source[i]);
  }
  std::sort(arcs_.begin(), arcs_.end());
  arcs_.erase(std::unique(arcs_.begin(), arcs_.end()), arcs_.end());
}

std::span<const int64_t> HiddenArcs::of(const Adjacency& graph, int64_t u) const {
  const auto first = std::lower_bound(arcs_.begin(), arcs_.end(), graph.row_ptr[u]);
  const auto last = std::lower_bound(first, arcs_.end(), graph.row_ptr[u + 1]);
  return {first, last};
}

Adjacency visible_arcs(const Adjacency& graph, const HiddenArcs& hidden) {
  return filter_arcs(graph, [&](int64_t u, int64_t arc) {
    const auto arcs = hidden.of(graph, u);
    return !std::binary_search(arcs.begin(), arcs.end(), arc);
  });
}

}  // namespace lase
