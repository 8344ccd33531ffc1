#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/model/layers/layers.h"
#include "lase/model/layers/neighborhood.h"
#include "lase/ops/linear.h"
#include "lase/ops/sigmoid.h"

namespace lase {
namespace {

using at::Tensor;
using ops::linear;  // x Wᵀ

// One relabeling of LASE-WL (section 3.3):
//
//   r'(u) = σ(P1 r(u) + P2 Σ_{v ∈ N(u)} σ(Q r(v)))
//
// The parameters are √d P1, √d P2 and √d Q for d features. Adam moves each of the d weights of a
// sum by the learning rate; without the factor, a few steps would saturate the sigmoids.
//
// The layers above read 2 r(u) − 1 of the last relabeling, as they read standardized f(u): weights
// and constants absorb the difference. With r(u) itself, whose entries are all near ½, a step moves
// the products of all nodes in the same direction, and training fails with a high learning rate.
class Relabeling : public Layer {
 public:
  Relabeling(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : last_(shape.last),
        aggregate_(options.aggregate),
        root_(std::sqrt(static_cast<double>(std::max<int64_t>(1, shape.in)))),
        p1_(parameters.matrix(shape.name + ".p1", shape.out, shape.in, root_)),
        p2_(parameters.matrix(shape.name + ".p2", shape.out, shape.in, root_)),
        q_(parameters.matrix(shape.name + ".q", shape.out, shape.in, root_)) {}

  Sums sums(const LayerInput& in) const override {
    return {plain_sum({ops::sigmoid(linear(in.state.f, q_ / root_)), {}}, aggregate_)};
  }
  State update(const LayerInput& in, const Sums&, const SumValues& s) const override {
    const Tensor r =
        linear(in.block.own(in.state.f), p1_ / root_) + linear({s[0], {}}, p2_ / root_);
    const Tensor relabeled = ops::sigmoid(r);
    return {{}, {last_ ? 2 * relabeled - 1 : relabeled, {}}};
  }

 private:
  bool last_;
  ops::Aggregate aggregate_;
  double root_;  // √d
  Tensor p1_, p2_, q_;
};

std::vector<std::string> relabelings(const ModelOptions& options) {
  std::vector<std::string> names;
  for (int64_t d = 1; d <= options.depth; ++d) names.push_back(join("relabeling", d));
  return names;
}

}  // namespace

// LASE-RW with r(u), the features after `depth` relabelings, in place of f(u).
LayerType lase_wl() {
  LayerType type = lase_rw();
  type.name = "wl";
  type.title = "LASE-WL";
  type.feature_layers = relabelings;
  type.make_feature_layer = make<Relabeling>;
  type.unused = {"combine", "input_dropout"};
  type.cost = 4;  // relabeling reads every link twice and all node features
  return type;
}

}  // namespace lase
