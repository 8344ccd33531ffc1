#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// y = ReLU([a, b]): [n, p] and [n, q] give [n, p + q], without an array in between.
at::Tensor concat_relu(const at::Tensor& a, const at::Tensor& b);

}  // namespace lase::ops
