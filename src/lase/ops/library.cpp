#include "lase/ops/library.h"

#include <torch/library.h>

#include "lase/ops/attribute_product.h"
#include "lase/ops/cpu/cpu.h"
#include "lase/ops/cuda/cuda.h"

namespace lase::ops {
namespace {

AttributeTensors attributes_of(int64_t layout, int64_t columns, const TensorList& tensors) {
  AttributeTensors f;
  f.layout = static_cast<Layout>(layout);
  f.columns = columns;
  f.values = tensor_at(tensors, 0);
  f.row_ptr = tensor_at(tensors, 1);
  f.column = tensor_at(tensors, 2);
  f.code = tensor_at(tensors, 3);
  return f;
}

at::Tensor product(int64_t layout, int64_t columns, const TensorList& attributes,
                   const at::Tensor& rows, const at::Tensor& u) {
  return attribute_product(attributes_of(layout, columns, attributes), rows, u);
}

at::Tensor dense_rows(int64_t layout, int64_t columns, const TensorList& attributes,
                      const at::Tensor& rows) {
  return attribute_rows(attributes_of(layout, columns, attributes), rows);
}

}  // namespace

void register_all() { static_cast<void>(cuda::is_built()); }  // links the folder's registrations

}  // namespace lase::ops

TORCH_LIBRARY(lase, m) {
  m.def(
      "gated_sum(Tensor?[] block, int layout, int columns, Tensor?[] attributes, int amplifier, "
      "bool links, Tensor?[] terms) -> (Tensor s, Tensor gate)");
  m.def(
      "gated_change(Tensor?[] block, int layout, int columns, Tensor?[] attributes, int amplifier, "
      "bool links, Tensor?[] terms, Tensor?[] before) -> (Tensor s, Tensor gate)");
  m.def(
      "gated_sum_scores(Tensor?[] block, int layout, int columns, Tensor?[] attributes, "
      "int amplifier, bool links, Tensor?[] terms, bool norms, Tensor? factor) -> (Tensor s, "
      "Tensor score)");
  m.def(
      "gated_sum_backward(Tensor?[] block, int layout, int columns, Tensor?[] attributes, "
      "int amplifier, bool links, Tensor?[] terms, Tensor? gate, Tensor ds, bool needs_h) -> "
      "(Tensor dh, Tensor du, Tensor du_shift, Tensor dp, Tensor dq, Tensor dv)");
  m.def(
      "gated_sum_fits(Tensor?[] block, int layout, int columns, Tensor?[] attributes, "
      "int amplifier, bool links, Tensor?[] terms) -> bool");
  m.def("largest_arcs(Tensor x, Tensor row_ptr) -> Tensor");
  m.def(
      "arcs_by_target(Tensor source, Tensor target, int sources, int targets) -> (Tensor row_ptr, "
      "Tensor by_target, Tensor link)");
  m.def("linear(Tensor x, Tensor? index, Tensor w, float rate, int key) -> Tensor");
  m.def(
      "linear_backward(Tensor dy, Tensor x, Tensor? index, Tensor w, float rate, int key, "
      "bool needs_x, bool needs_w) -> (Tensor dx, Tensor dw)");
  m.def("drop(Tensor(a!) x, float rate, int key) -> ()");
  m.def(
      "adam_step(Tensor(a!) w, Tensor g, Tensor(b!) m, Tensor(c!) v, float learning_rate, "
      "float weight_decay, float clip, int steps) -> ()");
  m.def("row_dot(Tensor x, Tensor? index, Tensor v) -> Tensor");
  m.def("row_dot_backward(Tensor g, Tensor x, Tensor? index) -> Tensor");
  m.def(
      "sparse_rows(Tensor values, Tensor row_ptr, Tensor column, Tensor rows) -> "
      "(Tensor offset, Tensor stored_column, Tensor value)");
  // Composed of the operators above and of torch's own.
  m.def(
      "attribute_product(int layout, int columns, Tensor?[] attributes, Tensor rows, Tensor u) -> "
      "Tensor",
      lase::ops::product);
  m.def("attribute_rows(int layout, int columns, Tensor?[] attributes, Tensor rows) -> Tensor",
        lase::ops::dense_rows);
}

TORCH_LIBRARY_IMPL(lase, CPU, m) {
  namespace cpu = lase::ops::cpu;
  m.impl("gated_sum", cpu::gated_sum);
  m.impl("gated_change", cpu::gated_change);
  m.impl("gated_sum_scores", cpu::gated_sum_scores);
  m.impl("gated_sum_backward", cpu::gated_sum_backward);
  m.impl("gated_sum_fits", cpu::gated_sum_fits);
  m.impl("largest_arcs", cpu::largest_arcs);
  m.impl("arcs_by_target", cpu::arcs_by_target);
  m.impl("linear", cpu::linear);
  m.impl("linear_backward", cpu::linear_backward);
  m.impl("drop", cpu::drop);
  m.impl("adam_step", cpu::adam_step);
  m.impl("row_dot", cpu::row_dot);
  m.impl("row_dot_backward", cpu::row_dot_backward);
  m.impl("sparse_rows", cpu::sparse_rows);
}
