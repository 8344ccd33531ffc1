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
//   a(e)  = U f(e) + c                                amplifier
//   z(u)  = Σ_{v ∈ N(u)} λ(u,v)                       normalizer of the gate
//   s(u)  = 1/z(u) Σ λ(u,v) [h(v); 1…1] ⊙ a(e)        W2 is split into the parts of h(v) and 1…1
//   r(u)  = 1/z(u) Σ λ(u,v) f(e)                      link channel
//   h'(u) = ReLU(W1 h(u) ∘ (W2 s(u) + W3 r(u) + b))
//
// The amplifier may also be σ(U f(e) + c), or none: then the terms of s(u) are λ(u,v) h(v).
class Lase : public Layer {
 public:
  Lase(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : combine_(options.combine),
        amplifier_(shape.attributes > 0 ? amplifier_of(options) : Amplifier::kNone),
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
    if (options.link_width == 0) return;
    u_ones_ = parameters.matrix(shape.name + ".ones", options.link_width, shape.attributes);
    c_ones_ = parameters.zeros(shape.name + ".ones.bias", options.link_width);
    w2_ones_ = parameters.matrix(shape.name + ".w2.ones", shape.out, options.link_width);
  }

  // Σ λ h(v) ⊙ a(e), z, W3 Σ λ f(e), and Σ λ a(e) of the constants; the last two if they exist.
  Sums sums(const LayerInput& in) const override {
    const GatedSumInput gated = neighborhood_.input(in);
    Sums all = {gated, gated};
    if (u_.defined()) amplify(all[0], in.links, amplifier_, u_, c_);
    all[kNormalizer].h = ones(in, 1);
    if (w3_.defined()) {
      all.push_back(gated);
      all.back().h = ones(in, w3_.size(0));
      amplify(all.back(), in.links, Amplifier::kLinear, w3_, {});
    }
    if (u_ones_.defined()) {
      all.push_back(gated);
      all.back().h = ones(in, u_ones_.size(0));
      amplify(all.back(), in.links, amplifier_, u_ones_, c_ones_);
    }
    return all;
  }

  std::optional<size_t> normalizer() const override { return kNormalizer; }

  State update(const LayerInput& in, const Sums&, const SumValues& sum) const override {
    // z(u) is 0 without neighbors.
    const Tensor scale = sum[kNormalizer].clamp_min(kSmallest).reciprocal();  // [targets, 1]
    Tensor s = linear({sum[0] * scale, {}}, w2_) + b_;                        // [targets, out]
    if (w3_.defined()) s = s + sum[2] * scale;
    if (u_ones_.defined()) s = s + linear({sum[3] * scale, {}}, w2_ones_);
    const Rows own = in.state.h.at(in.block.target);
    return {{relu_combined(combine_, linear(own, w1_, in.dropout), s), {}}, {}};
  }

 private:
  static constexpr size_t kNormalizer = 1;
  static constexpr double kSmallest = 1e-6;

  // Averages over neighborhoods, which makes the sums of a similar size for all degrees. Their
  // ratios do not change.
  static ModelOptions averaged(ModelOptions options) {
    options.aggregate = ops::Aggregate::kMean;
    return options;
  }
  // A row of ones for every source: [sources, width], stored once.
  Rows ones(const LayerInput& in, int64_t width) const {
    const Tensor first = at::zeros({in.block.sources}, w1_.options().dtype(at::kLong));
    return {at::ones({1, width}, w1_.options().requires_grad(false)), first};
  }
  // a(e) = act(U f(e) + c); c undefined: 0
  static void amplify(GatedSumInput& sum, const LinkAttributes& links, Amplifier amplifier,
                      const Tensor& u, const Tensor& c) {
    sum.amplifier = amplifier;
    sum.u = links.scaled(u);
    const Tensor shift = links.shift(sum.u);
    sum.u_shift = shift.defined() && c.defined() ? shift + c : shift.defined() ? shift : c;
  }

  Combine combine_;
  Amplifier amplifier_;
  Neighborhood neighborhood_;  // the gate
  Tensor w1_, w2_, b_;
  Tensor w3_;                         // undefined without link attributes
  Tensor u_, c_;                      // undefined without an amplifier
  Tensor u_ones_, c_ones_, w2_ones_;  // undefined without constants
};

}  // namespace

LayerType lase_layer() {
  return {.name = "lase",
          .title = "LASE",
          .make = make<Lase>,
          .out_width = combined_width,
          .amplifier = Amplifier::kLinear,
          .reads_links = true,
          .combines = true,
          .cost = 3,
          .unused = {"aggregate", "depth"}};
}

}  // namespace lase
