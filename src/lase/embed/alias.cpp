#include "lase/embed/alias.h"

#include <algorithm>
#include <numeric>

#include "lase/base/error.h"

namespace lase {

AliasTable::AliasTable(std::span<const float> weights) : columns_(weights.size()) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  require(total > 0, "nothing can be drawn where all weights are zero");
  const double scale = static_cast<double>(weights.size()) / total;
  std::vector<double> share(weights.size());  // of a column: 1 on average
  std::vector<int32_t> small;
  std::vector<int32_t> large;
  for (size_t i = 0; i < weights.size(); ++i) {
    share[i] = weights[i] * scale;
    (share[i] < 1 ? small : large).push_back(static_cast<int32_t>(i));
  }
  // A column below its share is filled up by one above.
  constexpr double kAll = 4294967296;  // 2^32
  while (!small.empty() && !large.empty()) {
    const auto low = static_cast<size_t>(small.back());
    const auto high = static_cast<size_t>(large.back());
    small.pop_back();
    columns_[low] = {.threshold = static_cast<uint32_t>(share[low] * kAll),
                     .alias = static_cast<int32_t>(high)};
    share[high] -= 1 - share[low];
    if (share[high] >= 1) continue;
    large.pop_back();
    small.push_back(static_cast<int32_t>(high));
  }
  // What rounding leaves has its column for itself; what must not be drawn has none.
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
