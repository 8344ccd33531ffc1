#include "lase/ops/gated_sum.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include "lase/base/error.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/gradient_sum.h"
#include "lase/ops/library.h"
#include "lase/ops/node.h"
#include "lase/ops/precision.h"

namespace lase::ops {

using at::Tensor;

namespace {

thread_local bool use_reference = false;

// 1 / |N(u)| for each target: [targets].
Tensor mean_scale(const Block& block) {
  return block.own(block.degree).to(at::kFloat).clamp_min(1).reciprocal();
}

// Detaches the tensors and makes them contiguous.
void make_plain(GatedSumInput& in) {
  in.h.matrix = plain_rows(in.h.matrix);
  for (Tensor* x : {&in.u, &in.u_shift, &in.p, &in.q, &in.v, &in.v_h}) {
    if (x->defined()) *x = x->detach().contiguous();
  }
  if (in.h.index.defined()) in.h.index = in.h.index.contiguous();
}

TensorList terms(const GatedSumInput& in) {
  return list_of({in.h.matrix, in.h.index, in.u, in.u_shift, in.p, in.q, in.v, in.v_h});
}

// The arguments of the operators, detached from autograd.
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
    lists.links = in.links;
    if (in.u.defined() || in.v.defined() || (in.links && f.columns > 0)) {
      lists.attributes = list_of({f.values, f.row_ptr, f.column, f.code});
    }
    lists.amplifier = static_cast<int64_t>(in.amplifier);
    lists.terms = terms(in);
    return lists;
  }

  void check(const GatedSumInput& terms) const {
    const bool amplified = terms.amplifier != Amplifier::kNone;
    require(!amplified || (terms.u.defined() && f.columns > 0),
            "gated_sum: the amplifier needs a matrix U and link attributes");
    require(
        !terms.u.defined() || (terms.u.size(0) == terms.h.width() && terms.u.size(1) == f.columns),
        "gated_sum: U must have shape [d, k]");
    require(!terms.links || terms.aggregate != Aggregate::kMax,
            "gated_sum: links have sums and means, but no maximum");
    require(!terms.p.defined() || terms.p.size(0) == block.targets(),
            "gated_sum: p must have one entry per target");
    require(terms.q.defined() + terms.v_h.defined() == terms.p.defined(),
            "gated_sum: a gate needs p and one of q and V_v");
    require(!terms.q.defined() || terms.q.size(0) == terms.h.size(),
            "gated_sum: q must have one entry per source");
    require(!terms.v_h.defined() || terms.v_h.size(0) == terms.h.width(),
            "gated_sum: V_v must have one entry per column of h");
    require(block.row_ptr.size(0) == block.targets() + 1,
            "gated_sum: row_ptr must have one entry more than there are targets");
  }
};

struct GatedSumBackward : torch::autograd::Node {
  std::unique_ptr<Call> call;
  Precision precision = PrecisionScope::current();
  Tensor gate;  // [arcs], or undefined
  RowsGradient to_h;

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    require(call != nullptr, "gated_sum: backward was called a second time without retain_graph");
    const PrecisionScope scope(precision);
    const Tensor ds = gradients[0].contiguous();
    using Signature =
        SevenTensors(const TensorList&, int64_t, int64_t, const TensorList&, int64_t, bool,
                     const TensorList&, const MaybeTensor&, const Tensor&, bool);
    static const auto op = operator_named<Signature>("lase::gated_sum_backward");
    const SumLists in = call->lists();
    auto [h, u, u_shift, p, q, v, v_h] =
        op.call(in.block, in.layout, in.columns, in.attributes, in.amplifier, in.links, in.terms,
                maybe(gate), ds, task_should_compute_output(0));
    return {to_h.pass(h), u, u_shift, p, q, v, v_h};
  }
  void release_variables() override {
    call.reset();
    to_h = {};
  }
};

// Whether the device has a kernel for this sum.
bool fits(const SumLists& in) {
  using Signature = bool(const TensorList&, int64_t, int64_t, const TensorList&, int64_t, bool,
                         const TensorList&);
  static const auto op = operator_named<Signature>("lase::gated_sum_fits");
  return op.call(in.block, in.layout, in.columns, in.attributes, in.amplifier, in.links, in.terms);
}

// The arguments of the fused kernel; null if the sum must be composed.
std::unique_ptr<Call> fused(const GatedSumInput& in, const Block& block) {
  if (use_reference || in.aggregate == Aggregate::kMax || in.h.matrix.scalar_type() != at::kFloat) {
    return nullptr;
  }
  auto call = std::make_unique<Call>(in, block);
  return fits(call->lists()) ? std::move(call) : nullptr;
}

}  // namespace

bool fuses(const at::Device& device, int64_t attributes) {
  return device.is_cpu() || attributes <= cuda::most_attributes();
}

bool fuses_gate(const GatedSumInput& in, const Block& block) {
  // Below about this many arcs per source, reading its row from the cache once per arc takes less
  // time than reading it from memory twice, forward and backward.
  constexpr int64_t kArcsPerSource = 8;
  const Tensor& h = in.h.matrix;
  return h.is_cpu() && h.scalar_type() == at::kFloat && !h.requires_grad() &&
         in.aggregate != Aggregate::kMax && block.arcs() < kArcsPerSource * in.h.size();
}

UseReference::UseReference() : previous_(use_reference) { use_reference = true; }
UseReference::~UseReference() { use_reference = previous_; }

namespace {

TwoTensors sum(const SumLists& in) {
  using Signature = TwoTensors(const TensorList&, int64_t, int64_t, const TensorList&, int64_t,
                               bool, const TensorList&);
  static const auto op = operator_named<Signature>("lase::gated_sum");
  return op.call(in.block, in.layout, in.columns, in.attributes, in.amplifier, in.links, in.terms);
}

TwoTensors change(const SumLists& in, const TensorList& baseline) {
  using Signature = TwoTensors(const TensorList&, int64_t, int64_t, const TensorList&, int64_t,
                               bool, const TensorList&, const TensorList&);
  static const auto op = operator_named<Signature>("lase::gated_change");
  return op.call(in.block, in.layout, in.columns, in.attributes, in.amplifier, in.links, in.terms,
                 baseline);
}

Tensor fused_sum(std::unique_ptr<Call> call, const GatedSumInput& in,
                 const GatedSumInput* baseline) {
  Tensor s;
  Tensor gate;
  if (baseline == nullptr) {
    std::tie(s, gate) = sum(call->lists());
  } else {
    GatedSumInput plain = *baseline;
    make_plain(plain);
    call->check(plain);
    require(plain.h.width() == in.h.width() && plain.h.size() == in.h.size() &&
                plain.u.defined() == in.u.defined() && plain.p.defined() == in.p.defined() &&
                plain.v.defined() == in.v.defined() && plain.amplifier == in.amplifier &&
                plain.links == in.links && (in.h.matrix.is_cpu() || !plain.v_h.defined()),
            "gated_change: the baseline must have the same shapes and options as the input");
    std::tie(s, gate) = change(call->lists(), terms(plain));
  }
  if (torch::autograd::compute_requires_grad(in.h.matrix, in.u, in.u_shift, in.p, in.q, in.v,
                                             in.v_h)) {
    auto node = make_node<GatedSumBackward>();
    node->set_next_edges(torch::autograd::collect_next_edges(in.h.matrix, in.u, in.u_shift, in.p,
                                                             in.q, in.v, in.v_h));
    node->call = std::move(call);
    node->gate = gate;
    node->to_h = RowsGradient(in.h);
    torch::autograd::set_history(s, node);
  }
  return s;
}

}  // namespace

Tensor gated_sum(const GatedSumInput& in, const Block& block) {
  auto call = fused(in, block);
  return call ? fused_sum(std::move(call), in, nullptr) : gated_sum_reference(in, block);
}

Tensor gated_change(const GatedSumInput& in, const GatedSumInput& baseline, const Block& block) {
  require(in.aggregate != Aggregate::kMax && in.aggregate == baseline.aggregate,
          "gated_change: expected the same aggregation, sum or mean, for both inputs");
  if (auto call = fused(in, block)) return fused_sum(std::move(call), in, &baseline);
  return gated_sum_reference(in, block) - gated_sum_reference(baseline, block).detach();
}

namespace {

// λ, or ‖λ h ⊙ a ⊙ factor‖ of every arc.
SumAndScores composed_scores(const GatedSumInput& in, const Block& block, Score score,
                             const Tensor& factor) {
  const Tensor s = gated_sum_reference(in, block);
  const Tensor gate = gates(in, block);
  if (score == Score::kGate) return {s, gate};
  Tensor x = in.h.dense().index_select(0, block.source) * gate.unsqueeze(1);  // [arcs, d]
  if (in.amplifier != Amplifier::kNone) x = x * amplifiers(in, block);
  if (factor.defined()) {
    const Tensor degree = block.row_ptr.slice(0, 1) - block.row_ptr.slice(0, 0, -1);
    const Tensor row = at::repeat_interleave(degree, block.arcs());
    x = x * factor.detach().index_select(0, row);
  }
  if (in.links) x = at::cat({x, gate.unsqueeze(1)}, 1);
  return {s, x.norm(2, 1)};
}

}  // namespace

SumAndScores gated_sum_with_scores(const GatedSumInput& in, const Block& block, Score score,
                                   const Tensor& factor) {
  using Signature = TwoTensors(const TensorList&, int64_t, int64_t, const TensorList&, int64_t,
                               bool, const TensorList&, bool, const MaybeTensor&);
  static const auto op = operator_named<Signature>("lase::gated_sum_scores");
  const Call call(in, block);
  const SumLists lists = call.lists();
  if (!fits(lists)) return composed_scores(call.in, block, score, factor);
  const Tensor plain = factor.defined() ? factor.detach().contiguous() : factor;
  auto [s, scores] =
      op.call(lists.block, lists.layout, lists.columns, lists.attributes, lists.amplifier,
              lists.links, lists.terms, score == Score::kNorm, maybe(plain));
  return {s, scores};
}

}  // namespace lase::ops
