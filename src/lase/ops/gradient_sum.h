#pragma once

#include <ATen/core/Tensor.h>
#include <memory>

#include "lase/ops/rows.h"

namespace lase::ops {

// Collects the gradient of a matrix [n, d] that several operators read.
//
// The autograd engine adds the gradients of all readers out of place, and a reader of some rows
// first has to spread its gradient over all n. Operators of this library instead add theirs in
// place, to one buffer; the engine still adds those of other operators.
//
//   h = sum_gradients(h);    // the same values; the readers follow
at::Tensor sum_gradients(const at::Tensor& x);

// The gradient that an operator passes on to the matrix of `x`. Made in the forward pass.
class RowsGradient {
 public:
  RowsGradient() = default;
  explicit RowsGradient(const Rows& x);

  // From the gradient of the rows, dx [x.size(), d]. The result is for the autograd engine:
  // undefined if sum_gradients() has taken it. May change dx.
  at::Tensor pass(const at::Tensor& dx) const;
  // From dx = g vᵀ, with g [x.size()] and v [d].
  at::Tensor pass_outer(const at::Tensor& g, const at::Tensor& v) const;

 private:
  class Sum;
  friend at::Tensor sum_gradients(const at::Tensor& x);

  std::shared_ptr<Sum> sum_;  // null: the matrix does not come from sum_gradients()
  at::Tensor index_;
  int64_t rows_ = 0;  // of the matrix
};

}  // namespace lase::ops
