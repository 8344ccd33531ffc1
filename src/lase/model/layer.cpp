#include "lase/model/layer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "lase/ops/linear.h"
#include "lase/ops/row_dot.h"

namespace lase {

using at::Tensor;

Tensor LinkAttributes::scaled(const Tensor& weights) const { return weights * scale; }

Tensor LinkAttributes::shift(const Tensor& scaled_weights) const {
  return -scaled_weights.matmul(mean);
}

Gate::Gate(Parameters& parameters, const std::string& name, int64_t width, int64_t attributes)
    : v_u_(parameters.matrix(name + ".gate.u", 1, width)),
      v_v_(parameters.matrix(name + ".gate.v", 1, width)),
      v_e_(parameters.matrix(name + ".gate.e", 1, attributes)),
      b_(parameters.zeros(name + ".gate.bias", 1)) {}

void Gate::set(ops::GatedSumInput& in, const Block& block, const LinkAttributes& links) const {
  in.p = ops::row_dot(in.h.at(block.target), v_u_.squeeze(0)) + b_;
  in.q = ops::row_dot(in.h, v_v_.squeeze(0));
  if (v_e_.size(1) == 0) return;
  in.v = links.scaled(v_e_).squeeze(0);
  in.p = in.p + links.shift(in.v);
}

AmplifierMatrix::AmplifierMatrix(Parameters& parameters, const std::string& name, int64_t width,
                                 int64_t attributes)
    : u_(parameters.matrix(name + ".amplifier", width, attributes)) {}

void AmplifierMatrix::set(ops::GatedSumInput& in, const LinkAttributes& links) const {
  in.u = links.scaled(u_);
  in.u_shift = links.shift(in.u);
}

State Layer::forward(const LayerInput& in) const {
  const auto parts = sums(in);
  std::vector<Tensor> s;
  for (const auto& part : parts) s.push_back(ops::gated_sum(part, in.block));
  return update(in, parts, s);
}

State Layer::forward(const LayerInput& in, const Layer& then, const PastLayer& past) const {
  const auto parts = sums(in);
  return update(in, parts, estimate(parts, in, then, past));
}

std::vector<Tensor> Layer::estimate(const std::vector<ops::GatedSumInput>& parts,
                                    const LayerInput& in, const Layer& then,
                                    const PastLayer& past) const {
  std::vector<ops::GatedSumInput> before;
  {
    c10::NoGradGuard constant;
    before = then.sums({past.state, in.block, in.links, {}});
  }
  std::vector<Tensor> s;
  for (size_t i = 0; i < parts.size(); ++i) {
    s.push_back(past.sums[i] + ops::gated_change(parts[i], before[i], in.block));
  }
  return s;
}

int64_t out_width(const ModelOptions& options, int64_t width) {
  const bool combines = options.architecture == Architecture::kSage ||
                        options.architecture == Architecture::kConcat ||
                        options.architecture == Architecture::kGraphSage;
  return combines && options.combine == Combine::kConcat ? 2 * width : width;
}

namespace {

using ops::linear;  // x Wᵀ
using ops::Rows;

Tensor combine(Combine how, const Tensor& a, const Tensor& b) {
  switch (how) {
    case Combine::kAdd:
      return a + b;
    case Combine::kMultiply:
      return a * b;
    case Combine::kConcat:
      return at::cat({a, b}, 1);
  }
  return a;
}

using Sums = std::vector<ops::GatedSumInput>;
using Found = std::vector<Tensor>;  // s of each

// Neither gate nor amplifier.
ops::GatedSumInput plain_sum(const Rows& h, ops::Aggregate aggregate) {
  ops::GatedSumInput in;
  in.h = h;
  in.amplifier = ops::Amplifier::kNone;
  in.aggregate = aggregate;
  return in;
}

// Gate and amplifier of a layer, as its options ask for them. Without link attributes there is
// nothing to amplify by.
class Neighborhood {
 public:
  Neighborhood(const ModelOptions& options, Parameters& parameters, const LayerShape& shape,
               ops::Amplifier amplifier)
      : aggregate_(options.aggregate),
        amplifier_(shape.attributes > 0 ? amplifier : ops::Amplifier::kNone) {
    if (options.gate)
      gate_ = std::make_unique<Gate>(parameters, shape.name, shape.in, shape.attributes);
    if (amplifier_ != ops::Amplifier::kNone) {
      matrix_ =
          std::make_unique<AmplifierMatrix>(parameters, shape.name, shape.in, shape.attributes);
    }
  }

  ops::GatedSumInput input(const LayerInput& from) const {
    ops::GatedSumInput in;
    in.h = from.state.h;
    in.f = &from.links.f;
    in.amplifier = amplifier_;
    in.aggregate = aggregate_;
    if (gate_) gate_->set(in, from.block, from.links);
    if (matrix_) matrix_->set(in, from.links);
    return in;
  }

 private:
  ops::Aggregate aggregate_;
  ops::Amplifier amplifier_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<AmplifierMatrix> matrix_;
};

// One LASE-SAGE layer (section 3.3), from h = h^(l−1) to h' = h^(l):
//
//   λ(u,v) = σ(V [h(u), f(e), h(v)] + b)            gate
//   a(e)   = σ(U f(e))                              amplifier
//   s(u)   = Σ_{v ∈ N(u)} λ(u,v) h(v) ⊙ a(e)        aggregator
//   h'(u)  = ReLU(W1 h(u) ∘ W2 s(u))
class LaseSage : public Layer {
 public:
  LaseSage(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : combine_(options.combine),
        neighborhood_(options, parameters, shape, options.amplifier),
        w1_(parameters.matrix(shape.name + ".w1", shape.out, shape.in)),
        w2_(parameters.matrix(shape.name + ".w2", shape.out, shape.in)) {}

  Sums sums(const LayerInput& in) const override { return {neighborhood_.input(in)}; }
  State update(const LayerInput& in, const Sums&, const Found& s) const override {
    const Rows own = in.state.h.at(in.block.target);  // [targets, in]
    const Tensor h = combine(combine_, linear(own, w1_, in.dropout), linear({s[0], {}}, w2_));
    return {{h.relu(), {}}, {}};
  }

 private:
  Combine combine_;
  Neighborhood neighborhood_;
  Tensor w1_, w2_;
};

// One LASE-RW layer in the walk form (the printed recursion builds stars; see docs/design.md):
//
//   s(u)  = Σ_{v ∈ N(u)} λ(u,v) h(v) ⊙ a(e)
//   h'(u) = s(u) ⊙ W f(u)
//
// LASE-WL is the same with r(u), the relabelled features, in place of f(u).
class LaseRw : public Layer {
 public:
  LaseRw(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : neighborhood_(options, parameters, shape, options.amplifier),
        w_(parameters.matrix(shape.name + ".w", shape.out, shape.features)) {}

  Sums sums(const LayerInput& in) const override { return {neighborhood_.input(in)}; }
  State update(const LayerInput& in, const Sums&, const Found& s) const override {
    return {{s[0] * factor(in), {}}, in.state.f.at(in.block.target)};
  }
  Tensor factor(const LayerInput& in) const override {
    return linear(in.state.f.at(in.block.target), w_, in.dropout);
  }

 private:
  Neighborhood neighborhood_;
  Tensor w_;
};

// One relabelling of LASE-WL (section 3.3):
//
//   r'(u) = σ(P1 r(u) + P2 Σ_{v ∈ N(u)} σ(Q r(v)))
class Relabelling : public Layer {
 public:
  Relabelling(const ModelOptions& options, Parameters& parameters, const std::string& name,
              int64_t width)
      : aggregate_(options.aggregate),
        p1_(parameters.matrix(name + ".p1", width, width)),
        p2_(parameters.matrix(name + ".p2", width, width)),
        q_(parameters.matrix(name + ".q", width, width)) {}

  Sums sums(const LayerInput& in) const override {
    return {plain_sum({linear(in.state.f, q_).sigmoid(), {}}, aggregate_)};
  }
  State update(const LayerInput& in, const Sums&, const Found& s) const override {
    const Tensor r = linear(in.state.f.at(in.block.target), p1_) + linear({s[0], {}}, p2_);
    return {{}, {r.sigmoid(), {}}};
  }

 private:
  ops::Aggregate aggregate_;
  Tensor p1_, p2_, q_;
};

// One LASE-concat layer (the equation of section 3.1, with a gate and the node itself):
//
//   h'(u) = ReLU(W1 h(u) ∘ (W2 Σ λ h(v) + W3 Σ λ f(e)))
//
// W3 Σ λ f(e) is the sum with h ≡ 1 and the linear amplifier W3 f(e).
class LaseConcat : public Layer {
 public:
  LaseConcat(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : combine_(options.combine),
        attributes_(shape.attributes),
        neighborhood_(options, parameters, shape, ops::Amplifier::kNone),
        w1_(parameters.matrix(shape.name + ".w1", shape.out, shape.in)),
        w2_(parameters.matrix(shape.name + ".w2", shape.out, shape.in)),
        w3_(parameters.matrix(shape.name + ".w3", shape.out, shape.attributes)) {}

  Sums sums(const LayerInput& in) const override {
    Sums both = {neighborhood_.input(in)};
    if (attributes_ > 0) {
      ops::GatedSumInput attributes = both[0];
      attributes.h = {at::ones({1, w3_.size(0)}, w3_.options()),
                      at::zeros({in.block.sources}, at::kLong)};
      attributes.amplifier = ops::Amplifier::kLinear;
      attributes.u = in.links.scaled(w3_);
      attributes.u_shift = in.links.shift(attributes.u);
      both.push_back(attributes);
    }
    return both;
  }
  State update(const LayerInput& in, const Sums&, const Found& s) const override {
    Tensor sum = linear({s[0], {}}, w2_);  // [targets, out]
    if (attributes_ > 0) sum = sum + s[1];
    const Rows own = in.state.h.at(in.block.target);
    return {{combine(combine_, linear(own, w1_, in.dropout), sum).relu(), {}}, {}};
  }

 private:
  Combine combine_;
  int64_t attributes_;
  Neighborhood neighborhood_;
  Tensor w1_, w2_, w3_;
};

// GraphSAGE with the mean aggregator (Hamilton et al. 2017); link attributes are not read.
//
//   h'(u) = ReLU(W1 h(u) ∘ W2 mean_{v ∈ N(u)} h(v))
class GraphSage : public Layer {
 public:
  GraphSage(const ModelOptions& options, Parameters& parameters, const LayerShape& shape)
      : combine_(options.combine),
        w1_(parameters.matrix(shape.name + ".w1", shape.out, shape.in)),
        w2_(parameters.matrix(shape.name + ".w2", shape.out, shape.in)) {}

  Sums sums(const LayerInput& in) const override {
    return {plain_sum(in.state.h, ops::Aggregate::kMean)};
  }
  State update(const LayerInput& in, const Sums&, const Found& mean) const override {
    const Rows own = in.state.h.at(in.block.target);
    const Tensor h = combine(combine_, linear(own, w1_, in.dropout), linear({mean[0], {}}, w2_));
    return {{h.relu(), {}}, {}};
  }

 private:
  Combine combine_;
  Tensor w1_, w2_;
};

// A graph convolution (Kipf and Welling 2017) with D̃ = D + I; link attributes are not read.
//
//   h'(u) = ReLU(Σ_{v ∈ N(u) ∪ {u}} W h(v) / √(d̃(u) d̃(v)))
//
// The last layer leaves out the activation.
class Gcn : public Layer {
 public:
  Gcn(Parameters& parameters, const LayerShape& shape)
      : last_(shape.last),
        w_(parameters.matrix(shape.name + ".w", shape.out, shape.in)),
        b_(parameters.zeros(shape.name + ".bias", shape.out)) {}

  // h(v) W / √d̃(v)
  Sums sums(const LayerInput& in) const override {
    return {plain_sum({linear(in.state.h, w_, in.dropout) * normalizer(in.block), {}},
                      ops::Aggregate::kSum)};
  }
  State update(const LayerInput& in, const Sums& sums, const Found& s) const override {
    const Tensor own = sums[0].h.at(in.block.target).dense();
    const Tensor norm = normalizer(in.block).index_select(0, in.block.target);
    const Tensor h = (s[0] + own) * norm + b_;
    return {{last_ ? h : h.relu(), {}}, {}};
  }

 private:
  static Tensor normalizer(const Block& block) { return (block.degree + 1).rsqrt().unsqueeze(1); }
  bool last_;
  Tensor w_, b_;
};

}  // namespace

std::unique_ptr<Layer> make_layer(const ModelOptions& options, Parameters& parameters,
                                  const LayerShape& shape) {
  switch (options.architecture) {
    case Architecture::kSage:
      return std::make_unique<LaseSage>(options, parameters, shape);
    case Architecture::kRw:
    case Architecture::kWl:
      return std::make_unique<LaseRw>(options, parameters, shape);
    case Architecture::kConcat:
      return std::make_unique<LaseConcat>(options, parameters, shape);
    case Architecture::kGcn:
      return std::make_unique<Gcn>(parameters, shape);
    case Architecture::kGraphSage:
      return std::make_unique<GraphSage>(options, parameters, shape);
    case Architecture::kRaw:
      break;
  }
  return nullptr;
}

std::unique_ptr<Layer> make_relabelling(const ModelOptions& options, Parameters& parameters,
                                        const std::string& name, int64_t width) {
  return std::make_unique<Relabelling>(options, parameters, name, width);
}

}  // namespace lase
