#include <algorithm>
#include <cmath>
#include <limits>

#include "lase/base/parallel.h"
#include "lase/kernels/kernels.h"

namespace lase::kernels {

template <class T>
void adam_step(const AdamStep& step, const T* g, int64_t n, T* w, T* m, T* v) {
  constexpr auto kBeta1 = T(kAdamBeta1);
  constexpr auto kBeta2 = T(kAdamBeta2);
  constexpr auto kEpsilon = T(kAdamEpsilon);
  const auto rate = static_cast<T>(step.rate);
  const auto correct2 = static_cast<T>(step.correct2);
  const auto decay = static_cast<T>(step.weight_decay);
  const auto most = step.clip > 0 ? static_cast<T>(step.clip) : std::numeric_limits<T>::infinity();
  constexpr int64_t kChunk = 1 << 14;
  parallel_for(n, kChunk, [=](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      // In this order of arguments, NaN stays NaN.
      const T gradient = std::max(std::min(g[i], most), -most) + decay * w[i];
      m[i] = kBeta1 * m[i] + (1 - kBeta1) * gradient;
      v[i] = kBeta2 * v[i] + (1 - kBeta2) * gradient * gradient;
      w[i] -= rate * m[i] / (std::sqrt(v[i] / correct2) + kEpsilon);
    }
  });
}

template void adam_step(const AdamStep&, const float*, int64_t, float*, float*, float*);
template void adam_step(const AdamStep&, const double*, int64_t, double*, double*, double*);

}  // namespace lase::kernels
