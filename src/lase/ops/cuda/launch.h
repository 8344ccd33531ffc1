#pragma once

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <utility>
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
  // From chunks, which are fewer than the arrays of a kernel.
  void* allocate(int64_t bytes) override {
    constexpr int64_t kChunk = int64_t{4} << 20;
    constexpr int64_t kAlignment = 256;
    bytes = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > left_) {
      left_ = std::max(bytes, kChunk);
      next_ = static_cast<char*>(memory_.emplace_back(at::empty({left_}, bytes_)).data_ptr());
    }
    left_ -= bytes;
    return std::exchange(next_, next_ + bytes);
  }

  c10::DeviceGuard guard_;
  at::TensorOptions bytes_;
  std::vector<at::Tensor> memory_;
  char* next_ = nullptr;  // in the last chunk
  int64_t left_ = 0;
};

}  // namespace lase::ops::cuda
