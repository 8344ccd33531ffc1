#include "lase/ops/concat_relu.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/ops/library.h"
#include "lase/ops/node.h"

namespace lase::ops {

using at::Tensor;

namespace {

struct ConcatReluBackward : torch::autograd::Node {
  Tensor y;  // [n, p + q]
  int64_t p = 0;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    using Signature = TwoTensors(const Tensor&, const Tensor&, int64_t, bool, bool);
    static const auto op = operator_named<Signature>("lase::concat_relu_backward");
    const c10::NoGradGuard no_grad;
    if (!gradients[0].defined()) return {Tensor(), Tensor()};
    auto [da, db] = op.call(gradients[0].contiguous(), y, p, task_should_compute_output(0),
                            task_should_compute_output(1));
    return {da, db};
  }
  void release_variables() override { y = Tensor(); }
};

}  // namespace

Tensor concat_relu(const Tensor& a, const Tensor& b) {
  using Signature = Tensor(const Tensor&, const Tensor&);
  static const auto op = operator_named<Signature>("lase::concat_relu");
  Tensor y;
  {
    const c10::NoGradGuard no_grad;
    y = op.call(a.detach().contiguous(), b.detach().contiguous());
  }
  if (torch::autograd::compute_requires_grad(a, b)) {
    auto node = make_node<ConcatReluBackward>();
    node->set_next_edges(torch::autograd::collect_next_edges(a, b));
    node->y = y.detach();
    node->p = a.size(1);
    torch::autograd::set_history(y, node);
  }
  return y;
}

}  // namespace lase::ops
