#pragma once

#include <ATen/core/Tensor.h>

#include "lase/ops/aggregate.h"
#include "lase/ops/attribute_product.h"
#include "lase/ops/block.h"
#include "lase/ops/rows.h"

namespace lase::ops {

// What the sum over a neighbourhood is made of; undefined tensors are left out.
struct GatedSumInput {
  Rows h;                               // [sources, d]
  const AttributeTensors* f = nullptr;  // f(e)
  Amplifier amplifier = Amplifier::kSigmoid;
  Aggregate aggregate = Aggregate::kSum;
  at::Tensor u;        // U [d, k]
  at::Tensor u_shift;  // [d]: added to U f(e)
  at::Tensor p;        // [targets]: the gate's term of u, with its bias; undefined: no gate
  at::Tensor q;        // [sources]: the gate's term of v
  at::Tensor v;        // V_e [k]: the gate's weights of f(e)
};

// The one operation of every architecture:
//
//   s(u) = Σ_i w_i λ_i h(v_i) ⊙ a(e_i)        [targets, d]
//   λ_i  = σ(p_u + q_v + V_e f(e))            1 without a gate
//   a(e) = σ(U f(e)), U f(e), or 1            by the amplifier
//
// kMean divides by |N(u)|, of which the arcs may be a draw; kMax takes the largest term in each
// dimension instead of the sum. Rows without arcs are zero.
//
// Sums and means in single precision are taken by the fused kernel, which makes no array of arcs ×
// d; the rest is composed of torch's operations.
at::Tensor gated_sum(const GatedSumInput& in, const Block& block);

// The same composed of torch's operations alone: what the fused kernel is checked and measured
// against.
at::Tensor gated_sum_reference(const GatedSumInput& in, const Block& block);

// The sum of changes, Σ_i w_i (x_i − x̃_i) with the terms x̃ of `before`: what a draw adds to an
// exact sum of those. Each link is visited once for both; gradients flow through x alone. Not for
// kMax.
at::Tensor gated_change(const GatedSumInput& in, const GatedSumInput& before, const Block& block);

// What an arc may be drawn in proportion to: its gate λ, or the norm of its term,
// ‖λ_i h(v_i) ⊙ a(e_i) ⊙ factor(u)‖, which gives independent draws the least variance.
enum class Score : uint8_t { kGate, kNorm };

// s(u), and the score of every arc, [arcs], from one visit of each link. `factor` [targets, d] may
// be undefined. Without a history.
struct SumAndScores {
  at::Tensor s;
  at::Tensor score;
};
SumAndScores gated_sum_with_scores(const GatedSumInput& in, const Block& block, Score score,
                                   const at::Tensor& factor = {});

// λ [arcs] and a(e) [arcs, d] of the same input, for those who look inside.
at::Tensor gates(const GatedSumInput& in, const Block& block);
at::Tensor amplifiers(const GatedSumInput& in, const Block& block);

// While one lives, gated_sum in this thread is gated_sum_reference.
class UseReference {
 public:
  UseReference();
  UseReference(const UseReference&) = delete;
  UseReference& operator=(const UseReference&) = delete;
  ~UseReference();

 private:
  bool before_;
};

}  // namespace lase::ops
