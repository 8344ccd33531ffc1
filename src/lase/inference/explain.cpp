#include "lase/inference/explain.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>
#include <numeric>

#include "lase/base/error.h"
#include "lase/inference/inference.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/ops/one_thread.h"

namespace lase {
namespace {

using at::Tensor;

// Shared by all explanations of a graph.
struct Network {
  const TrainedModel& trained;
  const Graph& graph;
  Adjacency arcs;
  Inputs inputs;

  Network(const TrainedModel& of, const Graph& on)
      : trained(of), graph(on), arcs(on), inputs(on, of.scaling, ScaleWhen::kOnDemand) {}
  const Model& model() const { return *trained.model; }
  int64_t last_layer() const { return model().block_count() - 1; }
};

// The computation graph of one node from a given layer on, with whole neighborhoods. The node is
// row 0 of every state, so a change to one of its links in layer l changes only row 0 of the next
// state.
class Ego {
 public:
  explicit Ego(const Network& network, int64_t node) : Ego(network, node, 0) {
    states_.push_back(model_.start(inputs_, batch_.nodes));
    run_layers();
  }
  // Only the last layer, given its input for all nodes.
  Ego(const Network& network, int64_t node, const State& last_input)
      : Ego(network, node, network.last_layer()) {
    State state;
    if (last_input.h.defined()) state.h = last_input.h.at(batch_.nodes);
    if (last_input.f.defined()) state.f = last_input.f.at(batch_.nodes);
    states_.push_back(std::move(state));
    run_layers();
  }

  int64_t first_layer() const { return first_; }
  Tensor logits() const { return head(states_.back()).select(0, 0); }

  // The node's own arcs in layer l, with their attributes as rows of a dense matrix.
  struct OwnLinks {
    Block block;
    LinkAttributes links;
    Tensor nodes;  // int64 [arcs]: the neighbors
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

  // Logits [outputs] with `own` in place of the node's links in layer l.
  Tensor logits_with(int64_t l, const OwnLinks& own) const {
    const State row = model_.step(l, input(l), own.block, own.links, {});
    State state = input(l + 1);
    const auto replace = [](ops::Rows& all, const ops::Rows& first) {
      if (!all.defined()) return;
      all = {at::cat({first.dense(), all.dense().narrow(0, 1, all.size() - 1)}), {}};
    };
    replace(state.h, row.h);
    replace(state.f, row.f);
    for (int64_t above = l + 1; above < model_.block_count(); ++above) {
      state = model_.step(above, state, block(above), inputs_.links(), {});
    }
    return head(state).select(0, 0);
  }

  // Last layer only: logits [variants, outputs], where row i of the block replaces the node's own
  // links in variant i.
  Tensor logits_of_variants(const OwnLinks& variants) const {
    const int64_t last = model_.block_count() - 1;
    return head(model_.step(last, input(last), variants.block, variants.links, {}));
  }

  std::vector<ops::GatedSumInput> sums(int64_t l, const OwnLinks& own) const {
    return model_.layer(l).sums({input(l), own.block, own.links, {}});
  }

 private:
  Ego(const Network& network, int64_t node, int64_t first_layer)
      : model_(network.model()), inputs_(network.inputs), first_(first_layer) {
    const std::vector<int64_t> fanouts(static_cast<size_t>(model_.block_count() - first_),
                                       kWholeNeighborhood);
    const std::array seeds{node};
    batch_ = sample_batch(network.arcs, seeds, {.fanouts = fanouts}, {});
  }
  void run_layers() {
    for (int64_t l = first_; l < model_.block_count(); ++l) {
      states_.push_back(model_.step(l, states_.back(), block(l), inputs_.links(), {}));
    }
  }

  const Block& block(int64_t l) const { return batch_.blocks[static_cast<size_t>(l - first_)]; }
  const State& input(int64_t l) const { return states_[static_cast<size_t>(l - first_)]; }
  Tensor head(const State& state) const { return model_.head(model_.embedding(state), {}); }

  const Model& model_;
  const Inputs& inputs_;
  int64_t first_;  // first layer
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

// Row i of `arcs` [variants, n] lists the arcs of variant i, as positions among the node's own
// arcs; `link` holds their rows of f(e).
Ego::OwnLinks variants_of(const Ego::OwnLinks& own, const Tensor& arcs, const Tensor& link) {
  Ego::OwnLinks variants = own;
  Block& block = variants.block;
  const int64_t count = arcs.size(0);
  const int64_t each = arcs.size(1);
  const Tensor flat = arcs.reshape({-1});
  block.target = at::zeros({count}, at::kLong);
  block.row_ptr = at::arange(count + 1, at::kLong) * each;
  block.source = own.block.source.index_select(0, flat);
  block.weight = own.block.weight.index_select(0, flat);
  block.link = link.reshape({-1}).to(at::kInt);
  return variants;
}

// The score minus the score without the arc, for each arc in `tried`, int64 [n].
std::vector<double> effects_of_links(const Ego& ego, int64_t layer, bool last,
                                     const Ego::OwnLinks& own, const Tensor& tried, int64_t output,
                                     double score) {
  std::vector<double> effects;
  const int64_t arcs = own.block.arcs();
  if (!last) {
    for (int64_t i = 0; i < tried.size(0); ++i) {
      const auto arc = tried[i].item<int64_t>();
      effects.push_back(score - ego.logits_with(layer, without(own, arc))[output].item<double>());
    }
    return effects;
  }
  // In chunks of links, so that the variants of a hub fit into memory.
  const int64_t chunk = std::max<int64_t>(1, (1 << 20) / std::max<int64_t>(1, arcs));
  for (int64_t first = 0; first < tried.size(0); first += chunk) {
    const Tensor omitted = tried.narrow(0, first, std::min(chunk, tried.size(0) - first));
    // Positions 0 … arcs − 2, shifted by one from the omitted arc on.
    const Tensor position = at::arange(arcs - 1, at::kLong).unsqueeze(0);
    const Tensor kept = position + (position >= omitted.unsqueeze(1)).to(at::kLong);
    Ego::OwnLinks variants = variants_of(own, kept, kept);
    variants.block.degree = own.block.degree.clone();
    variants.block.degree[0] -= 1;  // the node is row 0
    const Tensor logits = ego.logits_of_variants(variants).select(1, output).contiguous();
    for (int64_t i = 0; i < logits.size(0); ++i)
      effects.push_back(score - logits[i].item<double>());
  }
  return effects;
}

// The score minus the score with one attribute of one arc set to zero, for each of `columns`.
std::vector<double> effects_of_attributes(const Ego& ego, int64_t layer, bool last,
                                          const Ego::OwnLinks& own, int64_t arc,
                                          const std::vector<int64_t>& columns, int64_t output,
                                          double score) {
  std::vector<double> effects;
  if (!last) {
    for (const int64_t j : columns) {
      Ego::OwnLinks zeroed = own;
      zeroed.links.f.values = own.links.f.values.clone();
      zeroed.links.f.values[arc][j] = 0;
      effects.push_back(score - ego.logits_with(layer, zeroed)[output].item<double>());
    }
    return effects;
  }
  if (columns.empty()) return effects;
  const int64_t arcs = own.block.arcs();
  const auto count = static_cast<int64_t>(columns.size());
  const Tensor rows = own.links.f.values.select(0, arc).unsqueeze(0).repeat({count, 1});
  for (int64_t i = 0; i < count; ++i) rows[i][columns[static_cast<size_t>(i)]] = 0;
  const Tensor positions = at::arange(arcs, at::kLong).unsqueeze(0).repeat({count, 1});
  const Tensor link = positions.clone();
  link.select(1, arc).copy_(at::arange(arcs, arcs + count, at::kLong));
  Ego::OwnLinks variants = variants_of(own, positions, link);
  variants.links.f.values = at::cat({own.links.f.values, rows});
  variants.links.f.rows = arcs + count;
  const Tensor logits = ego.logits_of_variants(variants).select(1, output).contiguous();
  for (int64_t i = 0; i < count; ++i) effects.push_back(score - logits[i].item<double>());
  return effects;
}

struct Question {
  const Graph& graph;
  const ExplainOptions& options;
  int64_t output;
  double score;
  bool last;  // whether it is the last layer
};

std::vector<AttributeEffect> attribute_effects(const Ego& ego, const Question& question,
                                               int64_t layer, const Ego::OwnLinks& own,
                                               const std::vector<ops::GatedSumInput>& sums,
                                               int64_t arc) {
  std::vector<AttributeEffect> effects;
  const bool reads_links = std::any_of(
      sums.begin(), sums.end(), [](const auto& in) { return in.u.defined() || in.v.defined(); });
  if (own.links.f.columns == 0 || !reads_links || question.options.attributes == 0) return effects;
  const Tensor values = own.links.f.values.select(0, arc).cpu().contiguous();  // [k]
  Tensor share = at::zeros_like(values);
  for (const auto& in : sums) {
    if (!in.u.defined()) continue;
    share = in.u.norm(2, 0) * (values - own.links.mean).abs();
    share = share / share.sum().clamp_min(1e-30);
  }
  const auto* value = values.data_ptr<float>();
  share = share.cpu().contiguous();
  const auto* part = share.data_ptr<float>();
  std::vector<int64_t> columns;
  for (int64_t j = 0; j < values.size(0); ++j) {
    if (value[j] != 0) columns.push_back(j);
  }
  if (question.options.tried > 0) {
    const auto limit = static_cast<size_t>(2 * question.options.attributes);
    std::stable_sort(columns.begin(), columns.end(),
                     [&](int64_t a, int64_t b) { return part[a] > part[b]; });
    columns.resize(std::min(columns.size(), limit));
  }
  const auto found = effects_of_attributes(ego, layer, question.last, own, arc, columns,
                                           question.output, question.score);
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t j = columns[i];
    effects.push_back({.name = std::string(question.graph.attribute_names[j]),
                       .value = double{value[j]},
                       .amplifier_fraction = double{part[j]},
                       .effect = found[i]});
  }
  std::stable_sort(effects.begin(), effects.end(), [](const auto& a, const auto& b) {
    return std::abs(a.effect) > std::abs(b.effect);
  });
  effects.resize(std::min(effects.size(), static_cast<size_t>(question.options.attributes)));
  return effects;
}

// Positions of the links to leave out one by one: all, or those with the largest terms.
Tensor tried_links(const Question& question, const Ego::OwnLinks& own,
                   const std::vector<ops::GatedSumInput>& sums) {
  const int64_t arcs = own.block.arcs();
  const int64_t limit = question.options.tried;
  if (!question.last || limit == 0 || arcs <= limit) return at::arange(arcs, at::kLong);
  const Tensor size = ops::gated_sum_with_scores(sums[0], own.block, ops::Score::kNorm, {}).score;
  return std::get<1>(size.topk(limit));
}

LayerExplanation explain_layer(const Ego& ego, const Question& question, int64_t layer) {
  const auto own = ego.own_links(layer);
  LayerExplanation result;
  result.layer = layer + 1;
  result.links = own.block.arcs();
  if (result.links == 0) return result;
  const auto sums = ego.sums(layer, own);
  const Tensor gate = ops::gates(sums[0], own.block);
  const Tensor tried = tried_links(question, own, sums);
  const auto effect =
      effects_of_links(ego, layer, question.last, own, tried, question.output, question.score);
  std::vector<int64_t> order(effect.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::abs(effect[static_cast<size_t>(a)]) > std::abs(effect[static_cast<size_t>(b)]);
  });
  order.resize(std::min(order.size(), static_cast<size_t>(question.options.neighbors)));
  for (const int64_t i : order) {
    const auto arc = tried[i].item<int64_t>();
    const auto node = own.nodes[arc].item<int64_t>();
    result.neighbors.push_back(
        {.node = node,
         .name = std::string(question.graph.nodes.names[node]),
         .gate = gate[arc].item<double>(),
         .effect = effect[static_cast<size_t>(i)],
         .attributes = attribute_effects(ego, question, layer, own, sums, arc)});
  }
  return result;
}

Explanation explain_ego(const Network& network, const Ego& ego, const ExplainOptions& options) {
  const TrainedModel& trained = network.trained;
  const Tensor logits = ego.logits();
  int64_t output = options.output;
  const auto objective = make_objective(trained);
  if (output < 0) output = objective->explained_output(logits);
  require(output < logits.size(0), "output ", output, " does not exist; the model has ",
          logits.size(0), " outputs");
  Explanation explanation;
  explanation.node = network.graph.nodes.names[options.node];
  explanation.output = trained.label_names[output];
  explanation.score = logits[output].item<double>();
  const Tensor probability = objective->probabilities(logits.unsqueeze(0));
  if (probability.defined()) explanation.probability = probability[0][output].item<double>();
  for (int64_t l = ego.first_layer(); l <= network.last_layer(); ++l) {
    const Question question{.graph = network.graph,
                            .options = options,
                            .output = output,
                            .score = explanation.score,
                            .last = l == network.last_layer()};
    explanation.layers.push_back(explain_layer(ego, question, l));
  }
  return explanation;
}

void check(const ExplainOptions& options, const Graph& graph) {
  require(options.node >= 0 && options.node < graph.node_count(), "node ", options.node,
          " does not exist; the graph has ", graph.node_count(), " nodes");
  require(options.neighbors >= 1 && options.attributes >= 0 && options.tried >= 0,
          "expected at least one neighbor, and no negative number of attributes or tried links");
}

}  // namespace

Explanation explain(const TrainedModel& trained, const Graph& graph,
                    const ExplainOptions& options) {
  check(options, graph);
  const ops::OneThread one_thread;
  c10::NoGradGuard no_grad;
  const Network network(trained, graph);
  return explain_ego(network, Ego(network, options.node), options);
}

struct LastLayerExplainer::Parts {
  Network network;
  State last_input;  // of the last layer, for all nodes

  Parts(const TrainedModel& trained, const Graph& graph) : network(trained, graph) {
    if (network.last_layer() < 0) return;
    const ops::OneThread one_thread;
    const Inputs ahead(graph, trained.scaling);
    last_input = last_layer_input(network.model(), ahead, network.arcs);
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
  return explain_ego(network, Ego(network, options.node, parts_->last_input), options);
}

}  // namespace lase
