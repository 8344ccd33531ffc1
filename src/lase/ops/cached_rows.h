#pragma once

#include <ATen/core/Tensor.h>

namespace lase::ops {

// A matrix [rows, d] that is slow to read, such as one in pinned memory, with copies of some of its
// rows.
struct CachedRows {
  at::Tensor matrix;
  at::Tensor cache;  // [cached rows, d]; undefined: none
  at::Tensor slot;   // int32 [rows]: the row in the cache, or −1

  // Caches the rows at `rows`, int64, on the device of the matrix.
  static CachedRows of(const at::Tensor& matrix, const at::Tensor& rows);

  // matrix[index], without autograd history; index is int32 or int64.
  at::Tensor at(const at::Tensor& index) const;
};

}  // namespace lase::ops
