#include <algorithm>
#include <array>
#include <limits>

#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/optimizer.h"

namespace lase::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr size_t kMostArrays = 32;  // of a launch, whose arguments have at most 4 KiB

template <class Arrays>
struct ArrayList {
  std::array<Arrays, kMostArrays> all;
};

// Calls launch(list, grid) for up to kMostArrays of the arrays at a time: blockIdx.y is the number
// of an array, and blocks in x share its elements.
template <class Arrays, class LaunchList>
void for_each_list(std::span<const Arrays> all, const LaunchList& launch) {
  for (size_t first = 0; first < all.size(); first += kMostArrays) {
    const auto part = all.subspan(first, std::min(kMostArrays, all.size() - first));
    ArrayList<Arrays> list;
    std::copy(part.begin(), part.end(), list.all.begin());
    int64_t longest = 1;
    for (const auto& arrays : part) longest = std::max(longest, arrays.n);
    constexpr int64_t kMostBlocks = 256;
    const auto blocks = std::min<int64_t>(kMostBlocks, (longest + kThreads - 1) / kThreads);
    launch(list, dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(part.size())));
  }
}

template <class T>
__global__ void adam_step_kernel(const __grid_constant__ ArrayList<AdamArrays<T>> list, T decay,
                                 T most, const double* factors) {
  constexpr auto kBeta1 = T(kAdamBeta1);
  constexpr auto kBeta2 = T(kAdamBeta2);
  constexpr auto kEpsilon = T(kAdamEpsilon);
  const auto rate = static_cast<T>(factors[0]);
  const auto correct2 = static_cast<T>(factors[1]);
  const AdamArrays<T>& in = list.all[blockIdx.y];
  for (int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x; i < in.n;
       i += int64_t{kThreads} * gridDim.x) {
    // NaN is neither above nor below, and stays NaN.
    T g = in.g[i];
    if (g > most) g = most;
    if (g < -most) g = -most;
    g += decay * in.w[i];
    in.m[i] = kBeta1 * in.m[i] + (1 - kBeta1) * g;
    in.v[i] = kBeta2 * in.v[i] + (1 - kBeta2) * g * g;
    in.w[i] -= rate * in.m[i] / (sqrt(in.v[i] / correct2) + kEpsilon);
  }
}

template <class T>
__global__ void average_step_kernel(const __grid_constant__ ArrayList<AverageArrays<T>> list,
                                    const double* decay) {
  const auto kept = static_cast<T>(*decay);
  const auto added = static_cast<T>(1 - *decay);
  const AverageArrays<T>& in = list.all[blockIdx.y];
  for (int64_t i = blockIdx.x * int64_t{kThreads} + threadIdx.x; i < in.n;
       i += int64_t{kThreads} * gridDim.x) {
    in.average[i] = kept * in.average[i] + added * in.w[i];
  }
}

constexpr size_t kMostNumbers = 8;
using Numbers = std::array<int64_t, kMostNumbers>;

__global__ void set_numbers_kernel(const __grid_constant__ Numbers numbers, int64_t* out) {
  out[threadIdx.x] = numbers[threadIdx.x];
}

}  // namespace

template <class T>
void adam_step(std::span<const AdamArrays<T>> all, const AdamNumbers& numbers,
               const Launch& launch) {
  const auto most =
      numbers.clip > 0 ? static_cast<T>(numbers.clip) : std::numeric_limits<T>::infinity();
  for_each_list(all, [&](const ArrayList<AdamArrays<T>>& list, dim3 grid) {
    adam_step_kernel<<<grid, kThreads, 0, launch.stream>>>(
        list, static_cast<T>(numbers.weight_decay), most, numbers.factors);
    check_launch("adam_step");
  });
}

template <class T>
void average_step(std::span<const AverageArrays<T>> all, const double* decay,
                  const Launch& launch) {
  for_each_list(all, [&](const ArrayList<AverageArrays<T>>& list, dim3 grid) {
    average_step_kernel<<<grid, kThreads, 0, launch.stream>>>(list, decay);
    check_launch("average_step");
  });
}

void set_numbers(std::span<const int64_t> values, int64_t* out, const Launch& launch) {
  require(!values.empty() && values.size() <= kMostNumbers, "set_numbers: expected 1 to ",
          kMostNumbers, " values");
  Numbers numbers{};
  std::copy(values.begin(), values.end(), numbers.begin());
  set_numbers_kernel<<<1, static_cast<unsigned>(values.size()), 0, launch.stream>>>(numbers, out);
  check_launch("set_numbers");
}

template void adam_step(std::span<const AdamArrays<float>>, const AdamNumbers&, const Launch&);
template void adam_step(std::span<const AdamArrays<double>>, const AdamNumbers&, const Launch&);
template void average_step(std::span<const AverageArrays<float>>, const double*, const Launch&);
template void average_step(std::span<const AverageArrays<double>>, const double*, const Launch&);

}  // namespace lase::kernels::cuda
