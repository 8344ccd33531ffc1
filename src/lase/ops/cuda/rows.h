#pragma once

#include "lase/kernels/cuda/rows.h"
#include "lase/ops/rows.h"

namespace lase::ops::cuda {

// For the kernels that read rows of a matrix, whose rows may be padded.
template <class T>
kernels::cuda::RowsOf<T> rows_of(const Rows& rows) {
  return {.h = rows.matrix.data_ptr<T>(),
          .stride = rows.matrix.stride(0),
          .row = rows.index.defined() ? rows.index.data_ptr<int64_t>() : nullptr,
          .n = rows.size(),
          .d = rows.width()};
}

}  // namespace lase::ops::cuda
