#pragma once

#include "lase/ops/library.h"

// The operators on the CPU. Tensors are contiguous and detached from autograd.
namespace lase::ops::cpu {

// s [targets, d], or [targets, d + 1 + k] with links, and the gates λ [arcs], which are undefined
// without a gate.
TwoTensors gated_sum(const TensorList& block, int64_t layout, int64_t columns,
                     const TensorList& attributes, int64_t amplifier, bool links,
                     const TensorList& terms);
// The same, with the terms of `baseline` subtracted.
TwoTensors gated_change(const TensorList& block, int64_t layout, int64_t columns,
                        const TensorList& attributes, int64_t amplifier, bool links,
                        const TensorList& terms, const TensorList& baseline);
// s, and a score for each arc: its gate, or the norm of its term times factor(u).
TwoTensors gated_sum_scores(const TensorList& block, int64_t layout, int64_t columns,
                            const TensorList& attributes, int64_t amplifier, bool links,
                            const TensorList& terms, bool norms, const MaybeTensor& factor);
// The gradients of h (if needed), u, u_shift, p, q, v and v_h; undefined if the input is.
SevenTensors gated_sum_backward(const TensorList& block, int64_t layout, int64_t columns,
                                const TensorList& attributes, int64_t amplifier, bool links,
                                const TensorList& terms, const MaybeTensor& gate,
                                const at::Tensor& ds, bool needs_h);
// Whether the device has a kernel for this sum.
bool gated_sum_fits(const TensorList& block, int64_t layout, int64_t columns,
                    const TensorList& attributes, int64_t amplifier, bool links,
                    const TensorList& terms);
// int64 [targets, d]: the argmax over the arcs of each row of x [arcs, d]; the value `arcs` for a
// row without arcs.
at::Tensor largest_arcs(const at::Tensor& x, const at::Tensor& row_ptr);
// Groups arcs by target: row_ptr int64 [targets+1], and for each arc in this order the source
// (int32) and the position among the given arcs (int64). `source` and `target` are int64 [arcs].
ThreeTensors arcs_by_target(const at::Tensor& source, const at::Tensor& target, int64_t sources,
                            int64_t targets);

// `rate`, `key` and `base` are those of Dropout.
at::Tensor linear(const at::Tensor& x, const MaybeTensor& index, const at::Tensor& w, double rate,
                  int64_t key, const MaybeTensor& base);
// dx (of the selected rows, or of x itself without an index) and dW, if needed.
TwoTensors linear_backward(const at::Tensor& dy, const at::Tensor& x, const MaybeTensor& index,
                           const at::Tensor& w, double rate, int64_t key, const MaybeTensor& base,
                           bool needs_x, bool needs_w);

// x [rows, d] *= mask, in place.
void drop(const at::Tensor& x, double rate, int64_t key, const MaybeTensor& base);

// In place; see ops/optimizer.h.
void adam_step(at::TensorList w, at::TensorList g, at::TensorList m, at::TensorList v,
               const at::Tensor& factors, double weight_decay, double clip);
void average_step(at::TensorList average, at::TensorList w, const at::Tensor& decay);
void set_numbers(const at::Tensor& numbers, at::IntArrayRef values);

// See ops/scale_weights.h.
TwoTensors scale_weights(const at::Tensor& w, const at::Tensor& mean, const at::Tensor& scale);
at::Tensor scale_weights_backward(const MaybeTensor& dscaled, const MaybeTensor& dshift,
                                  const at::Tensor& mean, const at::Tensor& scale);

// See ops/cached_rows.h: matrix[index].
at::Tensor cached_rows(const at::Tensor& matrix, const MaybeTensor& cache, const MaybeTensor& slot,
                       const at::Tensor& index);

// See ops/concat_relu.h: y, and the gradients of a, which has p columns, and of b.
at::Tensor concat_relu(const at::Tensor& a, const at::Tensor& b);
TwoTensors concat_relu_backward(const at::Tensor& dy, const at::Tensor& y, int64_t p, bool needs_a,
                                bool needs_b);

// See ops/normalize.h: y and ‖x_i‖ [n, 1], and dx.
TwoTensors normalize_rows(const at::Tensor& x);
at::Tensor normalize_rows_backward(const at::Tensor& dy, const at::Tensor& y,
                                   const at::Tensor& norm);

at::Tensor row_dot(const at::Tensor& x, const MaybeTensor& index, const at::Tensor& v);
// dv
at::Tensor row_dot_backward(const at::Tensor& g, const at::Tensor& x, const MaybeTensor& index);

// The stored values of the selected sparse rows: offset int64 [n+1], column int64, value.
ThreeTensors sparse_rows(const at::Tensor& values, const at::Tensor& row_ptr,
                         const at::Tensor& column, const at::Tensor& rows);

}  // namespace lase::ops::cpu
