#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// y = ReLU([a, b]) [n, p + q] for a [n, p] and b [n, q], without an intermediate array.
at::Tensor concat_relu(const at::Tensor& a, const at::Tensor& b);

}  // namespace lase::ops
