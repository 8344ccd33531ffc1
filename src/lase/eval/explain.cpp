#include "lase/eval/explain.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>
#include <numeric>

#include "lase/base/error.h"
#include "lase/eval/predict.h"
#include "lase/ops/one_thread.h"

namespace lase {
namespace {

using at::Tensor;

// The network around one node, with whole neighbourhoods. The node is row 0 of every state, so a
// change to one of its links in layer l changes row 0 of the state above, and nothing else there.
class Ego {
 public:
  Ego(const TrainedModel& trained, const Graph& graph, int64_t node)
      : model_(*trained.model), inputs_(graph, trained.scaling, ScaleWhen::kOnDemand) {
    const std::vector<int64_t> fanouts(static_cast<size_t>(model_.block_count()),
                                       kWholeNeighborhood);
    const std::array seeds{node};
    batch_ = sample_batch(all_neighborhoods(graph), seeds, {.fanouts = fanouts}, {});
    states_.push_back(model_.start(inputs_, batch_.nodes));
    for (int64_t l = 0; l < model_.block_count(); ++l) {
      states_.push_back(model_.step(l, states_.back(), block(l), inputs_.links(), {}));
    }
  }

  Tensor logits() const { return logits_of(states_.back()); }

  // The node's own arcs of layer l, with their attributes as rows of a dense matrix.
  struct OwnLinks {
    Block block;
    LinkAttributes links;
    Tensor nodes;  // int64 [arcs]: the neighbours
  };
  OwnLinks own_links(int64_t l) const {
    const Block& whole = block(l);
    const int64_t arcs = whole.row_ptr[1].item<int64_t>();
    OwnLinks own;
    own.block = whole;
    own.block.target = whole.target.narrow(0, 0, 1);
    own.block.row_ptr = whole.row_ptr.narrow(0, 0, 2);
    own.block.source = whole.source.narrow(0, 0, arcs);
    own.block.weight = whole.weight.narrow(0, 0, arcs);
    own.block.link = at::arange(arcs, at::kInt);
    own.nodes = batch_.nodes.index_select(0, own.block.source);
    own.links = inputs_.links();
    if (own.links.f.columns > 0) {
      const Tensor rows = whole.link.narrow(0, 0, arcs);
      const Tensor values = ops::attribute_rows(own.links.f, rows);
      own.links.f = ops::AttributeTensors();
      own.links.f.rows = values.size(0);
      own.links.f.columns = values.size(1);
      own.links.f.values = values;
    }
    return own;
  }

  // The logits [outputs] with these links in place of the node's own ones in layer l.
  Tensor logits_with(int64_t l, const OwnLinks& own) const {
    const auto at = static_cast<size_t>(l);
    const State row = model_.step(l, states_[at], own.block, own.links, {});
    State state = states_[at + 1];
    const auto replace = [](ops::Rows& all, const ops::Rows& first) {
      if (!all.defined()) return;
      all = {at::cat({first.dense(), all.dense().narrow(0, 1, all.size() - 1)}), {}};
    };
    replace(state.h, row.h);
    replace(state.f, row.f);
    for (int64_t above = l + 1; above < model_.block_count(); ++above) {
      state = model_.step(above, state, block(above), inputs_.links(), {});
    }
    return logits_of(state);
  }

  std::vector<ops::GatedSumInput> sums(int64_t l, const OwnLinks& own) const {
    return model_.layer(l).sums({states_[static_cast<size_t>(l)], own.block, own.links, {}});
  }

 private:
  const Block& block(int64_t l) const { return batch_.blocks[static_cast<size_t>(l)]; }
  Tensor logits_of(const State& state) const {
    return model_.head(model_.embedding(state), {}).select(0, 0);
  }

  const Model& model_;
  Inputs inputs_;
  Batch batch_;
  std::vector<State> states_;
};

Ego::OwnLinks without(const Ego::OwnLinks& own, int64_t arc) {
  Ego::OwnLinks rest = own;
  const Tensor all = at::arange(own.block.arcs(), at::kLong);
  const Tensor kept = all.index_select(0, (all != arc).nonzero().squeeze(1));
  rest.block.row_ptr = at::tensor({int64_t{0}, own.block.arcs() - 1}, at::kLong);
  rest.block.source = own.block.source.index_select(0, kept);
  rest.block.weight = own.block.weight.index_select(0, kept);
  rest.block.link = own.block.link.index_select(0, kept);
  rest.block.degree = own.block.degree.clone();
  rest.block.degree[0] -= 1;  // the node is row 0
  return rest;
}

std::vector<AttributeEffect> attribute_effects(const Ego& ego, const Graph& graph, int64_t layer,
                                               const Ego::OwnLinks& own, int64_t arc,
                                               const ExplainOptions& options, int64_t output,
                                               double score) {
  std::vector<AttributeEffect> effects;
  const auto sums = ego.sums(layer, own);
  const bool reads_links = std::any_of(
      sums.begin(), sums.end(), [](const auto& in) { return in.u.defined() || in.v.defined(); });
  if (own.links.f.columns == 0 || !reads_links) return effects;
  const Tensor values = own.links.f.values.select(0, arc);  // [k]
  Tensor share = at::zeros_like(values);
  for (const auto& in : sums) {
    if (!in.u.defined()) continue;
    share = in.u.norm(2, 0) * (values - own.links.mean).abs();
    share = share / share.sum().clamp_min(1e-30);
  }
  for (int64_t j = 0; j < values.size(0); ++j) {
    const auto value = values[j].item<float>();
    if (value == 0) continue;
    Ego::OwnLinks zeroed = own;
    zeroed.links.f.values = own.links.f.values.clone();
    zeroed.links.f.values[arc][j] = 0;
    const auto rest = ego.logits_with(layer, zeroed)[output].item<float>();
    effects.push_back({.name = std::string(graph.attribute_names[j]),
                       .value = double{value},
                       .amplifier_share = share[j].item<double>(),
                       .effect = score - double{rest}});
  }
  std::stable_sort(effects.begin(), effects.end(), [](const auto& a, const auto& b) {
    return std::abs(a.effect) > std::abs(b.effect);
  });
  effects.resize(std::min(effects.size(), static_cast<size_t>(options.attributes)));
  return effects;
}

LayerExplanation explain_layer(const Ego& ego, const Graph& graph, int64_t layer,
                               const ExplainOptions& options, int64_t output, double score) {
  const auto own = ego.own_links(layer);
  LayerExplanation result;
  result.layer = layer + 1;
  result.links = own.block.arcs();
  if (result.links == 0) return result;
  const Tensor gate = ops::gates(ego.sums(layer, own)[0], own.block);
  std::vector<double> effect;
  for (int64_t arc = 0; arc < result.links; ++arc) {
    const auto rest = ego.logits_with(layer, without(own, arc))[output].item<float>();
    effect.push_back(score - double{rest});
  }
  std::vector<int64_t> order(effect.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::abs(effect[static_cast<size_t>(a)]) > std::abs(effect[static_cast<size_t>(b)]);
  });
  order.resize(std::min(order.size(), static_cast<size_t>(options.neighbors)));
  for (const int64_t arc : order) {
    result.neighbors.push_back(
        {.name = std::string(graph.nodes.names[own.nodes[arc].item<int64_t>()]),
         .gate = gate[arc].item<double>(),
         .effect = effect[static_cast<size_t>(arc)],
         .attributes = attribute_effects(ego, graph, layer, own, arc, options, output, score)});
  }
  return result;
}

}  // namespace

Explanation explain(const TrainedModel& trained, const Graph& graph,
                    const ExplainOptions& options) {
  require(options.node >= 0 && options.node < graph.node_count(), "node ", options.node,
          " is not in the graph");
  require(options.neighbors >= 1 && options.attributes >= 0,
          "an explanation shows at least one neighbour");
  const ops::OneThread one_thread;
  c10::NoGradGuard no_grad;
  const Ego ego(trained, graph, options.node);
  const Tensor logits = ego.logits();
  int64_t output = options.output;
  if (output < 0) {
    output = trained.task == Task::kRegression ? 0 : logits.argmax().item<int64_t>();
  }
  require(output < logits.size(0), "output ", output, " is not one of the model's");
  Explanation explanation;
  explanation.node = graph.nodes.names[options.node];
  explanation.output = trained.label_names[output];
  explanation.score = logits[output].item<double>();
  if (trained.task == Task::kSingleLabel) {
    explanation.probability = logits.softmax(0)[output].item<double>();
  } else if (trained.task == Task::kMultiLabel) {
    explanation.probability = logits.sigmoid()[output].item<double>();
  }
  for (int64_t l = 0; l < trained.model->block_count(); ++l) {
    explanation.layers.push_back(explain_layer(ego, graph, l, options, output, explanation.score));
  }
  return explanation;
}

}  // namespace lase
