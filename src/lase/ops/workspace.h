#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/TensorOptions.h>

#include "lase/base/workspace.h"

namespace lase::ops {

// An uninitialized tensor. On the CPU, a large one is from this thread's workspace, if any; the
// allocators of other devices keep memory themselves.
at::Tensor empty(at::IntArrayRef shape, const at::TensorOptions& options = at::kFloat);
// The same, with the shape, type and device of another tensor.
at::Tensor empty_like(const at::Tensor& tensor);

// matrix[index], without autograd history.
at::Tensor gather(const at::Tensor& matrix, const at::Tensor& index);

}  // namespace lase::ops
