#include "lase/kernels/cuda/add_parts.h"
#include "lase/kernels/cuda/check.h"

namespace lase::kernels::cuda {
namespace {

constexpr int kThreads = 256;

// With kLanes threads per element: each adds every kLanes-th part.
template <int kLanes>
__global__ void add_parts_kernel(const float* parts, int64_t count, int64_t n, float* out) {
  const int64_t i = (int64_t{blockIdx.x} * kThreads + threadIdx.x) / kLanes;
  if (i >= n) return;
  float sum = 0;
  for (int64_t p = threadIdx.x % kLanes; p < count; p += kLanes) sum += parts[p * n + i];
  for (int step = 1; step < kLanes; step *= 2) sum += __shfl_xor_sync(__activemask(), sum, step);
  if (threadIdx.x % kLanes == 0) out[i] = sum;
}

}  // namespace

void add_parts(const float* parts, int64_t count, int64_t n, float* out, const Launch& launch) {
  // Few elements are added by more threads.
  constexpr int64_t kFew = 4096;
  const int lanes = n <= kFew ? 32 : 1;
  const auto blocks = static_cast<unsigned>((n * lanes + kThreads - 1) / kThreads);
  const auto kernel = lanes == 1 ? add_parts_kernel<1> : add_parts_kernel<32>;
  kernel<<<blocks, kThreads, 0, launch.stream>>>(parts, count, n, out);
  check_launch("add_parts");
}

}  // namespace lase::kernels::cuda
