#pragma once

#include <ATen/core/Tensor.h>

#include "lase/ops/rows.h"

namespace lase::ops {

// ⟨x_i, v⟩ for every row: [n], for v [d]. Does not copy the rows.
at::Tensor row_dot(const Rows& x, const at::Tensor& v);

}  // namespace lase::ops
