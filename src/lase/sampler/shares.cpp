#include "lase/sampler/shares.h"

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
  const bool known = std::isfinite(total) && total > 0;
  p.resize(scores.size());
  for (size_t i = 0; i < p.size(); ++i) {
    p[i] = known ? (1 - kFloor) * (double{scores[i]} / total) + kFloor / n : 1 / n;
  }
}

// Lowers what is above `top`, and raises the others in proportion, until the sum is 1 again.
void cap(std::vector<double>& p, double top) {
  for (;;) {
    double free = 0;  // of those below the top
    int64_t capped = 0;
    bool above = false;
    for (double& x : p) {
      above = above || x > top;
      if (x < top) {
        free += x;
      } else {
        x = top;
        ++capped;
      }
    }
    if (!above || free <= 0) return;
    const double raise = (1 - top * static_cast<double>(capped)) / free;
    for (double& x : p) {
      if (x < top) x *= raise;
    }
  }
}

}  // namespace

Shares make_shares(const Adjacency& graph, std::span<const float> scores, int64_t fanout,
                   Draw draw) {
  Shares start(scores.size());
  constexpr int64_t kRows = 1024;
  parallel_for(graph.row_ptr.size() - 1, kRows, [&](int64_t first, int64_t last) {
    std::vector<double> p;
    for (int64_t u = first; u < last; ++u) {
      const int64_t degree = graph.degree(u);
      if (fanout == kWholeNeighborhood || degree <= fanout) continue;
      const auto begin = static_cast<size_t>(graph.row_ptr[u]);
      set_probabilities(scores.subspan(begin, static_cast<size_t>(degree)), p);
      if (draw == Draw::kWithout) cap(p, 1 / static_cast<double>(fanout));
      double upto = 0;
      uint64_t least = 0;  // every arc has a stretch
      for (size_t i = 0; i < p.size(); ++i) {
        const auto at = static_cast<uint64_t>(std::min(upto, 1.0) * static_cast<double>(kWholeRow));
        const uint64_t most = kWholeRow - (p.size() - i);  // leaves one for each that follows
        const uint64_t place = std::clamp(at, least, most);
        start[begin + i] = static_cast<uint32_t>(place);
        least = place + 1;
        upto += p[i];
      }
    }
  });
  return start;
}

}  // namespace lase
