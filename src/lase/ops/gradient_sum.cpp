#include "lase/ops/gradient_sum.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/ops/node.h"
#include "lase/ops/workspace.h"

namespace lase::ops {

using at::Tensor;

namespace {

Tensor zeros(int64_t rows, const Tensor& like) {
  return empty({rows, like.size(1)}, like.options()).zero_();
}

}  // namespace

class RowsGradient::Sum : public torch::autograd::Node {
 public:
  Tensor total;  // [n, d]; undefined: zero

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    const c10::NoGradGuard no_grad;
    Tensor sum = std::move(total);
    total = Tensor();
    const Tensor& others = gradients[0];
    if (!sum.defined()) return {others};
    return {others.defined() ? sum.add_(others) : sum};
  }
  void release_variables() override { total = Tensor(); }
};

Tensor sum_gradients(const Tensor& x) {
  if (!x.defined() || !torch::autograd::compute_requires_grad(x)) return x;
  auto node = make_node<RowsGradient::Sum>();
  node->set_next_edges(torch::autograd::collect_next_edges(x));
  Tensor same = x.detach();
  torch::autograd::set_history(same, node);
  return same;
}

RowsGradient::RowsGradient(const Rows& x)
    : sum_(node_as<Sum>(x.matrix.grad_fn())), index_(x.index), rows_(x.matrix.size(0)) {}

Tensor RowsGradient::pass(const Tensor& dx) const {
  const c10::NoGradGuard no_grad;
  if (!dx.defined()) return dx;
  if (sum_ == nullptr) return index_.defined() ? zeros(rows_, dx).index_add_(0, index_, dx) : dx;
  Tensor& total = sum_->total;
  if (!index_.defined()) {
    total = total.defined() ? total.add_(dx) : dx;
  } else {
    if (!total.defined()) total = zeros(rows_, dx);
    total.index_add_(0, index_, dx);
  }
  return {};
}

Tensor RowsGradient::pass_outer(const Tensor& g, const Tensor& v) const {
  const c10::NoGradGuard no_grad;
  if (sum_ != nullptr && !index_.defined() && sum_->total.defined()) {
    sum_->total.addr_(g, v);
    return {};
  }
  return pass(g.unsqueeze(1) * v);
}

}  // namespace lase::ops
