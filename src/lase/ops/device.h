#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>

#include "lase/ops/device_options.h"

namespace lase {

// Resolves kAuto for a graph with this many links. Throws Error if there is no such device, or if
// it does not support the precision.
at::Device choose_device(const DeviceOptions& options, int64_t links);

namespace ops {

// x on a device: itself if it is undefined or already there. A copy from the CPU to a GPU goes
// through pinned memory and does not wait for the GPU.
at::Tensor move(const at::Tensor& x, const at::Device& device);

}  // namespace ops

}  // namespace lase
