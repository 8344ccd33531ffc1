#include <ATen/ATen.h>

#include "lase/model/layers/layers.h"
#include "lase/model/layers/neighborhood.h"
#include "lase/ops/linear.h"

namespace lase {
namespace {

using at::Tensor;
using ops::linear;  // x Wᵀ

// A graph convolution (Kipf and Welling 2017) with D̃ = D + I; ignores link attributes.
//
//   h'(u) = ReLU(Σ_{v ∈ N(u) ∪ {u}} W h(v) / √(d̃(u) d̃(v)))
//
// The last layer has no activation.
class Gcn : public Layer {
 public:
  Gcn(const ModelOptions&, Parameters& parameters, const LayerShape& shape)
      : last_(shape.last),
        w_(parameters.matrix(shape.name + ".w", shape.out, shape.in)),
        b_(parameters.zeros(shape.name + ".bias", shape.out)) {}

  // h(v) W / √d̃(v)
  Sums sums(const LayerInput& in) const override {
    return {plain_sum({linear(in.state.h, w_, in.dropout) * inverse_root_degree(in.block), {}},
                      ops::Aggregate::kSum)};
  }
  State update(const LayerInput& in, const Sums& sums, const SumValues& s) const override {
    const Tensor own = in.block.own(sums[0].h).dense();
    const Tensor norm = in.block.own(inverse_root_degree(in.block));
    const Tensor h = (s[0] + own) * norm + b_;
    return {{last_ ? h : h.relu(), {}}, {}};
  }

 private:
  static Tensor inverse_root_degree(const Block& block) {
    return (block.degree + 1).rsqrt().unsqueeze(1);
  }
  bool last_;
  Tensor w_, b_;
};

}  // namespace

LayerType gcn() {
  return {.name = "gcn",
          .title = "GCN",
          .make = make<Gcn>,
          .widths =
              [](const ModelOptions& options, int64_t outputs) {
                std::vector<int64_t> widths = options.widths;
                widths.push_back(outputs);
                return widths;
              },
          .steady = false,  // applies dropout inside its sums
          .transforms_first = true,
          .normalizes = false,
          .has_head = false,
          .unused = {"combine", "amplifier", "aggregate", "gate", "depth", "normalize"}};
}

}  // namespace lase
