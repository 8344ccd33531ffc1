#pragma once

#include <ATen/core/Tensor.h>

#include "lase/base/attributes.h"
#include "lase/ops/dropout.h"

namespace lase::ops {

// An attribute matrix F as tensors that share its arrays and keep them alive.
struct AttributeTensors {
  Layout layout = Layout::kDense;
  int64_t rows = 0;
  int64_t columns = 0;
  at::Tensor values;   // dense [rows, columns], sparse [stored], dictionary [codes, columns]
  at::Tensor row_ptr;  // sparse, int64 [rows+1]
  at::Tensor column;   // sparse, int32 [stored]
  at::Tensor code;     // dictionary, int32 [rows]

  AttributeTensors() = default;
  explicit AttributeTensors(const Attributes& matrix);

  // Moves to a device; does not copy tensors that are already there.
  AttributeTensors to(const at::Device& device) const;
  // In pinned memory of the CPU, for a GPU to read.
  AttributeTensors pinned(const at::Device& device) const;
  int64_t bytes() const;
};

// dropout(F[rows]) Uᵀ: [n, d] for U [d, columns] and rows int32 or int64 [n]. Differentiable in U.
// The cost is proportional to the stored values of sparse rows, or to the number of distinct
// dictionary-encoded rows.
at::Tensor attribute_product(const AttributeTensors& f, const at::Tensor& rows, const at::Tensor& u,
                             const Dropout& dropout = {});

// F[rows] as a dense matrix [n, columns].
at::Tensor attribute_rows(const AttributeTensors& f, const at::Tensor& rows);

}  // namespace lase::ops
