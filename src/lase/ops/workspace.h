#pragma once

#include <ATen/core/Tensor.h>

#include "lase/base/workspace.h"

namespace lase::ops {

// An uninitialized CPU tensor; if large, from this thread's workspace, if any.
at::Tensor empty(at::IntArrayRef shape, at::ScalarType type = at::kFloat);
// The same, with the shape, type and device of another tensor.
at::Tensor empty_like(const at::Tensor& tensor);

// matrix[index], without autograd history.
at::Tensor gather(const at::Tensor& matrix, const at::Tensor& index);

}  // namespace lase::ops
