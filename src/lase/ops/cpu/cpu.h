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
// The gradients of h (if needed), u, u_shift, p, q and v; undefined if the input is.
SixTensors gated_sum_backward(const TensorList& block, int64_t layout, int64_t columns,
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

at::Tensor linear(const at::Tensor& x, const MaybeTensor& index, const at::Tensor& w, double rate,
                  int64_t key);
// dx (of the selected rows, or of x itself without an index) and dW, if needed.
TwoTensors linear_backward(const at::Tensor& dy, const at::Tensor& x, const MaybeTensor& index,
                           const at::Tensor& w, double rate, int64_t key, bool needs_x,
                           bool needs_w);

// x [rows, d] *= mask, in place.
void drop(const at::Tensor& x, double rate, int64_t key);

// One step in place; see ops/adam.h.
void adam_step(const at::Tensor& w, const at::Tensor& g, const at::Tensor& m, const at::Tensor& v,
               double learning_rate, double weight_decay, double clip, int64_t steps);

at::Tensor row_dot(const at::Tensor& x, const MaybeTensor& index, const at::Tensor& v);
// dv
at::Tensor row_dot_backward(const at::Tensor& g, const at::Tensor& x, const MaybeTensor& index);

// The stored values of the selected sparse rows: offset int64 [n+1], column int64, value.
ThreeTensors sparse_rows(const at::Tensor& values, const at::Tensor& row_ptr,
                         const at::Tensor& column, const at::Tensor& rows);

}  // namespace lase::ops::cpu
