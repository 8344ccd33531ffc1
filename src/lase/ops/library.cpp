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
      "(Tensor dh, Tensor du, Tensor du_shift, Tensor dp, Tensor dq, Tensor dv, Tensor dv_h)");
  m.def(
      "gated_sum_fits(Tensor?[] block, int layout, int columns, Tensor?[] attributes, "
      "int amplifier, bool links, Tensor?[] terms) -> bool");
  m.def("largest_arcs(Tensor x, Tensor row_ptr) -> Tensor");
  m.def(
      "arcs_by_target(Tensor source, Tensor target, int sources, int targets) -> (Tensor row_ptr, "
      "Tensor by_target, Tensor link)");
  m.def("linear(Tensor x, Tensor? index, Tensor w, float rate, int key, Tensor? base) -> Tensor");
  m.def(
      "linear_backward(Tensor dy, Tensor x, Tensor? index, Tensor w, float rate, int key, "
      "Tensor? base, bool needs_x, bool needs_w) -> (Tensor dx, Tensor dw)");
  m.def("drop(Tensor(a!) x, float rate, int key, Tensor? base) -> ()");
  m.def(
      "adam_step(Tensor(a!)[] w, Tensor[] g, Tensor(b!)[] m, Tensor(c!)[] v, Tensor factors, "
      "float weight_decay, float clip) -> ()");
  m.def("average_step(Tensor(a!)[] average, Tensor[] w, Tensor decay) -> ()");
  m.def("set_numbers(Tensor(a!) numbers, int[] values) -> ()");
  m.def("cached_rows(Tensor matrix, Tensor? cache, Tensor? slot, Tensor index) -> Tensor");
  m.def("concat_relu(Tensor a, Tensor b) -> Tensor");
  m.def(
      "concat_relu_backward(Tensor dy, Tensor y, int p, bool needs_a, bool needs_b) -> (Tensor da, "
      "Tensor db)");
  m.def("normalize_rows(Tensor x) -> (Tensor y, Tensor norm)");
  m.def("normalize_rows_backward(Tensor dy, Tensor y, Tensor norm) -> Tensor");
  m.def("scale_weights(Tensor w, Tensor mean, Tensor scale) -> (Tensor scaled, Tensor shift)");
  m.def(
      "scale_weights_backward(Tensor? dscaled, Tensor? dshift, Tensor mean, Tensor scale) -> "
      "Tensor");
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
  m.impl("average_step", cpu::average_step);
  m.impl("set_numbers", cpu::set_numbers);
  m.impl("scale_weights", cpu::scale_weights);
  m.impl("scale_weights_backward", cpu::scale_weights_backward);
  m.impl("cached_rows", cpu::cached_rows);
  m.impl("concat_relu", cpu::concat_relu);
  m.impl("concat_relu_backward", cpu::concat_relu_backward);
  m.impl("normalize_rows", cpu::normalize_rows);
  m.impl("normalize_rows_backward", cpu::normalize_rows_backward);
  m.impl("row_dot", cpu::row_dot);
  m.impl("row_dot_backward", cpu::row_dot_backward);
  m.impl("sparse_rows", cpu::sparse_rows);
}
