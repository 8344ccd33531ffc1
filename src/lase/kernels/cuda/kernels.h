#pragma once

#include <cstdint>

#include "lase/kernels/kernels.h"
#include "lase/kernels/precision.h"

struct CUstream_st;

// The kernels of kernels.h for NVIDIA GPUs. All pointers are to device memory unless stated
// otherwise, and all work is enqueued on a stream: nothing waits for the device.
//
// No kernel allocates an array of size arcs × d or arcs × k, and none adds floating-point numbers
// atomically: the same input gives the same bits.
namespace lase::kernels::cuda {

using Stream = CUstream_st*;

// Temporary device memory. It belongs to the caller of a kernel, which may reuse it for later work
// on the same stream.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  virtual ~Scratch() = default;
  // Uninitialized, aligned to 256 bytes.
  virtual void* allocate(int64_t bytes) = 0;

  template <class T>
  T* array(int64_t n) {
    return static_cast<T*>(allocate(n * static_cast<int64_t>(sizeof(T))));
  }
};

// Where a kernel runs.
struct Launch {
  Stream stream = nullptr;
  Scratch* scratch = nullptr;
};

// A gated sum on the device. The number of arcs cannot be read from row_ptr, which is there.
struct DeviceSum {
  GatedSum sum;
  int64_t arcs = 0;
  // Row stride of h, and of h of the baseline; 0: d. Rows are read fastest if it is a multiple
  // of 8.
  int64_t h_stride = 0;
  int64_t baseline_stride = 0;
  Precision precision = Precision::kFp32;
};

// Whether the kernels were compiled for the compute capability of the current device.
bool supports_current_device();

// Attributes of a link, as many as fit into shared memory with U.
inline constexpr int kMostAttributes = 224;
// Whether the link attributes are narrow enough for the kernels below, the gate has q, and there
// are sources, targets and columns.
bool fits(const GatedSum& in);

// See kernels::gated_sum and kernels::gated_sum_backward.
void gated_sum(const DeviceSum& in, const GatedSumOutput& out, const Launch& launch);
void gated_sum_backward(const DeviceSum& in, const float* gate, const float* ds,
                        const GatedSumGradients& out, const Launch& launch);

}  // namespace lase::kernels::cuda
