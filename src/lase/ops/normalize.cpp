#include "lase/ops/normalize.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/ops/library.h"
#include "lase/ops/node.h"

namespace lase::ops {

using at::Tensor;

namespace {

struct NormalizeRowsBackward : torch::autograd::Node {
  Tensor y;     // [n, d]
  Tensor norm;  // [n, 1]

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    using Signature = Tensor(const Tensor&, const Tensor&, const Tensor&);
    static const auto op = operator_named<Signature>("lase::normalize_rows_backward");
    const c10::NoGradGuard no_grad;
    if (!gradients[0].defined()) return {Tensor()};
    return {op.call(gradients[0].contiguous(), y, norm)};
  }
  void release_variables() override {
    y = Tensor();
    norm = Tensor();
  }
};

}  // namespace

Tensor normalize_rows(const Tensor& x) {
  using Signature = TwoTensors(const Tensor&);
  static const auto op = operator_named<Signature>("lase::normalize_rows");
  Tensor y;
  Tensor norm;
  {
    const c10::NoGradGuard no_grad;
    std::tie(y, norm) = op.call(x.detach().contiguous());
  }
  if (torch::autograd::compute_requires_grad(x)) {
    auto node = make_node<NormalizeRowsBackward>();
    node->set_next_edges(torch::autograd::collect_next_edges(x));
    node->y = y.detach();
    node->norm = norm;
    torch::autograd::set_history(y, node);
  }
  return y;
}

}  // namespace lase::ops
