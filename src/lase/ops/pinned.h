#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// A copy of x in pinned memory of the CPU, as a tensor of the GPU, whose kernels read and write it
// through the bus. For data that do not fit into the memory of the GPU.
at::Tensor pinned(const at::Tensor& x, const at::Device& device);
// The same for a matrix, with rows that are `stride` numbers apart.
at::Tensor pinned(const at::Tensor& x, const at::Device& device, int64_t stride);

}  // namespace lase::ops
