#include "lase/sampler/probabilities.h"

#include <algorithm>
#include <cmath>

#include "lase/base/parallel.h"

namespace lase {
namespace {

// p [n] ∝ scores, mixed with the uniform distribution; sums to 1.
void set_probabilities(std::span<const float> scores, std::vector<double>& p) {
  double total = 0;
  for (const float score : scores) total += double{score};
  const auto n = static_cast<double>(scores.size());
  const bool valid = std::isfinite(total) && total > 0;
  p.resize(scores.size());
  for (size_t i = 0; i < p.size(); ++i) {
    p[i] = valid ? (1 - kFloor) * (double{scores[i]} / total) + kFloor / n : 1 / n;
  }
}

// Clips probabilities at `limit` and rescales the others until they sum to 1 again.
void cap(std::vector<double>& p, double limit) {
  for (;;) {
    double uncapped = 0;  // sum of the probabilities below the limit
    int64_t capped = 0;
    bool above = false;
    for (double& x : p) {
      above = above || x > limit;
      if (x < limit) {
        uncapped += x;
      } else {
        x = limit;
        ++capped;
      }
    }
    if (!above || uncapped <= 0) return;
    const double factor = (1 - limit * static_cast<double>(capped)) / uncapped;
    for (double& x : p) {
      if (x < limit) x *= factor;
    }
  }
}

}  // namespace

Probabilities sampling_probabilities(const Adjacency& graph, std::span<const float> scores,
                                     int64_t fanout, Replacement replacement) {
  Probabilities start(scores.size());
  constexpr int64_t kRows = 1024;
  parallel_for(graph.row_ptr.size() - 1, kRows, [&](int64_t first, int64_t last) {
    std::vector<double> p;
    for (int64_t u = first; u < last; ++u) {
      const int64_t degree = graph.degree(u);
      if (fanout == kWholeNeighborhood || degree <= fanout) continue;
      const auto begin = static_cast<size_t>(graph.row_ptr[u]);
      set_probabilities(scores.subspan(begin, static_cast<size_t>(degree)), p);
      if (replacement == Replacement::kWithout) cap(p, 1 / static_cast<double>(fanout));
      double cumulative = 0;
      uint64_t least = 0;  // every arc gets a non-empty interval
      for (size_t i = 0; i < p.size(); ++i) {
        const auto at =
            static_cast<uint64_t>(std::min(cumulative, 1.0) * static_cast<double>(kWholeRow));
        const uint64_t most = kWholeRow - (p.size() - i);  // leaves room for the arcs that follow
        const uint64_t position = std::clamp(at, least, most);
        start[begin + i] = static_cast<uint32_t>(position);
        least = position + 1;
        cumulative += p[i];
      }
    }
  });
  return start;
}

}  // namespace lase
