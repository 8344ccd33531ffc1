#pragma once

#include "lase/kernels/cuda/groups.h"

namespace lase::kernels::cuda {

// Fills the slots of a schedule by target: the gates λ, which are stored in `gate` if it is not
// null, and the coefficients sign · w · scale · λ.
void make_slots(const DeviceSum& in, const Groups& groups, float sign, float* gate,
                const Launch& launch);

// The same in the backward pass, from the gates of the forward pass (null: 1). With `order`, rows
// are sources, and the gathered rows those of the targets.
void make_slots(const DeviceSum& in, const Groups& groups, const float* gate,
                const BySource* order, const Launch& launch);

}  // namespace lase::kernels::cuda
