#include "lase/inference/predict_links.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/inference/inference.h"
#include "lase/inference/link_task.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/ops/linear.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/precision.h"
#include "lase/ops/workspace.h"

namespace lase {

using at::Tensor;

namespace {

LinkTaskOptions options_of(const TrainedModel& trained) {
  nlohmann::json stored = trained.link_task;
  stored.erase("seed");
  stored.erase("graph");
  return link_task_option_table().from_json(stored);
}

// Models of version 0.1 do not store the fingerprint of the graph.
bool is_training_graph(const TrainedModel& trained, const Graph& graph) {
  const auto stored = trained.link_task.find("graph");
  return stored == trained.link_task.end() || *stored == fingerprint(graph);
}

// Number of links that are scored, and hidden, at once: few of all links.
int64_t hidden_at_once(int64_t links) { return std::clamp<int64_t>(links / 20, 1, 256); }

}  // namespace

// A graph with the links that pass messages, and its inputs.
struct LinkPredictor::Visible {
  Graph graph;
  Inputs inputs;
};

LinkPredictor::LinkPredictor(const TrainedModel& trained, const Graph& graph,
                             const std::string& path, const DeviceOptions& device)
    : trained_(trained),
      path_(path),
      model_(model_on(trained.model, choose_device(device, graph.links))),
      precision_(choose_precision(device, model_->device(), kInferencePrecision)),
      device_memory_(choose_memory(device, model_->device())),
      options_(options_of(trained)),
      seed_(trained.link_task.value("seed", uint64_t{1})),
      graph_(graph) {
  require(predicts_links(trained.predicts), "the model predicts labels of nodes, not of links");
  require(graph.links > 0, path, ": the graph has no links");
  prepare_targets(graph_, trained.predicts);
  check_names(trained.target_names, graph_.targets.attribute_names, "attributes of target links",
              path);
  if (graph_.targets.split.empty()) {
    if (is_training_graph(trained, graph)) {
      split_links(graph_, options_, seed_);
    } else {
      graph_.targets.split = std::vector<uint8_t>(static_cast<size_t>(graph_.targets.size()),
                                                  static_cast<uint8_t>(Split::kNone));
    }
  }
  Labels labels{.task = trained.task, .label = {}, .target = {}, .names = trained.label_names};
  if (graph_.targets.labels.task != Task::kNone) {
    labels = labels_as_trained(trained, graph_.targets.labels);
  }
  objective_ = make_objective(trained, labels);
}

LinkPredictor::~LinkPredictor() = default;

std::optional<Ranking> LinkPredictor::ranking() const {
  if (trained_.predicts == Predicts::kLinks) return std::nullopt;
  return options_.prediction.ranking;
}

std::vector<int64_t> LinkPredictor::links_of(Split split) const {
  require(trained_.predicts != Predicts::kLinks || graph_.targets.labels.task != Task::kNone, path_,
          ": its links have no labels to evaluate against; import it with ",
          OptionName{"link_label"});
  return seeds_of(graph_, trained_.predicts, *objective_, split);
}

LinkPredictor::Visible LinkPredictor::visible(Split split) const {
  Graph graph = graph_;
  graph.adjacency() = visible_links(graph_, split);
  graph = prepare_graph(trained_, std::move(graph), path_);
  const Inputs inputs = Inputs(graph, trained_.scaling).to(model_->device(), graph, device_memory_);
  return {std::move(graph), inputs};
}

Tensor LinkPredictor::evaluate(std::span<const int64_t> links, Split split) const {
  const auto seeds =
      make_seeds(graph_, trained_.predicts, *trained_.model, options_.prediction, seed_);
  return outputs(*seeds, links, split);
}

Tensor LinkPredictor::outputs(const Seeds& seeds, std::span<const int64_t> links,
                              Split split) const {
  const ops::OneThread one_thread;
  const ops::PrecisionScope precision(precision_);
  const Workspace workspace;
  c10::NoGradGuard no_grad;
  const Visible graph = visible(split);
  if (split != Split::kVal && split != Split::kTest) {
    return objective_->predictions(hidden_outputs(graph, seeds, links));
  }
  const Evaluation evaluation(seeds, links, {graph.graph});
  const Tensor all = infer(*model_, graph.inputs, graph.graph, Keep::kEmbedding).embedding;
  const Tensor rows = ops::move(index_of(evaluation.nodes()), all.device());
  return objective_->predictions(
      evaluation.outputs(*model_, graph.inputs, all.index_select(0, rows)));
}

// In batches whose links pass no messages.
Tensor LinkPredictor::hidden_outputs(const Visible& visible, const Seeds& seeds,
                                     std::span<const int64_t> links) const {
  const Model& model = *model_;
  const Sampling whole{.fanouts = std::vector<int64_t>(static_cast<size_t>(model.block_count()),
                                                       kWholeNeighborhood)};
  const int64_t size = hidden_at_once(graph_.links);
  std::vector<Tensor> rows;
  for (int64_t first = 0; first < std::ssize(links); first += size) {
    const auto some = links.subspan(static_cast<size_t>(first),
                                    static_cast<size_t>(std::min(size, std::ssize(links) - first)));
    const HiddenArcs hidden = seeds.hidden(visible.graph, some).arcs;
    const Evaluation evaluation(seeds, some, {visible.graph, &hidden});
    const Batch batch = sample_batch(visible.graph, evaluation.nodes(), whole, {}, &hidden)
                            .to(visible.inputs.device());
    rows.push_back(
        evaluation.outputs(model, visible.inputs, model.embed(visible.inputs, batch, {})));
  }
  return at::cat(rows);
}

Scores LinkPredictor::score(Split split) const {
  const auto links = links_of(split);
  require(!links.empty(), path_, ": has no target links",
          trained_.task == Task::kNone ? "" : " with labels", " in split ",
          quote(split_name(split)),
          graph_.link_split.empty() && split != Split::kNone
              ? "; it has no split of links, and is not the training graph: use split none"
              : "");
  return objective_->score(evaluate(links, split), links);
}

Tensor LinkPredictor::predict(std::span<const int64_t> links) const {
  // Without the ranks of links.
  const LinkSeeds seeds(graph_.targets, pair_rules(graph_, trained_.predicts, *trained_.model));
  Tensor all;
  for (const Split split : {Split::kNone, Split::kTrain, Split::kVal, Split::kTest}) {
    std::vector<int64_t> some;
    std::vector<int64_t> rows;
    for (size_t i = 0; i < links.size(); ++i) {
      if (graph_.targets.split[links[i]] != static_cast<uint8_t>(split)) continue;
      some.push_back(links[i]);
      rows.push_back(static_cast<int64_t>(i));
    }
    if (some.empty()) continue;
    const Tensor of_split = outputs(seeds, some, split);
    if (!all.defined()) all = at::empty({std::ssize(links), of_split.size(1)}, at::kFloat);
    all.index_copy_(0, index_of(rows), of_split);
  }
  return all;
}

Tensor LinkPredictor::embedding() const {
  const ops::OneThread one_thread;
  const ops::PrecisionScope precision(precision_);
  const Workspace workspace;
  const Visible graph = visible(Split::kNone);
  return infer(*model_, graph.inputs, graph.graph, Keep::kEmbedding).embedding.cpu();
}

namespace {

// A target link of the relation with this name; −1 if links have no relations.
int64_t example_of(const LinkTargets& targets, const KnownLinks& known,
                   const std::string& relation) {
  if (!targets.relations) {
    require_option(relation.empty(), OptionName{"relation"}, ": the links of the model have none");
    return -1;
  }
  require_option(!relation.empty(), OptionName{"relation"}, ": required, because links have one");
  int64_t example = -1;
  for (int64_t i = 0; i < targets.size() && example < 0; ++i) {
    const int64_t own = known.relation(i);
    if (own < targets.attribute_names.size() && targets.attribute_names[own] == relation) {
      example = i;
    }
  }
  require_option(example >= 0, OptionName{"relation"}, " ", quote(relation),
                 ": must be a relation of the graph");
  return example;
}

// The `count` nodes with the highest scores, except for u and those that are linked to it.
std::vector<int32_t> best_candidates(std::span<const float> scores, int64_t u,
                                     std::span<const int32_t> linked, int64_t count) {
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int32_t v) {
    return v == u || std::binary_search(linked.begin(), linked.end(), v);
  });
  const auto end = order.begin() + std::min<int64_t>(count, std::ssize(order));
  const auto* score = scores.data();
  std::partial_sort(order.begin(), end, order.end(), [&](int32_t a, int32_t b) {
    return score[a] != score[b] ? score[a] > score[b] : a < b;
  });
  order.erase(end, order.end());
  return order;
}

}  // namespace

std::vector<LinkPredictor::Partner> LinkPredictor::partners(std::span<const int64_t> nodes,
                                                            int64_t count,
                                                            const std::string& relation) const {
  const ops::OneThread one_thread;
  const ops::PrecisionScope precision(precision_);
  const Workspace workspace;
  c10::NoGradGuard no_grad;
  require(trained_.predicts == Predicts::kLinkPrediction, "the model does not predict links");
  const Decoder& decoder = *model_->decoder();
  const PairRules rules = pair_rules(graph_, trained_.predicts, *trained_.model);
  const KnownLinks known(graph_, rules.symmetric, KnownLinks::Splits::kAll);
  const int64_t example = example_of(graph_.targets, known, relation);
  const int64_t relation_number = example < 0 ? 0 : known.relation(example);
  const Visible graph = visible(Split::kNone);
  const Tensor h = infer(*model_, graph.inputs, graph.graph, Keep::kEmbedding).embedding;
  const int64_t n = h.size(0);
  // For other decoders, the nodes with the largest dot products are candidates.
  const ScoreFactors factors = rules.product ? decoder.factors(h) : ScoreFactors{h, h};
  constexpr int64_t kCandidates = 100;
  const int64_t kept = rules.product ? count : std::max(count, kCandidates);
  Tensor r;
  if (example >= 0 && rules.product) {
    r = decoder.relation(graph.inputs.targets(), ops::move(index_of({&example, 1}), h.device()));
  }
  // Scores of candidates for u by the decoder.
  const auto rerank = [&](int64_t u, const std::vector<int32_t>& candidates) {
    const auto size = std::ssize(candidates);
    Pairs pairs;
    pairs.source = at::full({size}, u, at::kLong);
    pairs.target = index_of(std::vector<int64_t>(candidates.begin(), candidates.end()));
    if (example >= 0) pairs.link = at::full({size}, example, at::kLong);
    if (rules.statistics) {
      const std::vector<int32_t> source(candidates.size(), static_cast<int32_t>(u));
      pairs.statistics = pair_statistics({graph.graph}, source, candidates, rules.symmetric);
    }
    const Query query = Query{.pairs = pairs}.to(h.device());
    const Tensor scores = model_->outputs(graph.inputs, h, query.links(), {}).cpu().contiguous();
    std::vector<Partner> found;
    for (size_t i = 0; i < candidates.size(); ++i) {
      found.push_back({u, candidates[i], scores.data_ptr<float>()[i]});
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Partner& a, const Partner& b) { return a.score > b.score; });
    found.resize(static_cast<size_t>(std::min(count, std::ssize(found))));
    return found;
  };
  std::vector<Partner> partners;
  constexpr int64_t kScores = 1 << 22;
  const int64_t chunk = std::max<int64_t>(1, kScores / n);
  for (int64_t first = 0; first < std::ssize(nodes); first += chunk) {
    const auto some =
        nodes.subspan(static_cast<size_t>(first),
                      static_cast<size_t>(std::min(chunk, std::ssize(nodes) - first)));
    Tensor from = factors.source.index_select(0, ops::move(index_of(some), h.device()));
    if (r.defined()) from = from * r;
    const Tensor scores = ops::linear({from, {}}, factors.target).cpu().contiguous();
    const float* score = scores.data_ptr<float>();
    for (const int64_t u : some) {
      const auto found = rerank(u, best_candidates({score, static_cast<size_t>(n)}, u,
                                                   known.targets_of(u, relation_number), kept));
      partners.insert(partners.end(), found.begin(), found.end());
      score += n;
    }
  }
  return partners;
}

TrainedModel with_ranking(TrainedModel trained, Ranking ranking) {
  if (ranking == Ranking::kAuto) return trained;
  const bool ranks =
      trained.predicts == Predicts::kLinkPrediction || trained.predicts == Predicts::kEmbedding;
  require_option(ranks, OptionName{"ranking"}, ": the model does not predict links");
  ranking_for(ranking, *trained.model->decoder(), 1, 1);
  trained.link_task["ranking"] = name_of(ranking);
  return trained;
}

void write_link_predictions(const LinkPredictor& predictor, const PredictionColumns& columns,
                            const std::string& path) {
  const Graph& graph = predictor.graph();
  const Objective& objective = predictor.objective();
  std::vector<int64_t> links(static_cast<size_t>(graph.targets.size()));
  std::iota(links.begin(), links.end(), int64_t{0});
  const Tensor outputs = predictor.predict(links);
  TextWriter out(path);
  out << "source,target";
  for (const auto& name : objective.columns(columns)) (out << ',').field(name);
  out << '\n';
  constexpr int64_t kChunk = 1024;
  for (int64_t first = 0; first < graph.targets.size(); first += kChunk) {
    const int64_t last = std::min(first + kChunk, graph.targets.size());
    const Tensor some = outputs.slice(0, first, last);
    const Tensor probability = objective.probabilities(some);
    const Tensor values = (probability.defined() ? probability : some).cpu().contiguous();
    const auto width = static_cast<size_t>(values.size(1));
    const auto* row = values.data_ptr<float>();
    for (int64_t i = first; i < last; ++i, row += width) {
      out.field(graph.nodes.names[graph.targets.source[i]]) << ',';
      out.field(graph.nodes.names[graph.targets.target[i]]);
      objective.write_row(out, {row, width}, columns);
      out << '\n';
    }
  }
  out.commit();
}

}  // namespace lase
