#include "lase/ops/gated_sum.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/base/error.h"
#include "lase/ops/gradient_sum.h"
#include "lase/ops/library.h"

namespace lase::ops {

using at::Tensor;

namespace {

thread_local bool use_reference = false;

// 1 / |N(u)| of each target: [targets].
Tensor mean_scale(const Block& block) {
  return block.degree.index_select(0, block.target).to(at::kFloat).clamp_min(1).reciprocal();
}

// Without a history, and in one piece.
void make_plain(GatedSumInput& in) {
  for (Tensor* x : {&in.h.matrix, &in.u, &in.u_shift, &in.p, &in.q, &in.v}) {
    if (x->defined()) *x = x->detach().contiguous();
  }
  if (in.h.index.defined()) in.h.index = in.h.index.contiguous();
}

TensorList terms(const GatedSumInput& in) {
  return list_of({in.h.matrix, in.h.index, in.u, in.u_shift, in.p, in.q, in.v});
}

// What the operators read; all without a history.
struct Call {
  GatedSumInput in;
  AttributeTensors f;
  Block block;
  Tensor scale;  // [targets], or undefined

  Call(const GatedSumInput& from, const Block& over) : in(from), block(over) {
    make_plain(in);
    if (from.f != nullptr) f = *from.f;
    in.f = &f;
    if (in.aggregate == Aggregate::kMean) scale = mean_scale(block);
    check(in);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  SumLists lists() const {
    SumLists lists;
    lists.block = list_of({block.row_ptr, block.source, block.link, block.weight, scale,
                           block.by_source, block.arc_target});
    lists.layout = static_cast<int64_t>(f.layout);
    lists.columns = f.columns;
    if (in.u.defined() || in.v.defined()) {
      lists.attributes = list_of({f.values, f.row_ptr, f.column, f.code});
    }
    lists.amplifier = static_cast<int64_t>(in.amplifier);
    lists.terms = terms(in);
    return lists;
  }

  void check(const GatedSumInput& terms) const {
    const bool amplified = terms.amplifier != Amplifier::kNone;
    require(!amplified || (terms.u.defined() && f.columns > 0),
            "gated_sum: an amplifier needs a matrix U and attributes");
    require(
        !terms.u.defined() || (terms.u.size(0) == terms.h.width() && terms.u.size(1) == f.columns),
        "gated_sum: U must be [d, k]");
    require(!terms.p.defined() ||
                (terms.p.size(0) == block.targets() && terms.q.size(0) == terms.h.size()),
            "gated_sum: the gate has a term for each target and each source");
    require(block.row_ptr.size(0) == block.targets() + 1, "gated_sum: a row for each target");
  }
};

struct GatedSumBackward : torch::autograd::Node {
  std::unique_ptr<Call> call;
  Tensor gate;  // [arcs], or undefined
  RowsGradient to_h;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    require(call != nullptr, "gated_sum: gradients are asked for twice");
    const Tensor ds = gradients[0].contiguous();
    using Signature = SixTensors(const TensorList&, int64_t, int64_t, const TensorList&, int64_t,
                                 const TensorList&, const MaybeTensor&, const Tensor&, bool);
    static const auto op = operator_named<Signature>("lase::gated_sum_backward");
    const SumLists in = call->lists();
    auto [h, u, u_shift, p, q, v] =
        op.call(in.block, in.layout, in.columns, in.attributes, in.amplifier, in.terms, maybe(gate),
                ds, task_should_compute_output(0));
    return {to_h.pass(h), u, u_shift, p, q, v};
  }
  void release_variables() override {
    call.reset();
    to_h = {};
  }
};

bool fused(const GatedSumInput& in) {
  return !use_reference && in.aggregate != Aggregate::kMax &&
         in.h.matrix.scalar_type() == at::kFloat;
}

}  // namespace

UseReference::UseReference() : before_(use_reference) { use_reference = true; }
UseReference::~UseReference() { use_reference = before_; }

namespace {

TwoTensors sum(const SumLists& in) {
  using Signature = TwoTensors(const TensorList&, int64_t, int64_t, const TensorList&, int64_t,
                               const TensorList&);
  static const auto op = operator_named<Signature>("lase::gated_sum");
  return op.call(in.block, in.layout, in.columns, in.attributes, in.amplifier, in.terms);
}

TwoTensors change(const SumLists& in, const TensorList& before) {
  using Signature = TwoTensors(const TensorList&, int64_t, int64_t, const TensorList&, int64_t,
                               const TensorList&, const TensorList&);
  static const auto op = operator_named<Signature>("lase::gated_change");
  return op.call(in.block, in.layout, in.columns, in.attributes, in.amplifier, in.terms, before);
}

Tensor fused_sum(const GatedSumInput& in, const GatedSumInput* before, const Block& block) {
  auto call = std::make_unique<Call>(in, block);
  Tensor s;
  Tensor gate;
  if (before == nullptr) {
    std::tie(s, gate) = sum(call->lists());
  } else {
    GatedSumInput then = *before;
    make_plain(then);
    call->check(then);
    require(then.h.width() == in.h.width() && then.h.size() == in.h.size() &&
                then.u.defined() == in.u.defined() && then.p.defined() == in.p.defined() &&
                then.v.defined() == in.v.defined() && then.amplifier == in.amplifier,
            "gated_sum: two sets of terms of one kind");
    std::tie(s, gate) = change(call->lists(), terms(then));
  }
  if (torch::autograd::compute_requires_grad(in.h.matrix, in.u, in.u_shift, in.p, in.q, in.v)) {
    auto node = std::make_shared<GatedSumBackward>();
    node->set_next_edges(
        torch::autograd::collect_next_edges(in.h.matrix, in.u, in.u_shift, in.p, in.q, in.v));
    node->call = std::move(call);
    node->gate = gate;
    node->to_h = RowsGradient(in.h);
    torch::autograd::set_history(s, node);
  }
  return s;
}

}  // namespace

Tensor gated_sum(const GatedSumInput& in, const Block& block) {
  return fused(in) ? fused_sum(in, nullptr, block) : gated_sum_reference(in, block);
}

Tensor gated_change(const GatedSumInput& in, const GatedSumInput& before, const Block& block) {
  require(in.aggregate != Aggregate::kMax && in.aggregate == before.aggregate,
          "gated_sum: only sums and means have changes");
  if (fused(in)) return fused_sum(in, &before, block);
  return gated_sum_reference(in, block) - gated_sum_reference(before, block).detach();
}

SumAndScores gated_sum_with_scores(const GatedSumInput& in, const Block& block, Score score,
                                   const Tensor& factor) {
  using Signature = TwoTensors(const TensorList&, int64_t, int64_t, const TensorList&, int64_t,
                               const TensorList&, bool, const MaybeTensor&);
  static const auto op = operator_named<Signature>("lase::gated_sum_scores");
  const Call call(in, block);
  const SumLists lists = call.lists();
  const Tensor plain = factor.defined() ? factor.detach().contiguous() : factor;
  auto [s, scores] = op.call(lists.block, lists.layout, lists.columns, lists.attributes,
                             lists.amplifier, lists.terms, score == Score::kNorm, maybe(plain));
  return {s, scores};
}

}  // namespace lase::ops
