#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// The number of floats in a row of a matrix on a GPU whose rows are padded to 32 bytes, the unit of
// its memory.
inline int64_t padded_width(int64_t columns) {
  constexpr int64_t kFloats = 8;
  return (columns + kFloats - 1) / kFloats * kFloats;
}

// x with contiguous rows, without its autograd history. On a GPU, rows may have padding between
// them.
inline at::Tensor plain_rows(const at::Tensor& x) {
  const bool is_padded = !x.is_cpu() && x.dim() == 2 && x.stride(1) == 1 && x.stride(0) > x.size(1);
  return is_padded ? x.detach() : x.detach().contiguous();
}

// Rows of a matrix: matrix[index], or all rows. The first layer reads node features through it
// without copying them.
struct Rows {
  at::Tensor matrix;  // [·, d]
  at::Tensor index;   // int64 [n]; undefined: every row

  bool defined() const { return matrix.defined(); }
  int64_t size() const { return index.defined() ? index.size(0) : matrix.size(0); }
  int64_t width() const { return matrix.size(1); }
  // Moves to a device; does not copy tensors that are already there.
  Rows to(const at::Device& device) const {
    return {matrix.defined() ? matrix.to(device) : matrix,
            index.defined() ? index.to(device) : index};
  }
  at::Tensor dense() const { return index.defined() ? matrix.index_select(0, index) : matrix; }
  // The rows at `positions`, int64.
  Rows at(const at::Tensor& positions) const {
    return {matrix, index.defined() ? index.index_select(0, positions) : positions};
  }
};

}  // namespace lase::ops
