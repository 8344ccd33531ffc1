#pragma once

#include <ATen/core/Tensor.h>
#include <array>
#include <cstdint>
#include <string_view>

#include "lase/base/option_table.h"
#include "lase/kernels/precision.h"

namespace lase {

// kAuto: a GPU if there is one and the graph is large enough to gain from it.
enum class DeviceChoice : uint8_t { kAuto, kCpu, kCuda };

// Where to compute, and how precisely.
struct DeviceOptions {
  DeviceChoice device = DeviceChoice::kAuto;
  Precision precision = Precision::kFp32;
};
const OptionTable<DeviceOptions>& device_option_table();

// Resolves kAuto for a graph with this many links. Throws Error if there is no such device, or if
// it does not support the precision.
at::Device choose_device(const DeviceOptions& options, int64_t links);

namespace ops {

// x on a device: itself if it is undefined or already there. A copy from the CPU to a GPU goes
// through pinned memory and does not wait for the GPU.
at::Tensor move(const at::Tensor& x, const at::Device& device);

}  // namespace ops

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<DeviceChoice> = {"auto", "cpu", "cuda"};

}  // namespace lase
