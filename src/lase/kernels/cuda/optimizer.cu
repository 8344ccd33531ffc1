#include <cmath>
#include <limits>

#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/optimizer.h"

namespace lase::kernels::cuda {
namespace {

// The numbers of a step that are the same for all weights.
template <class T>
struct Factors {
  T rate;      // learning rate / (1 − β1^steps)
  T correct2;  // 1 − β2^steps
  T decay;
  T most;  // of |g|
};

template <class T>
__global__ void adam_step_kernel(Factors<T> step, const T* g, int64_t n, T* w, T* m, T* v) {
  constexpr auto kBeta1 = T(0.9);
  constexpr auto kBeta2 = T(0.999);
  constexpr auto kEpsilon = T(1e-8);
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  // NaN is neither above nor below, and stays NaN.
  T gradient = g[i];
  if (gradient > step.most) gradient = step.most;
  if (gradient < -step.most) gradient = -step.most;
  gradient += step.decay * w[i];
  m[i] = kBeta1 * m[i] + (1 - kBeta1) * gradient;
  v[i] = kBeta2 * v[i] + (1 - kBeta2) * gradient * gradient;
  w[i] -= step.rate * m[i] / (sqrt(v[i] / step.correct2) + kEpsilon);
}

}  // namespace

template <class T>
void adam_step(const AdamStep& step, const T* g, int64_t n, T* w, T* m, T* v,
               const Launch& launch) {
  if (n == 0) return;
  const auto t = static_cast<double>(step.steps);
  const Factors<T> factors{
      .rate = static_cast<T>(step.learning_rate / (1 - std::pow(0.9, t))),
      .correct2 = static_cast<T>(1 - std::pow(0.999, t)),
      .decay = static_cast<T>(step.weight_decay),
      .most = step.clip > 0 ? static_cast<T>(step.clip) : std::numeric_limits<T>::infinity()};
  constexpr int64_t kThreads = 256;
  const auto blocks = static_cast<unsigned>((n + kThreads - 1) / kThreads);
  adam_step_kernel<<<blocks, kThreads, 0, launch.stream>>>(factors, g, n, w, m, v);
  check_launch("adam_step");
}

template void adam_step(const AdamStep&, const float*, int64_t, float*, float*, float*,
                        const Launch&);
template void adam_step(const AdamStep&, const double*, int64_t, double*, double*, double*,
                        const Launch&);

}  // namespace lase::kernels::cuda
