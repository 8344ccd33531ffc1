#include <ATen/ATen.h>

#include "lase/ops/gated_sum.h"
#include "lase/ops/library.h"
#include "lase/ops/row_dot.h"

namespace lase::ops {

using at::Tensor;

namespace {

// int64 [arcs]: the target of each arc.
Tensor row_of_arcs(const Block& block) {
  return at::repeat_interleave(block.row_ptr.slice(0, 1) - block.row_ptr.slice(0, 0, -1));
}

// λ and a(e), each undefined if it is 1. V_e is appended to U as one more row, so that f(e) is read
// once.
struct Terms {
  Tensor gate;       // [arcs]
  Tensor amplifier;  // [arcs, d]
};

Terms terms(const GatedSumInput& in, const Block& block) {
  const bool amplified = in.amplifier != Amplifier::kNone;
  Tensor matrix;  // [U; V_e]: [d + 1, k], or only one of them
  if (amplified && in.v.defined()) {
    matrix = at::cat({in.u, in.v.unsqueeze(0)});
  } else if (amplified) {
    matrix = in.u;
  } else if (in.v.defined()) {
    matrix = in.v.unsqueeze(0);
  }
  Terms result;
  Tensor product;
  if (matrix.defined()) product = attribute_product(*in.f, block.link, matrix);
  if (amplified) {
    Tensor a = product.narrow(1, 0, in.u.size(0));
    if (in.u_shift.defined()) a = a + in.u_shift;
    result.amplifier = in.amplifier == Amplifier::kSigmoid ? a.sigmoid() : a;
  }
  if (in.p.defined()) {
    const Tensor q = in.q.defined() ? in.q : row_dot(in.h, in.v_h);
    Tensor z = in.p.index_select(0, row_of_arcs(block)) + q.index_select(0, block.source);
    if (in.v.defined()) z = z + product.select(1, product.size(1) - 1);
    result.gate = z.sigmoid();
  }
  return result;
}

// The elementwise maximum of the terms x [arcs, d] of each row: [targets, d]. (torch's own
// scatter_reduce prints a beta warning.)
Tensor largest(const Tensor& x, const Block& block) {
  using Signature = Tensor(const Tensor&, const Tensor&);
  static const auto op = operator_named<Signature>("lase::largest_arcs");
  // [targets, d]; targets without arcs select the row of zeros at position `arcs`.
  const Tensor argmax = op.call(x.detach(), block.row_ptr);
  const int64_t d = x.size(1);
  return at::cat({x, at::zeros({1, d}, x.options())}).gather(0, argmax);
}

}  // namespace

Tensor gates(const GatedSumInput& in, const Block& block) {
  const Tensor gate = terms(in, block).gate;
  return gate.defined() ? gate : at::ones({block.arcs()}, in.h.matrix.options());
}

Tensor amplifiers(const GatedSumInput& in, const Block& block) {
  const Tensor a = terms(in, block).amplifier;
  return a.defined() ? a : at::ones({block.arcs(), in.h.width()}, in.h.matrix.options());
}

Tensor gated_sum_reference(const GatedSumInput& in, const Block& block) {
  const auto [gate, amplifier] = terms(in, block);
  Tensor x = in.h.dense().index_select(0, block.source);  // [arcs, d]
  if (amplifier.defined()) x = x * amplifier;
  if (in.links) {
    x = at::cat({x, at::ones({block.arcs(), 1}, x.options())}, 1);
    const bool attributed = in.f != nullptr && in.f->columns > 0;
    if (attributed) x = at::cat({x, attribute_rows(*in.f, block.link).to(x.scalar_type())}, 1);
  }
  if (in.aggregate == Aggregate::kMax) {
    if (gate.defined()) x = x * gate.unsqueeze(1);
    return largest(x, block);
  }
  const Tensor row = row_of_arcs(block);
  Tensor scale = block.weight.defined() ? block.weight.to(x.scalar_type())
                                        : at::ones({block.arcs()}, x.options());  // [arcs]
  if (in.aggregate == Aggregate::kMean) {
    const Tensor size = block.own(block.degree).to(x.scalar_type());  // |N(u)|
    scale = scale / size.index_select(0, row);
  }
  if (gate.defined()) scale = scale * gate;
  return at::zeros({block.targets(), x.size(1)}, x.options())
      .index_add(0, row, x * scale.unsqueeze(1));
}

}  // namespace lase::ops
