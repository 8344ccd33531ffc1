#include "lase/train/protocol.h"

namespace lase {
namespace {

// An undirected link has two arcs, or one if it is a self-loop.
int64_t count_links(const Adjacency& graph, bool directed) {
  if (directed) return graph.arc_count();
  int64_t links = 0;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      links += graph.neighbor[i] >= u ? 1 : 0;
    }
  }
  return links;
}

}  // namespace

std::vector<bool> visible_nodes(const Graph& graph, TrainingLinks links) {
  if (links == TrainingLinks::kAll) {
    return std::vector<bool>(static_cast<size_t>(graph.node_count()), true);
  }
  auto visible = training_nodes(graph);
  if (links == TrainingLinks::kStrict || graph.nodes.split.empty()) return visible;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (graph.nodes.split[u] == static_cast<uint8_t>(Split::kNone)) {
      visible[static_cast<size_t>(u)] = true;
    }
  }
  return visible;
}

TrainingLinks training_links(const TrainOptions& options) {
  return options.transductive       ? TrainingLinks::kAll
         : options.strict_inductive ? TrainingLinks::kStrict
                                    : TrainingLinks::kInductive;
}

Protocol make_protocol(const Graph& graph, const Objective& objective, TrainingLinks links,
                       bool alone) {
  const bool transductive = links == TrainingLinks::kAll;
  const Adjacency& all = graph;
  Protocol protocol{objective.seeds(graph, Split::kTrain),
                    objective.seeds(graph, Split::kVal),
                    objective.seeds(graph, Split::kTest),
                    all,
                    all,
                    all,
                    graph.links};
  objective.check(protocol.train);
  if (!transductive) {
    protocol.train_graph = adjacency_within(graph, visible_nodes(graph, links));
  }
  if (transductive) return protocol;
  protocol.training_links = count_links(protocol.train_graph, graph.directed);
  if (alone) return protocol;
  // Leave out training nodes without links, unless none would remain.
  std::vector<int64_t> linked;
  for (const int64_t u : protocol.train) {
    if (protocol.train_graph.degree(u) > 0) linked.push_back(u);
  }
  if (!linked.empty()) protocol.train = std::move(linked);
  return protocol;
}

Protocol make_link_protocol(const Graph& graph, Predicts predicts, const Objective& objective) {
  const auto seeds = [&](Split split) { return seeds_of(graph, predicts, objective, split); };
  Protocol protocol{seeds(Split::kTrain),
                    seeds(Split::kVal),
                    seeds(Split::kTest),
                    visible_links(graph, Split::kTrain),
                    {},
                    visible_links(graph, Split::kTest),
                    0};
  protocol.val_graph = protocol.train_graph;
  objective.check(protocol.train);
  protocol.training_links = count_links(protocol.train_graph, graph.directed);
  return protocol;
}

}  // namespace lase
