#include "lase/train/protocol.h"

#include <algorithm>

#include "lase/base/error.h"

namespace lase {
namespace {

bool in_split(const Graph& graph, int64_t node, Split split) {
  if (graph.nodes.split.empty()) return split == Split::kTrain;
  return graph.nodes.split[node] == static_cast<uint8_t>(split);
}

std::vector<int64_t> labelled_nodes(const Graph& graph, Split split) {
  std::vector<int64_t> nodes;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (in_split(graph, u, split) && graph.nodes.labels.known(u)) nodes.push_back(u);
  }
  return nodes;
}

void check_labels(const Labels& labels, const std::vector<int64_t>& train) {
  require(labels.task != Task::kNone, "the graph has no labels to learn (import with --label)");
  require(labels.task != Task::kSingleLabel || labels.classes() >= 2, "the graph has ",
          labels.classes(), " class; expected at least two to tell apart");
  require(!train.empty(), "the graph has no training node with a label");
  if (labels.task != Task::kSingleLabel) return;
  const bool several = std::any_of(train.begin(), train.end(), [&](int64_t u) {
    return labels.label[u] != labels.label[train[0]];
  });
  require(several, "all training nodes have the label ",
          quote(labels.names[labels.label[train[0]]]), "; expected at least two to tell apart");
}

}  // namespace

Protocol make_protocol(const Graph& graph, bool transductive, bool alone) {
  Protocol protocol{labelled_nodes(graph, Split::kTrain),
                    labelled_nodes(graph, Split::kVal),
                    labelled_nodes(graph, Split::kTest),
                    graph,
                    {}};
  check_labels(graph.nodes.labels, protocol.train);
  protocol.seen = transductive ? protocol.all : adjacency_within(graph, training_nodes(graph));
  if (transductive || alone) return protocol;
  // Unless nobody has a neighbour.
  std::vector<int64_t> linked;
  for (const int64_t u : protocol.train) {
    if (protocol.seen.degree(u) > 0) linked.push_back(u);
  }
  if (!linked.empty()) protocol.train = std::move(linked);
  return protocol;
}

}  // namespace lase
