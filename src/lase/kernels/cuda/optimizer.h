#pragma once

#include <cstdint>

#include "lase/kernels/cuda/kernels.h"

namespace lase::kernels::cuda {

// See kernels::adam_step; T is float or double.
template <class T>
void adam_step(const AdamStep& step, const T* g, int64_t n, T* w, T* m, T* v, const Launch& launch);

}  // namespace lase::kernels::cuda
