#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// Rows of a matrix: those that `index` names, or all of them in order. The first layer reads the
// features of the graph's nodes through it, and nothing is copied.
struct Rows {
  at::Tensor matrix;  // [·, d]
  at::Tensor index;   // int64 [n]; undefined: every row

  bool defined() const { return matrix.defined(); }
  int64_t size() const { return index.defined() ? index.size(0) : matrix.size(0); }
  int64_t width() const { return matrix.size(1); }
  // The same on another device; itself where it is there already.
  Rows to(const at::Device& device) const {
    return {matrix.defined() ? matrix.to(device) : matrix,
            index.defined() ? index.to(device) : index};
  }
  at::Tensor dense() const { return index.defined() ? matrix.index_select(0, index) : matrix; }
  // The rows at these positions, int64.
  Rows at(const at::Tensor& positions) const {
    return {matrix, index.defined() ? index.index_select(0, positions) : positions};
  }
};

}  // namespace lase::ops
