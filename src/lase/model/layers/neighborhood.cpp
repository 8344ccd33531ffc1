#include "lase/model/layers/neighborhood.h"

#include <ATen/ATen.h>

#include "lase/ops/concat_relu.h"
#include "lase/ops/row_dot.h"

namespace lase {

using at::Tensor;

Gate::Gate(Parameters& parameters, const std::string& name, int64_t width, int64_t attributes)
    : v_u_(parameters.matrix(name + ".gate.u", 1, width)),
      v_v_(parameters.matrix(name + ".gate.v", 1, width)),
      v_e_(parameters.matrix(name + ".gate.e", 1, attributes)),
      b_(parameters.zeros(name + ".gate.bias", 1)) {}

void Gate::set(ops::GatedSumInput& in, const Block& block, const LinkAttributes& links,
               bool only_sum) const {
  Tensor constant = b_;
  if (v_e_.size(1) > 0) {
    const ops::ScaledWeights scaled = links.scaled(v_e_);
    in.v = scaled.w.squeeze(0);
    if (scaled.shift.defined()) constant = constant + scaled.shift;
  }
  in.p = ops::row_dot(block.own(in.h), v_u_.squeeze(0)) + constant;
  const Tensor v_v = v_v_.squeeze(0);
  if (only_sum && ops::fuses_gate(in, block)) {
    in.v_h = v_v;
  } else {
    in.q = ops::row_dot(in.h, v_v);
  }
}

AmplifierMatrix::AmplifierMatrix(Parameters& parameters, const std::string& name, int64_t width,
                                 int64_t attributes)
    : u_(parameters.matrix(name + ".amplifier", width, attributes)) {}

void AmplifierMatrix::set(ops::GatedSumInput& in, const LinkAttributes& links) const {
  const ops::ScaledWeights scaled = links.scaled(u_);
  in.u = scaled.w;
  in.u_shift = scaled.shift;
}

Neighborhood::Neighborhood(const ModelOptions& options, Parameters& parameters,
                           const LayerShape& shape, ops::Amplifier amplifier)
    : aggregate_(options.aggregate),
      amplifier_(shape.attributes > 0 ? amplifier : ops::Amplifier::kNone) {
  if (options.gate)
    gate_ = std::make_unique<Gate>(parameters, shape.name, shape.in, shape.attributes);
  if (amplifier_ != ops::Amplifier::kNone) {
    matrix_ = std::make_unique<AmplifierMatrix>(parameters, shape.name, shape.in, shape.attributes);
  }
}

ops::GatedSumInput Neighborhood::input(const LayerInput& from, bool only_sum) const {
  ops::GatedSumInput in;
  in.h = from.state.h;
  in.f = &from.links.f;
  in.amplifier = amplifier_;
  in.aggregate = aggregate_;
  if (gate_) gate_->set(in, from.block, from.links, only_sum);
  if (matrix_) matrix_->set(in, from.links);
  return in;
}

ops::GatedSumInput plain_sum(const ops::Rows& h, ops::Aggregate aggregate) {
  ops::GatedSumInput in;
  in.h = h;
  in.amplifier = ops::Amplifier::kNone;
  in.aggregate = aggregate;
  return in;
}

Tensor relu_combined(Combine how, const Tensor& a, const Tensor& b) {
  switch (how) {
    case Combine::kAdd:
      return (a + b).relu();
    case Combine::kMultiply:
      return (a * b).relu();
    case Combine::kConcat:
      return ops::concat_relu(a, b);
  }
  return a;
}

int64_t combined_width(const ModelOptions& options, int64_t width) {
  return combine_of(options) == Combine::kConcat ? 2 * width : width;
}

}  // namespace lase
