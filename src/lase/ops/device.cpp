#include "lase/ops/device.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

#include "lase/base/error.h"
#include "lase/ops/cuda/cuda.h"

namespace lase {
namespace {

// With fewer links, launching the kernels of a step takes as long as the step on a CPU.
constexpr int64_t kManyLinks = 100'000;

at::Device resolve(DeviceChoice wanted, int64_t links) {
  const bool found = at::hasCUDA();
  if (wanted == DeviceChoice::kCuda) {
    require(ops::cuda::is_built(), OptionName{"device"},
            " cuda: this build of lase has no GPU support; use cpu, or build lase with nvcc "
            "and a torch that has CUDA");
    require(found, OptionName{"device"}, " cuda: no NVIDIA GPU was found; use cpu");
    return at::kCUDA;
  }
  const bool gains = ops::cuda::is_built() && found && links >= kManyLinks;
  return wanted == DeviceChoice::kAuto && gains ? at::kCUDA : at::kCPU;
}

}  // namespace

at::Device choose_device(const DeviceOptions& options, int64_t links) {
  device_option_table().check(options);
  const at::Device device = resolve(options.device, links);
  require(!device.is_cpu() || options.precision == Precision::kFp32, OptionName{"precision"}, " ",
          name_of(options.precision), ": requires a GPU, but ", OptionName{"device"}, " is ",
          options.device == DeviceChoice::kAuto ? "chosen as " : "", "cpu");
  if (device.is_cpu()) return device;
  return {at::kCUDA, 0};
}

namespace ops {

at::Tensor move(const at::Tensor& x, const at::Device& device) {
  if (!x.defined() || x.device() == device) return x;
  if (!x.is_cpu()) return x.to(device);
  return x.pin_memory().to(device, x.scalar_type(), /*non_blocking=*/true);
}

}  // namespace ops

}  // namespace lase
