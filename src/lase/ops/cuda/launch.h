#pragma once

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <vector>

#include "lase/kernels/cuda/kernels.h"

namespace lase::ops::cuda {

// Where the kernels of an operator run: on the device of its tensors and torch's current stream,
// with scratch memory from torch's allocator, which reuses freed memory for later work on the same
// stream.
class LaunchScope : private kernels::cuda::Scratch {
 public:
  explicit LaunchScope(const at::Tensor& tensor)
      : guard_(tensor.device()), bytes_(tensor.options().dtype(at::kByte)) {}

  kernels::cuda::Launch launch() {
    return {.stream = c10::cuda::getCurrentCUDAStream().stream(), .scratch = this};
  }

 private:
  void* allocate(int64_t bytes) override {
    return memory_.emplace_back(at::empty({bytes}, bytes_)).data_ptr();
  }

  c10::DeviceGuard guard_;
  at::TensorOptions bytes_;
  std::vector<at::Tensor> memory_;
};

}  // namespace lase::ops::cuda
