#include <ATen/ATen.h>

#include "lase/model/layers/layers.h"
#include "lase/model/layers/neighborhood.h"
#include "lase/ops/linear.h"

namespace lase {
namespace {

using at::Tensor;
using ops::linear;  // x Wᵀ
using ops::Rows;

// One LASE-concat layer (section 3.1, with a gate and the node's own state added):
//
//   h'(u) = ReLU(W1 h(u) ∘ (W2 Σ λ h(v) + W3 Σ λ f(e)))
//
// W3 Σ λ f(e) is computed as the gated sum with h ≡ 1 and the linear amplifier W3 f(e).
class LaseConcat : public Layer {
 public:
  LaseConcat(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : combine_(combine_of(options)),
        attributes_(shape.attributes),
        neighborhood_(options, parameters, shape, ops::Amplifier::kNone),
        w1_(parameters.matrix(shape.name + ".w1", shape.out, shape.in)),
        w2_(parameters.matrix(shape.name + ".w2", shape.out, shape.in)),
        w3_(parameters.matrix(shape.name + ".w3", shape.out, shape.attributes)) {}

  Sums sums(const LayerInput& in) const override {
    Sums both = {neighborhood_.input(in, attributes_ == 0)};
    if (attributes_ > 0) {
      ops::GatedSumInput attributes = both[0];
      attributes.h = {at::ones({1, w3_.size(0)}, w3_.options()),
                      at::zeros({in.block.sources}, w3_.options().dtype(at::kLong))};
      attributes.amplifier = ops::Amplifier::kLinear;
      const ops::ScaledWeights scaled = in.links.scaled(w3_);
      attributes.u = scaled.w;
      attributes.u_shift = scaled.shift;
      both.push_back(attributes);
    }
    return both;
  }
  State update(const LayerInput& in, const Sums&, const SumValues& s) const override {
    Tensor sum = linear({s[0], {}}, w2_);  // [targets, out]
    if (attributes_ > 0) sum = sum + s[1];
    const Rows own = in.block.own(in.state.h);
    return {{relu_combined(combine_, linear(own, w1_, in.dropout), sum), {}}, {}};
  }

 private:
  Combine combine_;
  int64_t attributes_;
  Neighborhood neighborhood_;
  Tensor w1_, w2_, w3_;
};

}  // namespace

LayerType lase_concat() {
  return {.name = "concat",
          .title = "LASE-concat",
          .make = make<LaseConcat>,
          .out_width = combined_width,
          .reads_links = true,
          .combines = true,
          .takes_max = true,
          .unused = {"amplifier", "depth"}};
}

}  // namespace lase
