#include "lase/ops/gated_sum.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/base/error.h"

namespace lase::ops {

using at::Tensor;

namespace {

thread_local bool use_reference = false;

template <class T>
const T* pointer(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<T>() : nullptr;
}

kernels::AttributeView view(const AttributeTensors& f) {
  return {.layout = f.layout,
          .rows = f.rows,
          .columns = f.columns,
          .codes = f.layout == Layout::kCoded ? f.values.size(0) : 0,
          .values = pointer<float>(f.values),
          .row_ptr = pointer<int64_t>(f.row_ptr),
          .column = pointer<int32_t>(f.column),
          .code = pointer<int32_t>(f.code)};
}

// 1 / |N(u)| of each target: [targets].
Tensor mean_scale(const Block& block) {
  return block.degree.index_select(0, block.target).to(at::kFloat).clamp_min(1).reciprocal();
}

// Without a history, and in one piece.
void make_plain(GatedSumInput& in) {
  for (Tensor* x : {&in.h.matrix, &in.u, &in.u_shift, &in.p, &in.q, &in.v}) {
    if (x->defined()) *x = x->detach().contiguous();
  }
}

kernels::TermView terms(const GatedSumInput& in) {
  return {.h = pointer<float>(in.h.matrix),
          .h_row = pointer<int64_t>(in.h.index),
          .u = pointer<float>(in.u),
          .u_shift = pointer<float>(in.u_shift),
          .p = pointer<float>(in.p),
          .q = pointer<float>(in.q),
          .v = pointer<float>(in.v)};
}

// What the kernel reads, and what keeps it alive; all without a history.
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

  kernels::GatedSum view() const {
    kernels::GatedSum call;
    call.block = {.targets = block.targets(),
                  .sources = in.h.size(),
                  .row_ptr = pointer<int64_t>(block.row_ptr),
                  .source = pointer<int32_t>(block.source),
                  .link = pointer<int32_t>(block.link),
                  .weight = pointer<float>(block.weight),
                  .scale = pointer<float>(scale)};
    const bool reads_links = in.u.defined() || in.v.defined();
    if (reads_links) call.f = ops::view(f);
    call.d = in.h.width();
    call.amplifier = in.amplifier;
    call.now = terms(in);
    return call;
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

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    require(call != nullptr, "gated_sum: gradients are asked for twice");
    const Tensor ds = gradients[0].contiguous();
    const GatedSumInput& in = call->in;
    const bool to_h = task_should_compute_output(0);
    require(!to_h || !in.h.index.defined(), "gated_sum: no gradient through an index");
    const auto like = [](const Tensor& x) { return x.defined() ? at::empty_like(x) : Tensor(); };
    Tensor h = to_h ? at::empty_like(in.h.matrix) : Tensor();
    std::array<Tensor, 5> others = {like(in.u), like(in.u_shift), like(in.p), like(in.q),
                                    like(in.v)};
    const auto at = [](const Tensor& x) { return x.defined() ? x.data_ptr<float>() : nullptr; };
    kernels::gated_sum_backward(call->view(), pointer<float>(gate), ds.data_ptr<float>(),
                                {.h = at(h),
                                 .u = at(others[0]),
                                 .u_shift = at(others[1]),
                                 .p = at(others[2]),
                                 .q = at(others[3]),
                                 .v = at(others[4])});
    return {h, others[0], others[1], others[2], others[3], others[4]};
  }
  void release_variables() override { call.reset(); }
};

bool fused(const GatedSumInput& in) {
  return !use_reference && in.aggregate != Aggregate::kMax &&
         in.h.matrix.scalar_type() == at::kFloat;
}

}  // namespace

UseReference::UseReference() : before_(use_reference) { use_reference = true; }
UseReference::~UseReference() { use_reference = before_; }

namespace {

Tensor fused_sum(const GatedSumInput& in, const GatedSumInput* before, const Block& block) {
  auto call = std::make_unique<Call>(in, block);
  Tensor s = at::empty({block.targets(), in.h.width()}, at::kFloat);
  Tensor gate;
  if (in.p.defined()) gate = at::empty({block.arcs()}, at::kFloat);
  kernels::GatedSum view = call->view();
  GatedSumInput then;
  kernels::TermView then_view;
  if (before != nullptr) {
    then = *before;
    make_plain(then);
    call->check(then);
    require(then.h.width() == in.h.width() && then.h.size() == in.h.size() &&
                then.u.defined() == in.u.defined() && then.p.defined() == in.p.defined() &&
                then.v.defined() == in.v.defined() && then.amplifier == in.amplifier,
            "gated_sum: two sets of terms of one kind");
    then_view = terms(then);
    view.before = &then_view;
  }
  kernels::gated_sum(
      view, {.s = s.data_ptr<float>(), .gate = gate.defined() ? gate.data_ptr<float>() : nullptr});
  if (torch::autograd::compute_requires_grad(in.h.matrix, in.u, in.u_shift, in.p, in.q, in.v)) {
    auto node = std::make_shared<GatedSumBackward>();
    node->set_next_edges(
        torch::autograd::collect_next_edges(in.h.matrix, in.u, in.u_shift, in.p, in.q, in.v));
    node->call = std::move(call);
    node->gate = gate;
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
  const Call call(in, block);
  SumAndScores result{at::empty({block.targets(), in.h.width()}, at::kFloat),
                      at::empty({block.arcs()}, at::kFloat)};
  const Tensor plain = factor.defined() ? factor.detach().contiguous() : factor;
  auto* scores = result.score.data_ptr<float>();
  kernels::gated_sum(call.view(), {.s = result.s.data_ptr<float>(),
                                   .gate = score == Score::kGate ? scores : nullptr,
                                   .norm = score == Score::kNorm ? scores : nullptr,
                                   .factor = pointer<float>(plain)});
  return result;
}

}  // namespace lase::ops
