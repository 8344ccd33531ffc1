#include "lase/ops/row_dot.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/ops/gradient_sum.h"
#include "lase/ops/library.h"
#include "lase/ops/node.h"

namespace lase::ops {

using at::Tensor;

namespace {

struct RowDotBackward : torch::autograd::Node {
  Rows x;
  RowsGradient to_x;
  Tensor v;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const Tensor g = gradients[0].contiguous();  // [n]
    Tensor dx;
    if (task_should_compute_output(0)) dx = to_x.pass_outer(g, v);
    Tensor dv;
    if (task_should_compute_output(1)) {
      using Signature = Tensor(const Tensor&, const Tensor&, const MaybeTensor&);
      static const auto op = operator_named<Signature>("lase::row_dot_backward");
      dv = op.call(g, x.matrix, maybe(x.index));
    }
    return {dx, dv};
  }
  void release_variables() override {
    x = {};
    to_x = {};
    v = Tensor();
  }
};

}  // namespace

Tensor row_dot(const Rows& x, const Tensor& v) {
  if (x.matrix.scalar_type() != at::kFloat) return x.dense().matmul(v);
  Rows rows{plain_rows(x.matrix), x.index};
  if (rows.index.defined()) rows.index = rows.index.contiguous();
  const Tensor plain = v.detach().contiguous();
  using Signature = Tensor(const Tensor&, const MaybeTensor&, const Tensor&);
  static const auto op = operator_named<Signature>("lase::row_dot");
  Tensor y = op.call(rows.matrix, maybe(rows.index), plain);
  if (torch::autograd::compute_requires_grad(x.matrix, v)) {
    auto node = make_node<RowDotBackward>();
    node->set_next_edges(torch::autograd::collect_next_edges(x.matrix, v));
    node->to_x = RowsGradient({x.matrix, rows.index});
    node->x = std::move(rows);
    node->v = plain;
    torch::autograd::set_history(y, node);
  }
  return y;
}

}  // namespace lase::ops
