#pragma once

#include <cstdint>

#include "lase/kernels/cuda/kernels.h"

namespace lase::kernels::cuda {

// out[i] = Σ_p parts[p, i] for `count` parts of n elements, in an order that depends only on these
// numbers.
void add_parts(const float* parts, int64_t count, int64_t n, float* out, const Launch& launch);

}  // namespace lase::kernels::cuda
