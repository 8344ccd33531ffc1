#include "lase/ops/scale_weights.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/ops/library.h"
#include "lase/ops/node.h"

namespace lase::ops {

using at::Tensor;

namespace {

struct ScaleWeightsBackward : torch::autograd::Node {
  Tensor mean, scale;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    using Signature = Tensor(const MaybeTensor&, const MaybeTensor&, const Tensor&, const Tensor&);
    static const auto op = operator_named<Signature>("lase::scale_weights_backward");
    const auto plain = [](const Tensor& x) { return maybe(x.defined() ? x.contiguous() : x); };
    if (!gradients[0].defined() && !gradients[1].defined()) return {Tensor()};
    return {op.call(plain(gradients[0]), plain(gradients[1]), mean, scale)};
  }
  void release_variables() override {
    mean = Tensor();
    scale = Tensor();
  }
};

}  // namespace

ScaledWeights scale_weights(const Tensor& w, const Tensor& mean, const Tensor& scale) {
  if (!mean.defined()) return {scale.defined() ? w * scale : w, {}};
  if (!scale.defined()) return {w, -w.matmul(mean)};
  using Signature = TwoTensors(const Tensor&, const Tensor&, const Tensor&);
  static const auto op = operator_named<Signature>("lase::scale_weights");
  ScaledWeights out;
  {
    const c10::NoGradGuard no_grad;
    std::tie(out.w, out.shift) = op.call(w.detach().contiguous(), mean, scale);
  }
  if (torch::autograd::compute_requires_grad(w)) {
    auto node = make_node<ScaleWeightsBackward>();
    node->set_next_edges(torch::autograd::collect_next_edges(w));
    node->mean = mean;
    node->scale = scale;
    torch::autograd::set_history({out.w, out.shift}, node);
  }
  return out;
}

}  // namespace lase::ops
