#include "lase/embed/alias.h"

#include <algorithm>
#include <numeric>

#include "lase/base/error.h"

namespace lase {

AliasTable::AliasTable(std::span<const float> weights) : columns_(weights.size()) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  require(total > 0, "cannot sample: all weights are zero");
  const double scale = static_cast<double>(weights.size()) / total;
  std::vector<double> scaled(weights.size());  // weights with mean 1
  std::vector<int32_t> small;
  std::vector<int32_t> large;
  for (size_t i = 0; i < weights.size(); ++i) {
    scaled[i] = weights[i] * scale;
    (scaled[i] < 1 ? small : large).push_back(static_cast<int32_t>(i));
  }
  // Fill up each column below 1 from one above 1.
  constexpr double kAll = 4294967296;  // 2^32
  while (!small.empty() && !large.empty()) {
    const auto low = static_cast<size_t>(small.back());
    const auto high = static_cast<size_t>(large.back());
    small.pop_back();
    columns_[low] = {.threshold = static_cast<uint32_t>(scaled[low] * kAll),
                     .alias = static_cast<int32_t>(high)};
    scaled[high] -= 1 - scaled[low];
    if (scaled[high] >= 1) continue;
    large.pop_back();
    small.push_back(static_cast<int32_t>(high));
  }
  // Indices left over by rounding keep their whole column; zero weights must never be sampled.
  const auto heaviest =
      static_cast<int32_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  for (const auto& rest : {small, large}) {
    for (const int32_t i : rest) {
      const auto at = static_cast<size_t>(i);
      columns_[at] = {.threshold = 0, .alias = weights[at] > 0 ? i : heaviest};
    }
  }
}

}  // namespace lase
