#pragma once

#include "lase/kernels/cuda/groups.h"

namespace lase::kernels::cuda {

// Fills the slots of a schedule by target: the gates λ, which are stored in `gate` if it is not
// null, and the coefficients sign · w · scale · λ.
void make_slots(const DeviceSum& in, const Groups& groups, float sign, float* gate,
                const Launch& launch);

// The same in the backward pass, from the gates of the forward pass (null: 1). With `order`, rows
// are sources, and the gathered rows those of the targets.
void make_slots(const DeviceSum& in, const Groups& groups, const float* gate, const BySource* order,
                const Launch& launch);

// A matrix whose rows can be read as vectors of four floats.
struct AlignedRows {
  const float* data = nullptr;
  int64_t stride = 0;
};
// The matrix itself, or a copy if its rows are not aligned.
AlignedRows aligned_rows(const float* matrix, int64_t rows, int64_t columns, int64_t stride,
                         const Launch& launch);
// The sum with aligned rows of h: its own, or copies of those that the block has.
DeviceSum with_aligned_rows(DeviceSum in, const Launch& launch);

}  // namespace lase::kernels::cuda
