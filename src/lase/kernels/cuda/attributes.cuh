#pragma once

#include "lase/kernels/kernels.h"

namespace lase::kernels::cuda {

// This lane's part of ⟨v, f⟩ for a row of f(e): elements lane, lane + lanes, … of the row, or of its
// stored values. `row` is that of the values; of sparse attributes, that of row_ptr.
__device__ __forceinline__ float attribute_dot(const AttributeView& f, int64_t row, const float* v,
                                               int lane, int lanes) {
  float sum = 0;
  if (f.layout == Layout::kSparse) {
    const int64_t end = f.row_ptr[row + 1];
    for (int64_t i = f.row_ptr[row] + lane; i < end; i += lanes) sum += f.values[i] * v[f.column[i]];
    return sum;
  }
  const float* values = f.values + row * f.columns;
  for (int64_t j = lane; j < f.columns; j += lanes) sum += values[j] * v[j];
  return sum;
}

}  // namespace lase::kernels::cuda
