#pragma once

#include <ATen/core/Tensor.h>

#include "lase/ops/rows.h"

namespace lase::ops {

// ⟨x_i, v⟩ of every row, [n], for v [d]. Nothing is copied.
at::Tensor row_dot(const Rows& x, const at::Tensor& v);

}  // namespace lase::ops
