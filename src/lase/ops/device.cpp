#include "lase/ops/device.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <limits>

#include "lase/base/error.h"
#include "lase/ops/cuda/cuda.h"

namespace lase {
namespace {

// With fewer links, launching the kernels of a step takes as long as the step on a CPU.
constexpr int64_t kManyLinks = 100'000;

at::Device resolve(DeviceChoice wanted, int64_t links) {
  const at::Device gpu(at::kCUDA, 0);
  const bool found = at::hasCUDA();
  if (wanted == DeviceChoice::kCuda) {
    require(ops::cuda::is_built(), OptionName{"device"},
            " cuda: this build of lase has no GPU support; use cpu, or build lase with nvcc "
            "and a torch that has CUDA");
    require(found, OptionName{"device"}, " cuda: no NVIDIA GPU was found; use cpu");
    require(ops::cuda::supports(gpu), OptionName{"device"},
            " cuda: this build of lase does not support this type of GPU; use cpu, or build lase "
            "with its compute capability in CMAKE_CUDA_ARCHITECTURES");
    return gpu;
  }
  const bool gains = wanted == DeviceChoice::kAuto && links >= kManyLinks &&
                     ops::cuda::is_built() && found && ops::cuda::supports(gpu);
  return gains ? gpu : at::Device(at::kCPU);
}

// Whether the precision needs tensor cores.
bool rounds(PrecisionChoice precision) {
  return precision == PrecisionChoice::kTf32 || precision == PrecisionChoice::kBf16;
}

}  // namespace

at::Device choose_device(const DeviceOptions& options, int64_t links) {
  device_option_table().check(options);
  const at::Device device = resolve(options.device, links);
  require(!device.is_cpu() || !rounds(options.precision), OptionName{"precision"}, " ",
          name_of(options.precision), ": requires a GPU, but ", OptionName{"device"}, " is ",
          options.device == DeviceChoice::kAuto ? "chosen as " : "", "cpu");
  return device;
}

Precision choose_precision(const DeviceOptions& options, const at::Device& device,
                           Precision automatic) {
  switch (options.precision) {
    case PrecisionChoice::kFp32:
      return Precision::kFp32;
    case PrecisionChoice::kTf32:
      return Precision::kTf32;
    case PrecisionChoice::kBf16:
      return Precision::kBf16;
    case PrecisionChoice::kAuto:
      break;
  }
  return device.is_cpu() ? Precision::kFp32 : automatic;
}

int64_t choose_memory(const DeviceOptions& options, const at::Device& device) {
  if (device.is_cpu()) return std::numeric_limits<int64_t>::max();
  constexpr double kGiB = 1 << 30;
  if (options.memory > 0) return static_cast<int64_t>(options.memory * kGiB);
  return ops::cuda::free_memory(device) / 2;
}

namespace ops {

void fail_without_memory() {
  fail(OptionName{"device"},
       " cuda: the GPU has too little free memory; use cpu, smaller batches or fewer sampled "
       "neighbors");
}

at::Tensor move(const at::Tensor& x, const at::Device& device) {
  if (!x.defined() || x.device() == device) return x;
  if (!x.is_cpu()) return x.to(device);
  return x.pin_memory().to(device, x.scalar_type(), /*non_blocking=*/true);
}

const at::Tensor& Replicated::on(const at::Device& device) const {
  if (value_.device() == device) return value_;
  if (!copy_.defined() || copy_.device() != device) copy_ = move(value_, device);
  return copy_;
}

}  // namespace ops

}  // namespace lase
