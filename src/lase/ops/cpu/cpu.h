#pragma once

#include "lase/ops/library.h"

// The operators on the CPU. Tensors are contiguous and without a history.
namespace lase::ops::cpu {

// s [targets, d] and the gates λ [arcs], undefined without a gate.
TwoTensors gated_sum(const TensorList& block, int64_t layout, int64_t columns,
                     const TensorList& attributes, int64_t amplifier, const TensorList& terms);
// The same with the terms of `before` subtracted.
TwoTensors gated_change(const TensorList& block, int64_t layout, int64_t columns,
                        const TensorList& attributes, int64_t amplifier, const TensorList& terms,
                        const TensorList& before);
// s, and a score for each arc: its gate, or the norm of its term times factor(u).
TwoTensors gated_sum_scores(const TensorList& block, int64_t layout, int64_t columns,
                            const TensorList& attributes, int64_t amplifier,
                            const TensorList& terms, bool norms, const MaybeTensor& factor);
// The gradients of h (where needed), u, u_shift, p, q and v; undefined where the term is.
SixTensors gated_sum_backward(const TensorList& block, int64_t layout, int64_t columns,
                              const TensorList& attributes, int64_t amplifier,
                              const TensorList& terms, const MaybeTensor& gate,
                              const at::Tensor& ds, bool needs_h);
// int64 [targets, d]: the arc of the largest value of x [arcs, d] in each row; [arcs] where a row
// has none.
at::Tensor largest_arcs(const at::Tensor& x, const at::Tensor& row_ptr);

at::Tensor linear(const at::Tensor& x, const MaybeTensor& index, const at::Tensor& w, double rate,
                  int64_t key);
// dx (of the rows read, or of x itself without an index) and dW, where needed.
TwoTensors linear_backward(const at::Tensor& dy, const at::Tensor& x, const MaybeTensor& index,
                           const at::Tensor& w, double rate, int64_t key, bool needs_x,
                           bool needs_w);

at::Tensor row_dot(const at::Tensor& x, const MaybeTensor& index, const at::Tensor& v);
// dv
at::Tensor row_dot_backward(const at::Tensor& g, const at::Tensor& x, const MaybeTensor& index);

// The stored values of the chosen sparse rows, end to end: offset int64 [n+1], column int64, value.
ThreeTensors sparse_rows(const at::Tensor& values, const at::Tensor& row_ptr,
                         const at::Tensor& column, const at::Tensor& rows);

}  // namespace lase::ops::cpu
