#pragma once

#include <ATen/core/Tensor.h>
#include <c10/util/Exception.h>
#include <cstdint>
#include <utility>

#include "lase/kernels/precision.h"
#include "lase/ops/device_options.h"

namespace lase {

// Resolves kAuto for a graph with this many links. Throws Error if there is no such device, or if
// it does not support the precision.
at::Device choose_device(const DeviceOptions& options, int64_t links);
// In place of kAuto: `automatic` on a GPU, kFp32 on the CPU.
Precision choose_precision(const DeviceOptions& options, const at::Device& device,
                           Precision automatic);
// With these, scores cannot be told from those of kFp32. Predictions are made once, and what
// kBf16 saves is small there.
inline constexpr Precision kTrainingPrecision = Precision::kBf16;
inline constexpr Precision kInferencePrecision = Precision::kTf32;
// Bytes of the device for the graph.
int64_t choose_memory(const DeviceOptions& options, const at::Device& device);

namespace ops {

[[noreturn]] void fail_without_memory();
// Calls work(), and throws Error if the memory of a GPU does not suffice.
template <class Work>
auto with_device_memory(const Work& work) {
  try {
    return work();
  } catch (const c10::OutOfMemoryError&) {
    fail_without_memory();
  }
}

// x on a device: itself if it is undefined or already there. A copy from the CPU to a GPU goes
// through pinned memory and does not wait for the GPU.
at::Tensor move(const at::Tensor& x, const at::Device& device);

// A tensor on the CPU, and its copies on other devices, which are made on first use. Not for
// concurrent use.
class Replicated {
 public:
  explicit Replicated(at::Tensor value) : value_(std::move(value)) {}
  const at::Tensor& on(const at::Device& device) const;

 private:
  at::Tensor value_;
  mutable at::Tensor copy_;
};

}  // namespace ops

}  // namespace lase
