#include "lase/ops/linear.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/ops/gradient_sum.h"
#include "lase/ops/library.h"
#include "lase/ops/node.h"
#include "lase/ops/precision.h"

namespace lase::ops {

using at::Tensor;

namespace {

Tensor forward(const Rows& x, const Tensor& w, const Dropout& dropout) {
  using Signature =
      Tensor(const Tensor&, const MaybeTensor&, const Tensor&, double, int64_t, const MaybeTensor&);
  static const auto op = operator_named<Signature>("lase::linear");
  return op.call(x.matrix, maybe(x.index), w, dropout.rate, static_cast<int64_t>(dropout.key),
                 maybe(dropout.base));
}

struct LinearBackward : torch::autograd::Node {
  Rows x;
  RowsGradient to_x;
  Tensor w;
  Dropout dropout;
  Precision precision = PrecisionScope::current();
  bool needs_x = false;
  bool needs_w = false;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    using Signature = TwoTensors(const Tensor&, const Tensor&, const MaybeTensor&, const Tensor&,
                                 double, int64_t, const MaybeTensor&, bool, bool);
    static const auto op = operator_named<Signature>("lase::linear_backward");
    const PrecisionScope scope(precision);
    c10::NoGradGuard no_grad;
    const Tensor dy = gradients[0].contiguous();  // [n, m]
    auto [dx, dw] =
        op.call(dy, x.matrix, maybe(x.index), w, dropout.rate, static_cast<int64_t>(dropout.key),
                maybe(dropout.base), needs_x && task_should_compute_output(0),
                needs_w && task_should_compute_output(1));
    return {to_x.pass(dx), dw};
  }
  void release_variables() override {
    x = {};
    to_x = {};
    w = Tensor();
  }
};

}  // namespace

Tensor linear(const Rows& x, const Tensor& w, const Dropout& dropout) {
  const Rows rows{plain_rows(x.matrix), x.index.defined() ? x.index.contiguous() : x.index};
  Tensor y;
  {
    c10::NoGradGuard no_grad;
    y = forward(rows, w.detach(), dropout);
  }
  if (torch::autograd::compute_requires_grad(x.matrix, w)) {
    auto node = make_node<LinearBackward>();
    node->set_next_edges(torch::autograd::collect_next_edges(x.matrix, w));
    node->needs_x = x.matrix.requires_grad();
    node->needs_w = w.requires_grad();
    node->x = rows;
    node->to_x = RowsGradient({x.matrix, rows.index});
    node->w = w.detach();
    node->dropout = dropout;
    torch::autograd::set_history(y, node);
  }
  return y;
}

}  // namespace lase::ops
