#include <ATen/ATen.h>

#include "lase/model/layers/layers.h"
#include "lase/model/layers/neighborhood.h"
#include "lase/ops/linear.h"

namespace lase {
namespace {

using at::Tensor;
using ops::Amplifier;
using ops::GatedSumInput;
using ops::linear;  // x Wᵀ
using ops::Rows;

// One layer of the default model, which goes beyond the paper (docs/design.md): the gate λ(u,v) of
// LASE-SAGE is normalized over the neighborhood, and link attributes have a channel of their own.
//
//   a(e)  = U f(e) + c                            amplifier
//   z(u)  = Σ_{v ∈ N(u)} λ(u,v)                   normalizer of the gate
//   s(u)  = 1/z(u) Σ λ(u,v) h(v) ⊙ a(e)
//   r(u)  = 1/z(u) Σ λ(u,v) f(e)                  link channel
//   h'(u) = ReLU(W1 h(u) ∘ (W2 s(u) + W3 r(u) + b))
//
// The amplifier may also be none, or a(e) = σ(U f(e) + c): then s(u) also has the sums of a(e) for
// constants in place of h(v), a nonlinear channel for link attributes, and W2 their columns.
class Lase : public Layer {
 public:
  Lase(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : combine_(combine_of(options)),
        amplifier_(shape.attributes > 0 ? amplifier_of(options) : Amplifier::kNone),
        width_(shape.in),
        fused_(shape.attributes <= kMostFused),
        neighborhood_(averaged(options), parameters, shape, Amplifier::kNone),
        w1_(parameters.matrix(shape.name + ".w1", shape.out, shape.in)),
        w2_(parameters.matrix(shape.name + ".w2", shape.out, shape.in)),
        b_(parameters.zeros(shape.name + ".bias", shape.out)) {
    if (shape.attributes == 0) return;
    w3_ = parameters.matrix(shape.name + ".w3", shape.out, shape.attributes);
    if (amplifier_ == Amplifier::kNone) return;
    // A linear amplifier starts from a(e) ≈ 1, so that h(v) passes through it.
    const double c = amplifier_ == Amplifier::kLinear ? 1 : 0;
    u_ = parameters.matrix(shape.name + ".amplifier", shape.in, shape.attributes);
    c_ = parameters.constant(shape.name + ".amplifier.bias", shape.in, c);
    if (amplifier_ != Amplifier::kSigmoid) return;  // a linear one would repeat the link channel
    u_ones_ = parameters.matrix(shape.name + ".ones", kConstants, shape.attributes);
    c_ones_ = parameters.zeros(shape.name + ".ones.bias", kConstants);
    w2_ones_ = parameters.matrix(shape.name + ".w2.ones", shape.out, kConstants);
  }

  // Σ λ [h(v) ⊙ a(e); 1; f(e)]. With many attributes, Σ λ f(e) would be wider than W3 f(e), and the
  // sums are Σ λ h(v) ⊙ a(e), Σ λ and Σ λ W3 f(e). Then, Σ λ a(e) of the constants.
  Sums sums(const LayerInput& in) const override {
    const GatedSumInput gated = neighborhood_.input(in, fused_ && !u_ones_.defined());
    Sums all = {gated};
    if (u_.defined()) amplify(all[0], amplifier_, in.links, u_, c_);
    all[0].links = fused_;
    if (!fused_) {
      all.push_back(of_constants(gated, in.block, 1));
      all.push_back(of_constants(gated, in.block, w3_.size(0)));
      amplify(all.back(), Amplifier::kLinear, in.links, w3_, {});
    }
    if (u_ones_.defined()) {
      all.push_back(of_constants(gated, in.block, kConstants));
      amplify(all.back(), amplifier_, in.links, u_ones_, c_ones_);
    }
    return all;
  }

  std::optional<Normalizer> normalizer() const override {
    return fused_ ? Normalizer{0, width_} : Normalizer{1, 0};
  }

  State update(const LayerInput& in, const Sums&, const SumValues& sum) const override {
    const Normalizer at = *normalizer();
    const Tensor z = sum[at.sum].narrow(1, at.column, 1);      // [targets, 1]
    const Tensor scale = z.clamp_min(kSmallest).reciprocal();  // z(u) = 0 without neighbors
    Tensor s = linear({sum[0].narrow(1, 0, width_) * scale, {}}, w2_) + b_;  // [targets, out]
    if (!fused_) s = s + sum[2] * scale;
    if (fused_ && w3_.defined()) {
      const auto [w3, shift] = in.links.scaled(w3_);
      const Tensor r = sum[0].narrow(1, width_ + 1, w3.size(1)) * scale;  // [targets, k]
      s = s + linear({r, {}}, w3);
      if (shift.defined()) s = s + shift * (z * scale);
    }
    if (u_ones_.defined()) s = s + linear({sum.back() * scale, {}}, w2_ones_);
    const Rows own = in.block.own(in.state.h);
    return {{relu_combined(combine_, linear(own, w1_, in.dropout), s), {}}, {}};
  }

 private:
  static constexpr int64_t kConstants = 32;
  static constexpr int64_t kMostFused = 256;  // attributes
  static constexpr double kSmallest = 1e-6;

  // Averages over neighborhoods, which makes the sums of a similar size for all degrees. Their
  // ratios do not change.
  static ModelOptions averaged(ModelOptions options) {
    options.aggregate = ops::Aggregate::kMean;
    return options;
  }

  // The same sum with 1 in place of h(v).
  GatedSumInput of_constants(GatedSumInput sum, const Block& block, int64_t width) const {
    sum.h = {at::ones({1, width}, w1_.options().requires_grad(false)),
             at::zeros({block.sources}, w1_.options().dtype(at::kLong))};
    return sum;
  }

  // a(e) = act(U f(e) + c)
  static void amplify(GatedSumInput& sum, Amplifier how, const LinkAttributes& links,
                      const Tensor& u, const Tensor& c) {
    sum.amplifier = how;
    const auto [scaled, shift] = links.scaled(u);
    sum.u = scaled;
    sum.u_shift = shift.defined() && c.defined() ? shift + c : shift.defined() ? shift : c;
  }

  Combine combine_;
  Amplifier amplifier_;
  int64_t width_;              // of h(v)
  bool fused_;                 // sums over f(e) come from the same pass
  Neighborhood neighborhood_;  // the gate
  Tensor w1_, w2_, b_;
  Tensor w3_;                         // undefined without link attributes
  Tensor u_, c_;                      // undefined without an amplifier
  Tensor u_ones_, c_ones_, w2_ones_;  // undefined unless the amplifier is a sigmoid
};

}  // namespace

LayerType lase_layer() {
  return {.name = "lase",
          .title = "LASE",
          .make = make<Lase>,
          .out_width = combined_width,
          .combine = Combine::kConcat,
          .amplifier = Amplifier::kLinear,
          .reads_links = true,
          .combines = true,
          .cost = 2,
          .unused = {"aggregate", "depth"}};
}

}  // namespace lase
