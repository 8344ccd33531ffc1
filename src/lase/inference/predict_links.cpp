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
#include "lase/ops/workspace.h"

namespace lase {

using at::Tensor;

namespace {

LinkTaskOptions options_of(const TrainedModel& trained) {
  nlohmann::json stored = trained.link_task;
  stored.erase("seed");
  return link_task_option_table().from_json(stored);
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
                             const std::string& path)
    : trained_(trained),
      path_(path),
      options_(options_of(trained)),
      seed_(trained.link_task.value("seed", uint64_t{1})),
      graph_(graph) {
  require(predicts_links(trained.predicts), "the model predicts labels of nodes, not of links");
  require(graph.links > 0, path, ": the graph has no links");
  prepare_links(graph_, trained.predicts, options_, seed_);
  const auto found = graph_.targets.attributes.columns;
  require(found == trained.target_names.size(), path, ": its target links have ", found,
          " attributes, but the model was trained on ", trained.target_names.size(),
          "; import the data with ", OptionName{"like"}, " and the training graph");
  Labels labels{.task = trained.task, .label = {}, .target = {}, .names = trained.label_names};
  if (graph_.targets.labels.task != Task::kNone) {
    labels = labels_as_trained(trained, graph_.targets.labels);
  }
  objective_ = make_objective(trained, labels);
}

LinkPredictor::~LinkPredictor() = default;

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
  Inputs inputs(graph, trained_.scaling);
  return {std::move(graph), std::move(inputs)};
}

Tensor LinkPredictor::outputs(const Visible& visible, const Seeds& seeds,
                              std::span<const int64_t> links) const {
  const Query query = seeds.query(links, {visible.graph});
  const Tensor all =
      infer(*trained_.model, visible.inputs, visible.graph, Keep::kEmbedding).embedding;
  return seeds.evaluate(*trained_.model, visible.inputs, links, query,
                        all.index_select(0, index_of(query.nodes)));
}

Tensor LinkPredictor::evaluate(std::span<const int64_t> links, Split split) const {
  const ops::OneThread one_thread;
  const Workspace workspace;
  c10::NoGradGuard no_grad;
  const Visible graph = visible(split);
  const auto seeds =
      make_seeds(graph.graph, trained_.predicts, *trained_.model, options_.prediction, seed_);
  if (split == Split::kVal || split == Split::kTest) {
    return objective_->predictions(outputs(graph, *seeds, links));
  }
  const Model& model = *trained_.model;
  const Sampling whole{.fanouts = std::vector<int64_t>(static_cast<size_t>(model.block_count()),
                                                       kWholeNeighborhood)};
  const int64_t size = hidden_at_once(graph_.links);
  std::vector<Tensor> rows;
  for (int64_t first = 0; first < std::ssize(links); first += size) {
    const auto some = links.subspan(static_cast<size_t>(first),
                                    static_cast<size_t>(std::min(size, std::ssize(links) - first)));
    const HiddenArcs hidden = seeds->hidden(graph.graph, some);
    const Query query = seeds->query(some, {graph.graph, &hidden});
    const Batch batch = sample_batch(graph.graph, query.nodes, whole, {}, &hidden);
    rows.push_back(
        seeds->evaluate(model, graph.inputs, some, query, model.embed(graph.inputs, batch, {})));
  }
  return objective_->predictions(at::cat(rows));
}

Scores LinkPredictor::score(Split split) const {
  const auto links = links_of(split);
  require(!links.empty(), path_, ": has no target links",
          trained_.task == Task::kNone ? "" : " with labels", " in split ",
          quote(split_name(split)));
  return objective_->score(evaluate(links, split), links);
}

Tensor LinkPredictor::predict(std::span<const int64_t> links) const {
  // Labels are predicted as they are evaluated; of ranks and scores [n, 4], the score is kept.
  const bool ranks = trained_.predicts != Predicts::kLinks;
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
    Tensor outputs = evaluate(some, split);
    if (ranks) outputs = outputs.narrow(1, 2, 1);
    if (!all.defined()) all = at::empty({std::ssize(links), outputs.size(1)}, at::kFloat);
    all.index_copy_(0, index_of(rows), outputs);
  }
  return all;
}

Tensor LinkPredictor::embedding() const {
  const ops::OneThread one_thread;
  const Workspace workspace;
  const Visible graph = visible(Split::kNone);
  return infer(*trained_.model, graph.inputs, graph.graph, Keep::kEmbedding).embedding;
}

std::vector<LinkPredictor::Partner> LinkPredictor::partners(std::span<const int64_t> nodes,
                                                            int64_t count,
                                                            const std::string& relation) const {
  const ops::OneThread one_thread;
  const Workspace workspace;
  c10::NoGradGuard no_grad;
  require(trained_.predicts == Predicts::kLinkPrediction, "the model does not predict links");
  const Decoder& decoder = *trained_.model->decoder();
  const LinkTargets& targets = graph_.targets;
  int64_t relation_number = 0;
  int64_t example = -1;  // a target link of the relation
  const bool symmetric = is_symmetric(graph_, trained_.predicts);
  const KnownLinks known(graph_, symmetric, KnownLinks::Splits::kAll);
  if (targets.relations) {
    for (int64_t i = 0; i < targets.size() && example < 0; ++i) {
      relation_number = known.relation(i);
      if (targets.attribute_names[relation_number] == relation) example = i;
    }
    require_option(example >= 0, OptionName{"relation"}, " ", quote(relation),
                   ": must be a relation of the graph");
  } else {
    require_option(relation.empty(), OptionName{"relation"}, ": the links of the model have none");
  }
  const Visible graph = visible(Split::kNone);
  const Tensor h = infer(*trained_.model, graph.inputs, graph.graph, Keep::kEmbedding).embedding;
  const int64_t n = h.size(0);
  // For other decoders, the nodes with the largest dot products are candidates.
  const bool exact = decoder.is_product();
  const ScoreFactors factors = exact ? decoder.factors(h) : ScoreFactors{h, h};
  constexpr int64_t kCandidates = 100;
  const int64_t kept = exact ? count : std::max(count, kCandidates);
  Tensor r;
  if (example >= 0 && exact) r = decoder.relation(graph.inputs.targets(), index_of({&example, 1}));
  std::vector<Partner> partners;
  constexpr int64_t kScores = 1 << 22;
  const int64_t chunk = std::max<int64_t>(1, kScores / n);
  const auto all = std::ssize(nodes);
  for (int64_t first = 0; first < all; first += chunk) {
    const auto some = nodes.subspan(static_cast<size_t>(first),
                                    static_cast<size_t>(std::min(chunk, all - first)));
    Tensor from = factors.source.index_select(0, index_of(some));
    if (r.defined()) from = from * r;
    const Tensor scores = ops::linear({from, {}}, factors.target).contiguous();
    const float* score = scores.data_ptr<float>();
    for (const int64_t u : some) {
      const auto linked = known.targets_of(u, relation_number);
      std::vector<int32_t> order(static_cast<size_t>(n));
      std::iota(order.begin(), order.end(), 0);
      std::erase_if(order, [&](int32_t v) {
        return v == u || std::binary_search(linked.begin(), linked.end(), v);
      });
      const auto end = order.begin() + std::min<int64_t>(kept, std::ssize(order));
      std::partial_sort(order.begin(), end, order.end(), [&](int32_t a, int32_t b) {
        return score[a] != score[b] ? score[a] > score[b] : a < b;
      });
      order.erase(end, order.end());
      score += n;
      const std::vector<int32_t> source(order.size(), static_cast<int32_t>(u));
      const std::vector<int64_t> links(order.size(), example);
      Pairs pairs;
      pairs.source = at::full({std::ssize(order)}, u, at::kLong);
      pairs.target = index_of(std::vector<int64_t>(order.begin(), order.end()));
      if (example >= 0) pairs.link = index_of(links);
      if (decoder.reads_statistics()) {
        pairs.statistics = pair_statistics({graph.graph}, source, order, symmetric);
      }
      const Tensor outputs = trained_.model->outputs(graph.inputs, h, &pairs, {}).contiguous();
      std::vector<Partner> found;
      for (size_t i = 0; i < order.size(); ++i) {
        found.push_back({u, order[i], outputs.data_ptr<float>()[i]});
      }
      std::stable_sort(found.begin(), found.end(),
                       [](const Partner& a, const Partner& b) { return a.score > b.score; });
      found.resize(static_cast<size_t>(std::min<int64_t>(count, std::ssize(found))));
      partners.insert(partners.end(), found.begin(), found.end());
    }
  }
  return partners;
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
