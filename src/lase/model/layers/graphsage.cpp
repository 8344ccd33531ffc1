#include <ATen/ATen.h>

#include "lase/model/layers/layers.h"
#include "lase/model/layers/neighborhood.h"
#include "lase/ops/linear.h"

namespace lase {
namespace {

using at::Tensor;
using ops::linear;  // x Wᵀ
using ops::Rows;

// GraphSAGE with the mean aggregator (Hamilton et al. 2017); ignores link attributes.
//
//   h'(u) = ReLU(W1 h(u) ∘ W2 mean_{v ∈ N(u)} h(v))
class GraphSage : public Layer {
 public:
  GraphSage(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : combine_(combine_of(options)),
        w1_(parameters.matrix(shape.name + ".w1", shape.out, shape.in)),
        w2_(parameters.matrix(shape.name + ".w2", shape.out, shape.in)) {}

  Sums sums(const LayerInput& in) const override {
    return {plain_sum(in.state.h, ops::Aggregate::kMean)};
  }
  State update(const LayerInput& in, const Sums&, const SumValues& mean) const override {
    const Rows own = in.block.own(in.state.h);
    const Tensor h =
        relu_combined(combine_, linear(own, w1_, in.dropout), linear({mean[0], {}}, w2_));
    return {{h, {}}, {}};
  }

 private:
  Combine combine_;
  Tensor w1_, w2_;
};

}  // namespace

LayerType graphsage() {
  return {.name = "graphsage",
          .title = "GraphSAGE",
          .make = make<GraphSage>,
          .out_width = combined_width,
          .combines = true,
          .unused = {"amplifier", "aggregate", "gate", "depth"}};
}

}  // namespace lase
