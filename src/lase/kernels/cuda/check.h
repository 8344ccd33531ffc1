#pragma once

#include <cuda_runtime_api.h>

#include "lase/base/error.h"

namespace lase::kernels::cuda {

// Throws Error if a CUDA call or the last launch failed.
inline void check(cudaError_t status, const char* what) {
  require(status == cudaSuccess, "CUDA: ", what, ": ", cudaGetErrorString(status));
}
inline void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace lase::kernels::cuda
