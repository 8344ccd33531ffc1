#include "lase/inference/explain.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>
#include <functional>
#include <optional>

#include "lase/base/error.h"
#include "lase/inference/inference.h"
#include "lase/inference/objective.h"
#include "lase/inference/own_sums.h"
#include "lase/inference/predict.h"
#include "lase/ops/one_thread.h"

namespace lase {
namespace {

using at::Tensor;

// Arcs to sum over for the exact effects of one layer.
constexpr int64_t kWork = 1 << 24;
// Variants of the sums computed at once.
constexpr int64_t kChunk = 1 << 14;

// Effects of the variants with the largest ones.
struct Effects {
  Tensor variant;     // int64 [n]
  Tensor value;       // double [n]
  bool exact = true;  // otherwise, to first order
};

// The sums of a layer, with the first-order expansion of an output, computed on first use.
class ExpandedSums {
 public:
  struct Expansion {
    OwnSums::Values center;    // c
    OwnSums::Values gradient;  // ∇F(c)
    double score = 0;          // F(c)
  };

  ExpandedSums(const Ego& ego, int64_t l, int64_t degree, int64_t output)
      : sums_(ego, l, degree), output_(output) {}
  const OwnSums& sums() const { return sums_; }
  const Expansion& expansion() {
    if (!expansion_) {
      const OwnSums::Values center = sums_.center();
      expansion_ = {.center = center,
                    .gradient = sums_.gradient(center, output_),
                    .score = sums_.outputs(center)[0][output_].item<double>()};
    }
    return *expansion_;
  }

 private:
  OwnSums sums_;
  int64_t output_;
  std::optional<Expansion> expansion_;
};

// Values of the sums for the given variants, int64 [n].
using Variants = std::function<OwnSums::Values(const Tensor&)>;

// Explains one layer. A variant is what the sums would be without a link, or without an attribute
// of a link. Its effect is exactly
//
//   score − F(s')          F: the score as a function of the sums s of this layer
//
// and to first order score − F(c) + ⟨∇F(c), c − s'⟩, which needs no pass through the layers above;
// c is the average of s' over all links.
class LayerExplainer {
 public:
  LayerExplainer(const Network& network, const Ego& ego, const ExplainOptions& options, int64_t l,
                 int64_t output, double score)
      : graph_(network.graph),
        ego_(ego),
        options_(options),
        l_(l),
        output_(output),
        score_(score),
        block_(ego.own_block(l)) {}

  LayerExplanation explain() const;

 private:
  Effects largest_effects(ExpandedSums& sums, const Variants& variants, int64_t count,
                          int64_t exact) const;
  Tensor exact_effects(const OwnSums& sums, const Variants& variants, const Tensor& which) const;
  Tensor first_order_effects(ExpandedSums& sums, const Variants& variants, int64_t count) const;
  // Number of variants that one of `shares` equal parts of kWork suffices for.
  int64_t affordable(int64_t shares) const {
    if (options_.exact > 0) return options_.exact;
    return kWork / std::max<int64_t>(1, ego_.arcs_after(l_)) / shares;
  }
  // The attributes with the largest effects; returns whether the effects are exact.
  bool add_attributes(ExpandedSums& sums, int64_t arc, NeighborEffect& neighbor) const;

  const Graph& graph_;
  const Ego& ego_;
  const ExplainOptions& options_;
  int64_t l_;
  int64_t output_;
  double score_;
  Block block_;
};

Tensor LayerExplainer::exact_effects(const OwnSums& sums, const Variants& variants,
                                     const Tensor& which) const {
  std::vector<Tensor> effects;
  for (const Tensor& chunk : which.split(kChunk)) {
    const Tensor scores = sums.outputs(variants(chunk)).select(1, output_);
    effects.push_back(score_ - scores.to(at::kDouble));
  }
  return at::cat(effects);
}

Tensor LayerExplainer::first_order_effects(ExpandedSums& sums, const Variants& variants,
                                           int64_t count) const {
  const auto& [center, gradient, value] = sums.expansion();
  std::vector<Tensor> effects;
  for (const Tensor& chunk : at::arange(count, at::kLong).split(kChunk)) {
    const OwnSums::Values changed = variants(chunk);
    Tensor effect = at::full({chunk.size(0)}, score_ - value, at::kDouble);
    for (size_t j = 0; j < changed.size(); ++j) {
      effect += (center[j] - changed[j]).matmul(gradient[j][0]);
    }
    effects.push_back(effect);
  }
  return at::cat(effects);
}

// The variants 0 … count − 1 in descending order of their effects: all of them if exact effects
// are affordable; otherwise the `exact` ones with the largest first-order effects, or, if `exact`
// is 0, all with first-order effects.
Effects LayerExplainer::largest_effects(ExpandedSums& sums, const Variants& variants, int64_t count,
                                        int64_t exact) const {
  Effects effects;
  effects.variant = at::arange(count, at::kLong);
  if (count > exact) {
    effects.value = first_order_effects(sums, variants, count);
    effects.exact = false;
    if (exact > 0) effects.variant = std::get<1>(effects.value.abs().topk(exact));
  }
  if (count <= exact || exact > 0) {
    effects.value = exact_effects(sums.sums(), variants, effects.variant);
    effects.exact = true;
  }
  const Tensor order =
      std::get<1>(effects.value.abs().sort(/*stable=*/true, 0, /*descending=*/true));
  effects.variant = effects.variant.index_select(0, order);
  effects.value = effects.value.index_select(0, order);
  return effects;
}

bool LayerExplainer::add_attributes(ExpandedSums& sums, int64_t arc,
                                    NeighborEffect& neighbor) const {
  const LinkAttributes& links = ego_.links();
  const auto& inputs = sums.sums().inputs();
  const bool reads_links = std::any_of(inputs.begin(), inputs.end(), [](const auto& in) {
    return in.u.defined() || in.v.defined() || in.links;
  });
  if (links.f.columns == 0 || !reads_links || options_.attributes == 0) return true;
  const Tensor values = ops::attribute_rows(links.f, block_.link.narrow(0, arc, 1))[0];  // [k]
  Tensor fraction = at::zeros_like(values);
  for (const auto& in : inputs) {
    if (!in.u.defined()) continue;
    const Tensor centered = links.mean.defined() ? values - links.mean : values;
    fraction = in.u.norm(2, 0) * centered.abs();
    fraction = fraction / fraction.sum().clamp_min(1e-30);
    break;  // that of the neighbor's state
  }
  const Tensor columns = values.nonzero().squeeze(1);
  if (columns.size(0) == 0) return true;
  const Variants zeroed = [&](const Tensor& which) {
    const Tensor rows = values.repeat({which.size(0), 1});
    rows.scatter_(1, columns.index_select(0, which).unsqueeze(1), 0);
    return sums.sums().with_attributes(arc, rows);
  };
  const int64_t count = columns.size(0);
  int64_t exact = affordable(options_.neighbors);
  if (exact < std::min(count, options_.attributes)) exact = 0;
  const Effects effects = largest_effects(sums, zeroed, count, exact);
  const int64_t shown = std::min(effects.value.size(0), options_.attributes);
  for (int64_t i = 0; i < shown; ++i) {
    const auto column = columns[effects.variant[i]].item<int64_t>();
    neighbor.attributes.push_back({.name = std::string(graph_.attribute_names[column]),
                                   .value = values[column].item<double>(),
                                   .amplifier_fraction = fraction[column].item<double>(),
                                   .effect = effects.value[i].item<double>()});
  }
  return effects.exact;
}

LayerExplanation LayerExplainer::explain() const {
  LayerExplanation layer;
  layer.layer = l_ + 1;
  layer.links = block_.arcs();
  if (layer.links == 0) return layer;
  ExpandedSums sums(ego_, l_, layer.links, output_);
  ExpandedSums fewer(ego_, l_, layer.links - 1, output_);
  const Variants without = [&](const Tensor& arcs) { return fewer.sums().without(arcs); };
  const int64_t exact = std::max(affordable(1), options_.neighbors);
  const Effects effects = largest_effects(fewer, without, layer.links, exact);
  layer.exact_links = effects.value.size(0);
  const int64_t shown = std::min(layer.exact_links, options_.neighbors);
  const Tensor arcs = effects.variant.narrow(0, 0, shown);
  const Tensor gates = sums.sums().gates(arcs);
  const Tensor nodes = ego_.neighbors(block_).index_select(0, arcs);
  for (int64_t i = 0; i < shown; ++i) {
    NeighborEffect& neighbor = layer.neighbors.emplace_back();
    neighbor.node = nodes[i].item<int64_t>();
    neighbor.name = graph_.nodes.names[neighbor.node];
    neighbor.gate = gates[i].item<double>();
    neighbor.effect = effects.value[i].item<double>();
    const bool exact_attributes = add_attributes(sums, arcs[i].item<int64_t>(), neighbor);
    layer.attributes_exact = layer.attributes_exact && exact_attributes;
  }
  return layer;
}

// The effects of the features of the node, each replaced by its mean, and of its links.
class OwnExplainer {
 public:
  OwnExplainer(const Network& network, const Ego& ego, const ExplainOptions& options,
               int64_t output, double score)
      : network_(network), ego_(ego), options_(options), output_(output), score_(score) {
    const Attributes& features = network.graph.nodes.features;
    own_.resize(static_cast<size_t>(features.columns));
    features.copy_row(options.node, own_.data());
    std::fill_n(own_.end() - network.trained.scaling.added.labels,
                network.trained.scaling.added.labels, 0.0F);
    mean_.resize(own_.size());
    const Scaling& scaling = network.trained.scaling;
    const bool shifted =
        scaling.nodes == NodeScaling::kStandard && features.layout != Layout::kSparse;
    if (shifted) std::copy_n(scaling.node_mean.data_ptr<float>(), mean_.size(), mean_.begin());
  }

  OwnEffects explain() const {
    OwnEffects effects;
    const State average = states({mean_});
    const Tensor without_features = ego_.outputs_with(ego_.first_layer() - 1, average)[0];
    effects.features = score_ - value(without_features);
    effects.links = score_ - value(ego_.outputs_without_links());
    effects.bias = value(ego_.outputs_without_links(&average));
    const auto columns = candidates();
    if (columns.empty()) return effects;
    std::vector<std::vector<float>> variants(columns.size(), own_);
    for (size_t i = 0; i < columns.size(); ++i) variants[i][columns[i]] = mean_[columns[i]];
    const Tensor outputs = ego_.outputs_with(ego_.first_layer() - 1, states(variants));
    for (size_t i = 0; i < columns.size(); ++i) {
      const auto column = static_cast<int64_t>(columns[i]);
      effects.top.push_back({.name = std::string(network_.graph.nodes.feature_names[column]),
                             .value = double{own_[columns[i]]},
                             .effect = score_ - value(outputs[static_cast<int64_t>(i)])});
    }
    std::stable_sort(effects.top.begin(), effects.top.end(), [](const auto& a, const auto& b) {
      return std::abs(a.effect) > std::abs(b.effect);
    });
    const auto shown = static_cast<size_t>(std::max<int64_t>(0, options_.features));
    effects.top.resize(std::min(effects.top.size(), shown));
    return effects;
  }

 private:
  double value(const Tensor& outputs) const { return outputs[output_].item<double>(); }

  // Features that differ from the mean, those that differ most first, as many as are affordable.
  std::vector<size_t> candidates() const {
    std::vector<size_t> columns;
    for (size_t j = 0; j < own_.size(); ++j) {
      if (own_[j] != mean_[j]) columns.push_back(j);
    }
    const auto* scale = network_.trained.scaling.node_scale.data_ptr<float>();
    const auto distance = [&](size_t j) { return std::abs(own_[j] - mean_[j]) * scale[j]; };
    std::stable_sort(columns.begin(), columns.end(),
                     [&](size_t a, size_t b) { return distance(a) > distance(b); });
    constexpr int64_t kMost = 256;
    const int64_t affordable =
        std::min(kWork / std::max<int64_t>(1, ego_.arcs()),
                 kWork / std::max<int64_t>(1, static_cast<int64_t>(own_.size())));
    columns.resize(std::min(columns.size(), static_cast<size_t>(std::min(kMost, affordable))));
    return options_.features > 0 ? columns : std::vector<size_t>();
  }

  // Inputs of the first layer for nodes with these features.
  State states(const std::vector<std::vector<float>>& features) const {
    std::vector<float> values;
    for (const auto& row : features) values.insert(values.end(), row.begin(), row.end());
    Graph nodes;
    nodes.nodes.features = Attributes::dense(std::move(values), std::ssize(features),
                                             static_cast<int64_t>(own_.size()));
    if (network_.graph.nodes.features.layout == Layout::kSparse) {
      nodes.nodes.features = to_sparse(nodes.nodes.features);
    }
    const Inputs inputs(nodes, network_.trained.scaling, ScaleWhen::kOnDemand);
    return ego_.model().start(inputs, at::arange(std::ssize(features), at::kLong));
  }

  const Network& network_;
  const Ego& ego_;
  const ExplainOptions& options_;
  int64_t output_;
  double score_;
  std::vector<float> own_;
  std::vector<float> mean_;
};

}  // namespace

Explanation explain_ego(const Network& network, const Ego& ego, const ExplainOptions& options) {
  const TrainedModel& trained = network.trained;
  const Tensor logits = ego.outputs();
  int64_t output = options.output;
  const auto objective = make_objective(trained);
  const Tensor predictions = objective->predictions(logits);
  if (output < 0) output = objective->explained_output(predictions);
  require(output < logits.size(0), "output ", output, " does not exist; the model has ",
          logits.size(0), " outputs");
  Explanation explanation;
  explanation.node = network.graph.nodes.names[options.node];
  explanation.output =
      trained.task == Task::kNone ? "score" : std::string(trained.label_names[output]);
  if (trained.task == Task::kSingleLabel) {
    explanation.predicted = trained.label_names[objective->explained_output(predictions)];
  }
  explanation.score = logits[output].item<double>();
  const Tensor probability = objective->probabilities(predictions.unsqueeze(0));
  if (probability.defined()) explanation.probability = probability[0][output].item<double>();
  if (ego.first_layer() == 0) {
    explanation.own = OwnExplainer(network, ego, options, output, explanation.score).explain();
  }
  for (int64_t l = ego.first_layer(); l <= network.last_layer(); ++l) {
    const LayerExplainer layer(network, ego, options, l, output, explanation.score);
    explanation.layers.push_back(layer.explain());
  }
  return explanation;
}

void check(const ExplainOptions& options, const Graph& graph) {
  require(options.node >= 0 && options.node < graph.node_count(), "node ", options.node,
          " does not exist; the graph has ", graph.node_count(), " nodes");
  require(options.neighbors >= 1 && options.attributes >= 0 && options.features >= 0 &&
              options.exact >= 0,
          "expected at least one neighbor, and no negative number of attributes or exact effects");
}

std::optional<double> target_of(const TrainedModel& trained, const Explanation& explanation) {
  if (trained.task != Task::kRegression) return std::nullopt;
  int64_t output = 0;
  while (trained.label_names[output] != explanation.output) ++output;
  return trained.target_mean[output].item<double>() +
         explanation.score / trained.target_scale[output].item<double>();
}

Explanation explain(const TrainedModel& trained, const Graph& graph,
                    const ExplainOptions& options) {
  const Graph fitting = fitting_graph(trained, graph);
  check(options, fitting);
  const ops::OneThread one_thread;
  c10::NoGradGuard no_grad;
  const Network network(trained, fitting);
  return explain_ego(network, Ego(network, options.node), options);
}

struct LastLayerExplainer::Parts {
  Network network;
  std::vector<State> last_input;  // of the last layer, for all nodes, in each of the passes

  Parts(const TrainedModel& trained, const Graph& graph) : network(trained, graph) {
    if (network.last_layer() < 0) return;
    const ops::OneThread one_thread;
    const LabelPasses ahead(Inputs(graph, trained.scaling));
    for (int64_t pass = 0; pass < ahead.count(); ++pass) {
      last_input.push_back(last_layer_input(network.model(), ahead.inputs(pass), network.arcs));
    }
  }

  const State& input_for(int64_t node) const {
    return last_input[static_cast<size_t>(network.passes.of(node))];
  }
};

LastLayerExplainer::LastLayerExplainer(const TrainedModel& trained, const Graph& graph)
    : parts_(std::make_unique<const Parts>(trained, graph)) {}
LastLayerExplainer::~LastLayerExplainer() = default;

Explanation LastLayerExplainer::explain(const ExplainOptions& options) const {
  const Network& network = parts_->network;
  check(options, network.graph);
  if (network.last_layer() < 0) return {};
  const ops::OneThread one_thread;
  c10::NoGradGuard no_grad;
  return explain_ego(network, Ego(network, options.node, parts_->input_for(options.node)), options);
}

}  // namespace lase
