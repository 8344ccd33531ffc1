#include "lase/ops/pinned.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <cuda_runtime_api.h>
#include <memory>

#include "lase/base/error.h"
#include "lase/base/memory.h"
#include "lase/base/names.h"

namespace lase::ops {

using at::Tensor;

namespace {

std::shared_ptr<void> allocate(size_t bytes) {
  require_memory(static_cast<double>(bytes), "the part of the graph that stays on the CPU", "set ",
                 OptionName{"device"}, " cpu");
  void* memory = nullptr;
  const auto status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
  require(status == cudaSuccess,
          "pinned memory for the graph cannot be allocated: ", cudaGetErrorString(status), "; set ",
          OptionName{"device"}, " cpu");
  return {memory, [](void* allocated) { cudaFreeHost(allocated); }};
}

}  // namespace

Tensor pinned(const Tensor& x, const at::Device& device) {
  if (x.numel() == 0) return x.to(device);
  const c10::DeviceGuard guard(device);
  const auto memory = allocate(x.nbytes());
  at::from_blob(memory.get(), x.sizes(), x.scalar_type()).copy_(x);
  // With unified addressing, both devices have the same pointer.
  return at::for_blob(memory.get(), x.sizes())
      .deleter([memory](void*) {})
      .options(at::TensorOptions(device).dtype(x.scalar_type()))
      .target_device(device)
      .make_tensor();
}

Tensor pinned(const Tensor& x, const at::Device& device, int64_t stride) {
  if (stride == x.size(1)) return pinned(x, device);
  return pinned(at::constant_pad_nd(x, {0, stride - x.size(1)}), device).narrow(1, 0, x.size(1));
}

}  // namespace lase::ops
