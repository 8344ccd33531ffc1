#include "lase/ops/concat_relu.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/ops/node.h"
#include "lase/ops/workspace.h"

namespace lase::ops {

using at::Tensor;

namespace {

struct ConcatReluBackward : torch::autograd::Node {
  Tensor y;  // [n, p + q]
  int64_t p = 0;

  // dx = dy ⊙ [y > 0] for columns first … last.
  Tensor gradient(const Tensor& dy, int64_t first, int64_t last) const {
    Tensor dx = empty({y.size(0), last - first}, y.options());
    at::threshold_backward_out(dx, dy.slice(1, first, last), y.slice(1, first, last), 0);
    return dx;
  }
  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const c10::NoGradGuard no_grad;
    const Tensor& dy = gradients[0];
    if (!dy.defined()) return {Tensor(), Tensor()};
    return {task_should_compute_output(0) ? gradient(dy, 0, p) : Tensor(),
            task_should_compute_output(1) ? gradient(dy, p, y.size(1)) : Tensor()};
  }
  void release_variables() override { y = Tensor(); }
};

}  // namespace

Tensor concat_relu(const Tensor& a, const Tensor& b) {
  const int64_t p = a.size(1);
  Tensor y = empty({a.size(0), p + b.size(1)}, a.options());
  {
    const c10::NoGradGuard no_grad;
    Tensor left = y.slice(1, 0, p);
    Tensor right = y.slice(1, p);
    at::clamp_min_out(left, a.detach(), 0);
    at::clamp_min_out(right, b.detach(), 0);
  }
  if (torch::autograd::compute_requires_grad(a, b)) {
    auto node = make_node<ConcatReluBackward>();
    node->set_next_edges(torch::autograd::collect_next_edges(a, b));
    node->y = y.detach();
    node->p = p;
    torch::autograd::set_history(y, node);
  }
  return y;
}

}  // namespace lase::ops
