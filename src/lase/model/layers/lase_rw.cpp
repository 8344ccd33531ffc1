#include <ATen/ATen.h>
#include <algorithm>

#include "lase/base/error.h"
#include "lase/model/layers/layers.h"
#include "lase/model/layers/neighborhood.h"
#include "lase/ops/linear.h"

namespace lase {
namespace {

using at::Tensor;
using ops::linear;  // x Wᵀ

// One LASE-RW layer in the walk form (the recursion printed in the paper sums over stars; see
// docs/design.md):
//
//   s(u)  = Σ_{v ∈ N(u)} λ(u,v) h(v) ⊙ a(e)
//   h'(u) = s(u) ⊙ W f(u)
//
// Here, f(u) includes a constant feature 1, whose weights start from 1: a product of factors near 1
// passes states on, whereas one of factors around 0 has random signs and trains poorly.
class LaseRw : public Layer {
 public:
  LaseRw(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : neighborhood_(options, parameters, shape, amplifier_of(options)),
        w_(parameters.matrix(shape.name + ".w", shape.out, shape.features)),
        b_(parameters.constant(shape.name + ".bias", shape.out, 1)) {}

  Sums sums(const LayerInput& in) const override {
    return {neighborhood_.input(in, /*only_sum=*/true)};
  }
  State update(const LayerInput& in, const Sums&, const SumValues& s) const override {
    return {{s[0] * factor(in), {}}, in.block.own(in.state.f)};
  }
  Tensor factor(const LayerInput& in) const override {
    return linear(in.block.own(in.state.f), w_, in.dropout) + b_;
  }

 private:
  Neighborhood neighborhood_;
  Tensor w_, b_;
};

void check(const ModelOptions& options) {
  const auto& widths = options.widths;
  require_option(
      std::count(widths.begin(), widths.end(), widths[0]) == static_cast<int64_t>(widths.size()),
      OptionName{"widths"}, ": all widths must be equal, because the layers of ", options.model,
      " multiply elementwise");
  require_option(options.project.value_or(0) == 0, OptionName{"project"}, ": not supported by ",
                 options.model, ", which always projects node features to the width given by ",
                 OptionName{"widths"});
}

}  // namespace

LayerType lase_rw() {
  return {.name = "rw",
          .title = "LASE-RW",
          .make = make<LaseRw>,
          .rereads_features = true,
          .reads_links = true,
          .takes_max = true,
          .unused = {"combine", "depth", "input_dropout"},
          .check = check};
}

}  // namespace lase
