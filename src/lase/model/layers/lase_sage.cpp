#include <ATen/ATen.h>

#include "lase/model/layers/layers.h"
#include "lase/model/layers/neighborhood.h"
#include "lase/ops/linear.h"

namespace lase {
namespace {

using at::Tensor;
using ops::linear;  // x Wᵀ
using ops::Rows;

// One LASE-SAGE layer (section 3.3), from h = h^(l−1) to h' = h^(l):
//
//   λ(u,v) = σ(V [h(u), f(e), h(v)] + b)            gate
//   a(e)   = σ(U f(e))                              amplifier
//   s(u)   = Σ_{v ∈ N(u)} λ(u,v) h(v) ⊙ a(e)        aggregator
//   h'(u)  = ReLU(W1 h(u) ∘ W2 s(u))
class LaseSage : public Layer {
 public:
  LaseSage(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : combine_(combine_of(options)),
        neighborhood_(options, parameters, shape, amplifier_of(options)),
        w1_(parameters.matrix(shape.name + ".w1", shape.out, shape.in)),
        w2_(parameters.matrix(shape.name + ".w2", shape.out, shape.in)) {}

  Sums sums(const LayerInput& in) const override {
    return {neighborhood_.input(in, /*only_sum=*/true)};
  }
  State update(const LayerInput& in, const Sums&, const SumValues& s) const override {
    const Rows own = in.block.own(in.state.h);  // [targets, in]
    const Tensor h = relu_combined(combine_, linear(own, w1_, in.dropout), linear({s[0], {}}, w2_));
    return {{h, {}}, {}};
  }

 private:
  Combine combine_;
  Neighborhood neighborhood_;
  Tensor w1_, w2_;
};

}  // namespace

LayerType lase_sage() {
  return {.name = "sage",
          .title = "LASE-SAGE",
          .make = make<LaseSage>,
          .out_width = combined_width,
          .reads_links = true,
          .combines = true,
          .takes_max = true,
          .unused = {"depth"}};
}

}  // namespace lase
