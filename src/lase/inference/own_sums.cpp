#include "lase/inference/own_sums.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <limits>
#include <torch/csrc/autograd/autograd.h>

namespace lase {

using at::Tensor;

OwnSums::OwnSums(const Ego& ego, int64_t l, int64_t degree)
    : ego_(ego), l_(l), block_(ego.own_block(l)) {
  block_.degree = block_.degree.clone();
  block_.degree[0] = degree;  // the node is row 0
  inputs_ = ego.model().layer(l).sums({ego.input(l), block_, ego.links(), {}});
  for (const auto& in : inputs_) all_.push_back(ops::gated_sum(in, block_));
  find_largest();
}

OwnSums::Single OwnSums::single(const Tensor& arcs, const ops::AttributeTensors* f) const {
  const int64_t count = arcs.size(0);
  Single links{block_, inputs_};
  Block& block = links.block;
  block.target = at::zeros({count}, at::kLong);
  block.leading = false;
  block.row_ptr = at::arange(count + 1, at::kLong);
  block.source = block_.source.index_select(0, arcs);
  if (block_.weight.defined()) block.weight = block_.weight.index_select(0, arcs);
  block.link =
      f == nullptr ? block_.link.index_select(0, arcs) : at::arange(count, block_.link.options());
  for (auto& in : links.inputs) {
    if (in.p.defined()) in.p = in.p.expand({count}).contiguous();
    if (f != nullptr) in.f = f;
  }
  return links;
}

OwnSums::Values OwnSums::terms(const Single& links) {
  Values terms;
  for (const auto& in : links.inputs) terms.push_back(ops::gated_sum(in, links.block));
  return terms;
}

Tensor OwnSums::gates(const Tensor& arcs) const {
  const Single links = single(arcs);
  return ops::gates(links.inputs[0], links.block);
}

void OwnSums::find_largest() {
  constexpr int64_t kArcs = 1 << 15;
  largest_.resize(inputs_.size());
  const int64_t arcs = block_.arcs();
  for (size_t j = 0; j < inputs_.size(); ++j) {
    if (inputs_[j].aggregate != ops::Aggregate::kMax || arcs == 0) continue;
    const Tensor lowest = at::full_like(all_[j], -std::numeric_limits<float>::infinity());
    Tensor top = at::cat({lowest, lowest});  // [2, d]
    Tensor arc = at::zeros(top.sizes(), at::kLong);
    for (int64_t first = 0; first < arcs; first += kArcs) {
      const Tensor chunk = at::arange(first, std::min(arcs, first + kArcs), at::kLong);
      const Tensor values = at::cat({top, terms(single(chunk))[j]});
      const Tensor position = at::cat({arc, chunk.unsqueeze(1).expand({-1, top.size(1)})});
      Tensor best;
      std::tie(top, best) = values.topk(2, 0);
      arc = position.gather(0, best);
    }
    largest_[j] = {arc[0], arcs > 1 ? top[1] : at::zeros_like(top[1])};
  }
}

OwnSums::Values OwnSums::without(const Tensor& arcs) const {
  Values rest = terms(single(arcs));
  for (size_t j = 0; j < rest.size(); ++j) {
    const auto& [arc, second] = largest_[j];
    rest[j] = arc.defined() ? at::where(arc.unsqueeze(0) == arcs.unsqueeze(1), second, all_[j])
                            : all_[j] - rest[j];
  }
  return rest;
}

OwnSums::Values OwnSums::with_attributes(int64_t arc, const Tensor& attributes) const {
  const int64_t count = attributes.size(0);
  ops::AttributeTensors f;
  f.rows = count;
  f.columns = attributes.size(1);
  f.values = attributes.contiguous();
  const Tensor arcs = at::full({1}, arc, at::kLong);
  const Values changed = terms(single(arcs.expand({count}), &f));
  Values s = without(arcs);
  for (size_t j = 0; j < s.size(); ++j) {
    if (!largest_[j].arc.defined()) {
      s[j] = s[j] + changed[j];
    } else {  // the maximum over no other terms is the changed term itself
      s[j] = block_.arcs() > 1 ? at::maximum(s[j], changed[j]) : changed[j];
    }
  }
  return s;
}

Tensor OwnSums::outputs(const Values& s) const {
  Block variants = block_;
  variants.target = at::zeros({s[0].size(0)}, at::kLong);
  variants.leading = false;
  const State state =
      ego_.model().layer(l_).update({ego_.input(l_), variants, ego_.links(), {}}, inputs_, s);
  return ego_.outputs_with(l_, ego_.model().finish(l_, state));
}

OwnSums::Values OwnSums::center() const {
  // Not 0 for a single arc: a layer may divide by one of its sums.
  const double rest = block_.arcs() > 1 ? 1 - 1 / static_cast<double>(block_.arcs()) : 1;
  Values center;
  for (size_t j = 0; j < all_.size(); ++j) {
    center.push_back(largest_[j].arc.defined() ? all_[j] : all_[j] * rest);
  }
  return center;
}

OwnSums::Values OwnSums::gradient(const Values& at, int64_t output) const {
  const c10::AutoGradMode with_gradients(true);
  Values s;
  for (const Tensor& sum : at) s.push_back(sum.detach().clone().requires_grad_());
  Values gradient = torch::autograd::grad({outputs(s)[0][output]}, s, {}, c10::nullopt, false,
                                          /*allow_unused=*/true);
  for (size_t j = 0; j < s.size(); ++j) {
    if (!gradient[j].defined()) gradient[j] = at::zeros_like(all_[j]);
  }
  return gradient;
}

}  // namespace lase
