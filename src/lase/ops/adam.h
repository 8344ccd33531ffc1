#pragma once

#include <ATen/core/Tensor.h>

#include "lase/kernels/kernels.h"

namespace lase::ops {

// One step of Adam on the weights w with gradient g and moments m and v, in place; the equations
// are in kernels.h.
void adam_step(at::Tensor& w, const at::Tensor& g, at::Tensor& m, at::Tensor& v,
               const kernels::AdamStep& step);

}  // namespace lase::ops
