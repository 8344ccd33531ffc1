#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// σ(x), where the bits of an entry do not depend on its position: torch computes the last entries
// of a tensor, which do not fill a vector register, with other instructions.
at::Tensor sigmoid(const at::Tensor& x);

}  // namespace lase::ops
