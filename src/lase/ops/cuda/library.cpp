#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>
#include <torch/library.h>

#include "lase/kernels/cuda/kernels.h"
#include "lase/ops/cuda/cuda.h"

namespace lase::ops::cuda {

bool is_built() { return true; }

bool supports(const at::Device& device) {
  const c10::DeviceGuard guard(device);
  return kernels::cuda::supports_current_device();
}

int64_t peak_memory(const at::Device& device) {
  if (!device.is_cuda()) return 0;
  const auto index = device.has_index() ? device.index() : c10::DeviceIndex{0};
  return c10::cuda::CUDACachingAllocator::getDeviceStats(index).allocated_bytes[0].peak;  // of all
}

int64_t free_memory(const at::Device& device) {
  const c10::DeviceGuard guard(device);
  size_t free = 0;
  size_t total = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return static_cast<int64_t>(free);
}

}  // namespace lase::ops::cuda

TORCH_LIBRARY_IMPL(lase, CUDA, m) {
  namespace cuda = lase::ops::cuda;
  m.impl("gated_sum", cuda::gated_sum);
  m.impl("gated_change", cuda::gated_change);
  m.impl("gated_sum_scores", cuda::gated_sum_scores);
  m.impl("gated_sum_backward", cuda::gated_sum_backward);
  m.impl("gated_sum_fits", cuda::gated_sum_fits);
  m.impl("largest_arcs", cuda::largest_arcs);
  m.impl("arcs_by_target", cuda::arcs_by_target);
  m.impl("linear", cuda::linear);
  m.impl("linear_backward", cuda::linear_backward);
  m.impl("drop", cuda::drop);
  m.impl("adam_step", cuda::adam_step);
  m.impl("average_step", cuda::average_step);
  m.impl("set_numbers", cuda::set_numbers);
  m.impl("scale_weights", cuda::scale_weights);
  m.impl("scale_weights_backward", cuda::scale_weights_backward);
  m.impl("cached_rows", cuda::cached_rows);
  m.impl("concat_relu", cuda::concat_relu);
  m.impl("concat_relu_backward", cuda::concat_relu_backward);
  m.impl("normalize_rows", cuda::normalize_rows);
  m.impl("normalize_rows_backward", cuda::normalize_rows_backward);
  m.impl("row_dot", cuda::row_dot);
  m.impl("row_dot_backward", cuda::row_dot_backward);
  m.impl("sparse_rows", cuda::sparse_rows);
}
