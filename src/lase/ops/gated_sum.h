#pragma once

#include <ATen/core/Tensor.h>

#include "lase/ops/attribute_product.h"
#include "lase/ops/block.h"

namespace lase::ops {

enum class Amplifier : uint8_t { kSigmoid, kLinear, kNone };
enum class Aggregate : uint8_t { kSum, kMean, kMax };

// What the sum over a neighbourhood is made of; undefined tensors are left out.
struct GatedSumInput {
  at::Tensor h;                         // [sources, d]
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
// kMean divides by Σ w, which is |N(u)| for a whole neighbourhood and in expectation for a draw;
// kMax takes the largest term in each dimension instead of the sum. Rows without arcs are zero.
at::Tensor gated_sum(const GatedSumInput& in, const Block& block);

// λ [arcs] and a(e) [arcs, d] of the same input, for those who look inside.
at::Tensor gates(const GatedSumInput& in, const Block& block);
at::Tensor amplifiers(const GatedSumInput& in, const Block& block);

}  // namespace lase::ops
