#include "lase/inference/link_task.h"

#include <algorithm>
#include <utility>

#include "lase/base/error.h"
#include "lase/graph/split.h"
#include "lase/inference/objectives/objectives.h"

namespace lase {
namespace {

// Every link once, from the node with the lower number, or in its direction.
void add_links_as_targets(Graph& graph) {
  Buffer<int32_t> source;
  Buffer<int32_t> target;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      if (!graph.directed && graph.neighbor[i] < u) continue;
      source.push_back(static_cast<int32_t>(u));
      target.push_back(graph.neighbor[i]);
    }
  }
  graph.targets = {};
  graph.targets.source = source.freeze();
  graph.targets.target = target.freeze();
  graph.targets.attributes = Attributes::dense({}, graph.targets.size(), 0);
  graph.targets.derived = true;
}

// Keeps the first target of those between the same nodes.
std::vector<int64_t> distinct_pairs(const LinkTargets& targets, const std::vector<int64_t>& seeds,
                                    bool symmetric) {
  struct Seed {
    uint64_t pair;
    int64_t seed;
    bool operator<(const Seed& other) const {
      return pair != other.pair ? pair < other.pair : seed < other.seed;
    }
  };
  std::vector<Seed> order;
  order.reserve(seeds.size());
  for (const int64_t seed : seeds) {
    auto u = static_cast<uint32_t>(targets.source[seed]);
    auto v = static_cast<uint32_t>(targets.target[seed]);
    if (symmetric && u > v) std::swap(u, v);
    constexpr int kNodeBits = 32;
    order.push_back({static_cast<uint64_t>(u) << kNodeBits | v, seed});
  }
  std::sort(order.begin(), order.end());
  std::vector<int64_t> distinct;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i].pair != order[i - 1].pair) distinct.push_back(order[i].seed);
  }
  std::sort(distinct.begin(), distinct.end());
  return distinct;
}

}  // namespace

void split_links(Graph& graph, const LinkTaskOptions& options, uint64_t seed) {
  const Proportions proportions = parse_proportions(options.split, "link_split");
  LinkTargets& targets = graph.targets;
  targets.split =
      random_link_split(targets.source, targets.target, graph.nodes.names, proportions, seed);
  std::vector<int32_t> source(static_cast<size_t>(graph.links));
  std::vector<int32_t> target(source.size());
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const auto link = static_cast<size_t>(graph.link_of_row(graph.link[i]));
      source[link] = static_cast<int32_t>(u);
      target[link] = graph.neighbor[i];
    }
  }
  graph.link_split = random_link_split(source, target, graph.nodes.names, proportions, seed);
}

Predicts what_to_predict(const Graph& graph, Predicts wanted) {
  const bool nodes = graph.nodes.labels.task != Task::kNone;
  const bool links = graph.targets.labels.task != Task::kNone;
  switch (wanted) {
    case Predicts::kAuto:
      require_option(!nodes || !links, OptionName{"task"},
                     " auto: the graph has labels of nodes and of links; set it to nodes, links, "
                     "link-prediction or embedding");
      if (links) return Predicts::kLinks;
      if (!nodes && graph.targets.size() > 0) return Predicts::kLinkPrediction;
      require(nodes, "the graph has no labels; import it with ", OptionName{"label"}, " or ",
              OptionName{"link_label"}, ", or set ", OptionName{"task"},
              " to link-prediction or embedding");
      return Predicts::kNodes;
    case Predicts::kNodes:
      require_option(nodes, OptionName{"task"},
                     " nodes: the graph has no labels of nodes; import it with ",
                     OptionName{"label"});
      return wanted;
    case Predicts::kLinks:
      require_option(links, OptionName{"task"},
                     " links: the graph has no labels of links; import it with ",
                     OptionName{"link_label"});
      return wanted;
    case Predicts::kLinkPrediction:
    case Predicts::kEmbedding:
      require_option(graph.links > 0, OptionName{"task"}, " ", name_of(wanted),
                     ": the graph has no links");
      return wanted;
  }
  return wanted;
}

void prepare_targets(Graph& graph, Predicts predicts) {
  if (graph.targets.size() == 0) add_links_as_targets(graph);
  if (predicts != Predicts::kLinks) graph.targets.labels = {};
  // The attributes of links that do not exist are not known, except for the relation in question.
  const bool relations = predicts == Predicts::kLinkPrediction && graph.targets.relations;
  if (predicts != Predicts::kLinks && !relations) {
    graph.targets.attributes = Attributes::dense({}, graph.targets.size(), 0);
    graph.targets.attribute_names = {};
    graph.targets.relations = false;
  }
}

void prepare_links(Graph& graph, Predicts predicts, const LinkTaskOptions& options, uint64_t seed) {
  prepare_targets(graph, predicts);
  if (graph.targets.split.empty()) split_links(graph, options, seed);
}

// The links of an undirected graph do not tell in which direction they were imported.
bool is_symmetric(const Graph& graph, Predicts predicts) {
  const bool ordered = graph.separate_directions && !graph.targets.derived;
  return predicts != Predicts::kLinks && !graph.directed && !ordered && !graph.targets.relations;
}

Adjacency visible_links(const Graph& graph, Split split) {
  const Adjacency& all = graph;
  if (graph.link_split.empty() || split == Split::kNone) return all;
  return filter_arcs(graph, [&](int64_t, int64_t arc) {
    const auto own = static_cast<Split>(graph.link_split[graph.link_of_row(graph.link[arc])]);
    return own == Split::kNone || own == Split::kTrain ||
           (own == Split::kVal && split == Split::kTest);
  });
}

std::unique_ptr<Objective> make_objective(const Graph& graph, Predicts predicts, Ranking ranking) {
  if (predicts == Predicts::kNodes) return make_objective(graph.nodes.labels);
  if (predicts == Predicts::kLinks) return make_objective(graph.targets.labels);
  return link_prediction(ranking);
}

std::vector<int64_t> seeds_of(const Graph& graph, Predicts predicts, const Objective& objective,
                              Split split) {
  if (predicts == Predicts::kNodes) return objective.seeds(graph, split);
  std::vector<int64_t> seeds;
  for (int64_t i = 0; i < graph.targets.size(); ++i) {
    if (graph.targets.split[i] != static_cast<uint8_t>(split)) continue;
    if (predicts != Predicts::kLinks || objective.labels().known(i)) seeds.push_back(i);
  }
  const LinkTargets& targets = graph.targets;
  if (predicts == Predicts::kLinks || targets.relations || targets.derived) return seeds;
  return distinct_pairs(targets, seeds, is_symmetric(graph, predicts));
}

PairRules pair_rules(const Graph& graph, Predicts predicts, const Model& model) {
  const Decoder& decoder = *model.decoder();
  return {.symmetric = is_symmetric(graph, predicts),
          .statistics = decoder.reads_statistics(),
          .product = decoder.is_product()};
}

std::unique_ptr<Seeds> make_seeds(const Graph& graph, Predicts predicts, const Model& model,
                                  const LinkPredictionOptions& options, uint64_t seed,
                                  const NodePairs& negatives) {
  if (predicts == Predicts::kNodes) return std::make_unique<NodeSeeds>();
  const PairRules rules = pair_rules(graph, predicts, model);
  if (predicts == Predicts::kLinks) return std::make_unique<LinkSeeds>(graph.targets, rules);
  return std::make_unique<PredictedLinks>(graph, rules, options, seed, negatives);
}

std::vector<int64_t> PreparedTask::seeds(Split split) const {
  return seeds_of(graph, predicts, *objective, split);
}

PreparedTask prepare_task(const Graph& graph, const TaskOptions& options) {
  PreparedTask task{graph, what_to_predict(graph, options.predicts), {}};
  if (predicts_links(task.predicts)) {
    prepare_links(task.graph, task.predicts, options.links, options.seed);
  }
  task.objective = make_objective(task.graph, task.predicts, options.links.prediction.ranking);
  task.objective->set_decision(task.objective->select(options.select, task.seeds(Split::kTrain)));
  return task;
}

}  // namespace lase
