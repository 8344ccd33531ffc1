#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

#include "lase/kernels/cuda/check.h"

namespace lase::kernels::cuda {

// Uninitialized memory that grows, for reuse. Its contents are lost when it grows.
template <class T, cudaError_t (*kAllocate)(void**, size_t), cudaError_t (*kFree)(void*)>
class Reusable {
 public:
  Reusable() = default;
  Reusable(const Reusable&) = delete;
  Reusable& operator=(const Reusable&) = delete;
  ~Reusable() { kFree(data_); }

  // Makes room for n elements, and a quarter more when it grows again, because the sizes of batches
  // vary. Returns whether it grew.
  bool reserve(int64_t n) {
    if (n <= size_) return false;
    const int64_t size = size_ == 0 ? n : std::max(n, size_ + size_ / 4);
    if (data_ != nullptr) check(kFree(data_), "GPU memory cannot be freed");  // waits for its use
    data_ = nullptr;
    size_ = 0;
    void* data = nullptr;
    check(kAllocate(&data, static_cast<size_t>(size) * sizeof(T)),
          "GPU memory for sampling cannot be allocated");
    data_ = static_cast<T*>(data);
    size_ = size;
    return true;
  }
  T* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  int64_t size_ = 0;
};

inline cudaError_t allocate_device(void** data, size_t bytes) { return cudaMalloc(data, bytes); }
inline cudaError_t free_device(void* data) { return cudaFree(data); }
// Kernels read and write it directly.
inline cudaError_t allocate_pinned(void** data, size_t bytes) {
  return cudaHostAlloc(data, bytes, cudaHostAllocMapped | cudaHostAllocPortable);
}
inline cudaError_t free_pinned(void* data) { return cudaFreeHost(data); }

template <class T>
using DeviceArray = Reusable<T, allocate_device, free_device>;
template <class T>
using PinnedArray = Reusable<T, allocate_pinned, free_pinned>;

}  // namespace lase::kernels::cuda
