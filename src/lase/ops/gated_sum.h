#pragma once

#include <ATen/core/Tensor.h>

#include "lase/ops/aggregate.h"
#include "lase/ops/attribute_product.h"
#include "lase/ops/block.h"
#include "lase/ops/rows.h"

namespace lase::ops {

// Inputs of the sum over a neighborhood. Tensors may be undefined.
struct GatedSumInput {
  Rows h;                               // [sources, d]
  const AttributeTensors* f = nullptr;  // f(e)
  Amplifier amplifier = Amplifier::kSigmoid;
  Aggregate aggregate = Aggregate::kSum;
  bool links = false;  // append the sums of 1 and f(e); not with kMax
  at::Tensor u;        // U [d, k]
  at::Tensor u_shift;  // [d]: added to U f(e)
  at::Tensor p;        // [targets]: the gate's term for u, including the bias; undefined: no gate
  at::Tensor q;        // [sources]: the gate's term for v
  at::Tensor v;        // V_e [k]: the gate's weights for f(e)
  at::Tensor v_h;      // V_v [d]: the gate's weights for h(v), in place of q; see fuses_gate()

  // Width of the sum: d, or d + 1 + k with links.
  int64_t width() const {
    if (!links) return h.width();
    return h.width() + 1 + (f == nullptr ? 0 : f->columns);
  }
};

// The aggregation shared by all architectures:
//
//   s(u) = Σ_i w_i λ_i h(v_i) ⊙ a(e_i)        [targets, d]
//   λ_i  = σ(p_u + q_v + V_e f(e))            1 without a gate; q_v = ⟨V_v, h(v)⟩
//   a(e) = σ(U f(e)), U f(e), or 1            selected by the amplifier
//
// With `links`, the terms are λ_i [h(v_i) ⊙ a(e_i); 1; f(e_i)], and s(u) has d + 1 + k columns.
//
// kMean divides by |N(u)|, even if the arcs are a sample of N(u); kMax takes the elementwise
// maximum of the terms instead of the sum. Rows without arcs are zero.
//
// Sums and means in float32 use the fused kernel, which allocates no array of size arcs × d; the
// other cases are composed of torch operations.
at::Tensor gated_sum(const GatedSumInput& in, const Block& block);

// The same, composed of torch operations: the reference for tests and benchmarks.
at::Tensor gated_sum_reference(const GatedSumInput& in, const Block& block);

// The sum of changes, Σ_i w_i (x_i − x̃_i), with the terms x̃ of `baseline`: a sampled correction to
// the exact baseline sum. Each link is visited once for both; gradients flow only through x. Not
// for kMax.
at::Tensor gated_change(const GatedSumInput& in, const GatedSumInput& baseline, const Block& block);

// A score that sampling probabilities can be proportional to: the gate λ of an arc, or the norm of
// its term, ‖λ_i h(v_i) ⊙ a(e_i) ⊙ factor(u)‖, which minimizes the variance of independent samples.
enum class Score : uint8_t { kGate, kNorm };

// s(u) and the score of every arc, [arcs], in one pass over the links. `factor` [targets, d] may be
// undefined. The results have no autograd history.
struct SumAndScores {
  at::Tensor s;
  at::Tensor score;
};
SumAndScores gated_sum_with_scores(const GatedSumInput& in, const Block& block, Score score,
                                   const at::Tensor& factor = {});

// λ [arcs] and a(e) [arcs, d] of the same input, for inspection.
at::Tensor gates(const GatedSumInput& in, const Block& block);
at::Tensor amplifiers(const GatedSumInput& in, const Block& block);

// Whether sums and means over links with this many attributes use the fused kernel of the device.
bool fuses(const at::Device& device, int64_t attributes);

// Whether the gate's terms q_v = ⟨V_v, h(v)⟩ are computed faster for each arc within the sum, where
// h(v) is read anyway, than once for each source before it. Not if h needs a gradient.
bool fuses_gate(const GatedSumInput& in, const Block& block);

// Replaces gated_sum with gated_sum_reference on this thread during its lifetime.
class UseReference {
 public:
  UseReference();
  UseReference(const UseReference&) = delete;
  UseReference& operator=(const UseReference&) = delete;
  ~UseReference();

 private:
  bool previous_;
};

}  // namespace lase::ops
