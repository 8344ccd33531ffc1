#include "lase/sampler/pair_statistics.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>

#include "lase/base/parallel.h"
#include "lase/graph/common_neighbors.h"

namespace lase {
namespace {

struct Common {
  double count = 0;
  double adamic_adar = 0;
  double resource = 0;
};

class Neighborhoods {
 public:
  explicit Neighborhoods(const VisibleGraph& graph) : graph_(graph) {}

  int64_t degree(int64_t u) const {
    return graph_.hidden == nullptr ? graph_.arcs.degree(u)
                                    : graph_.hidden->visible_degree(graph_.arcs, u);
  }

  Common common(int64_t u, int64_t v) const {
    Common sums;
    for_each_common(Row(graph_, u), Row(graph_, v), [&](int32_t w) {
      const auto of_w = static_cast<double>(degree(w));
      sums.count += 1;
      sums.adamic_adar += 1 / std::log(2 + of_w);
      sums.resource += 1 / (1 + of_w);
    });
    return sums;
  }

 private:
  struct Row {
    Row(const VisibleGraph& graph, int64_t u)
        : begin(graph.arcs.neighbor.data() + graph.arcs.row_ptr[u]),
          end(graph.arcs.neighbor.data() + graph.arcs.row_ptr[u + 1]),
          first(graph.arcs.row_ptr[u]) {
      if (graph.hidden != nullptr) hidden = graph.hidden->of(graph.arcs, u);
    }
    int64_t size() const { return end - begin; }
    bool is_hidden(const int32_t* at) const {
      return !hidden.empty() &&
             std::binary_search(hidden.begin(), hidden.end(), first + (at - begin));
    }
    const int32_t* begin;
    const int32_t* end;
    int64_t first;
    std::span<const int64_t> hidden = {};
  };

  VisibleGraph graph_;
};

}  // namespace

at::Tensor pair_statistics(const VisibleGraph& graph, std::span<const int32_t> source,
                           std::span<const int32_t> target, bool symmetric) {
  at::Tensor statistics = at::empty({std::ssize(source), kPairStatistics}, at::kFloat);
  auto* all = statistics.data_ptr<float>();
  const Neighborhoods neighborhoods(graph);
  constexpr int64_t kPairs = 64;
  parallel_for(std::ssize(source), kPairs, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const auto at = static_cast<size_t>(i);
      const double u = std::log1p(static_cast<double>(neighborhoods.degree(source[at])));
      const double v = std::log1p(static_cast<double>(neighborhoods.degree(target[at])));
      const Common common = neighborhoods.common(source[at], target[at]);
      float* to = all + i * kPairStatistics;
      to[0] = static_cast<float>(symmetric ? u + v : u);
      to[1] = static_cast<float>(symmetric ? std::abs(u - v) : v);
      to[2] = static_cast<float>(std::log1p(common.count));
      to[3] = static_cast<float>(common.adamic_adar);
      to[4] = static_cast<float>(common.resource);
    }
  });
  return statistics;
}

std::array<std::string_view, kPairStatistics> pair_statistic_names(bool symmetric) {
  return {symmetric ? "sum of log degrees" : "log degree of the source",
          symmetric ? "difference of log degrees" : "log degree of the target",
          "log of common neighbors", "Adamic-Adar index", "resource allocation"};
}

}  // namespace lase
