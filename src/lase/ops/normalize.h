#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// y_i = x_i / ‖x_i‖ for the rows of x [n, d]; ‖x_i‖ counts as kSmallestNorm if it is smaller.
inline constexpr double kSmallestNorm = 1e-12;
at::Tensor normalize_rows(const at::Tensor& x);

}  // namespace lase::ops
