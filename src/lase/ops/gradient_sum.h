#pragma once

#include <ATen/core/Tensor.h>
#include <memory>

#include "lase/ops/rows.h"

namespace lase::ops {

// Collects the gradient of a matrix [n, d] that several operators read.
//
// The autograd engine adds the gradients of all readers out of place, and a reader of some rows
// must first scatter its gradient to all n rows. Operators of this library instead accumulate in
// place, into one buffer; the engine still adds the gradients of other operators.
//
//   h = sum_gradients(h);    // the same values; call before the operators that read h
at::Tensor sum_gradients(const at::Tensor& x);

// Passes the gradient of an operator on to the matrix of `x`. Created in the forward pass.
class RowsGradient {
 public:
  RowsGradient() = default;
  explicit RowsGradient(const Rows& x);

  // From the gradient of the rows, dx [x.size(), d]. Returns the gradient for the autograd engine,
  // undefined if it was accumulated by sum_gradients(). May modify dx.
  at::Tensor pass(const at::Tensor& dx) const;
  // From dx = g vᵀ, with g [x.size()] and v [d].
  at::Tensor pass_outer(const at::Tensor& g, const at::Tensor& v) const;

 private:
  class Sum;
  friend at::Tensor sum_gradients(const at::Tensor& x);

  std::shared_ptr<Sum> sum_;  // null: the matrix does not come from sum_gradients()
  at::Tensor index_;
  int64_t rows_ = 0;  // rows of the matrix
};

}  // namespace lase::ops
