#pragma once

#include <cstdint>

#include "lase/kernels/kernels.h"

namespace lase::kernels::cuda {

// Whether all rows of a matrix can be read as vectors of four floats.
__host__ __device__ inline bool is_aligned(const float* matrix, int64_t stride) {
  return reinterpret_cast<uintptr_t>(matrix) % 16 == 0 && stride % 4 == 0;
}

// This lane's part of ⟨v, f⟩ for a row of f(e): elements lane, lane + lanes, … of the row, or of
// its stored values. `row` is that of the values; of sparse attributes, that of row_ptr.
__device__ __forceinline__ float attribute_dot(const AttributeView& f, int64_t row, const float* v,
                                               int lane, int lanes) {
  float sum = 0;
  if (f.layout == Layout::kSparse) {
    const int64_t end = f.row_ptr[row + 1];
    for (int64_t i = f.row_ptr[row] + lane; i < end; i += lanes)
      sum += f.values[i] * v[f.column[i]];
    return sum;
  }
  const float* values = f.values + row * f.columns;
  if (is_aligned(f.values, f.columns) && is_aligned(v, 0)) {
#pragma unroll 4
    for (int64_t j = 4 * lane; j < f.columns; j += 4 * lanes) {
      const auto x = *reinterpret_cast<const float4*>(values + j);
      const auto y = *reinterpret_cast<const float4*>(v + j);
      sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
    }
    return sum;
  }
  for (int64_t j = lane; j < f.columns; j += lanes) sum += values[j] * v[j];
  return sum;
}

}  // namespace lase::kernels::cuda
