#include "lase/train/protocol.h"

namespace lase {

Protocol make_protocol(const Graph& graph, const Objective& objective, bool transductive,
                       bool alone) {
  Protocol protocol{objective.seeds(graph, Split::kTrain),
                    objective.seeds(graph, Split::kVal),
                    objective.seeds(graph, Split::kTest),
                    static_cast<const Adjacency&>(graph),
                    {}};
  objective.check(protocol.train);
  protocol.train_graph =
      transductive ? protocol.all : adjacency_within(graph, training_nodes(graph));
  if (transductive || alone) return protocol;
  // Leave out training nodes without links, unless none would remain.
  std::vector<int64_t> linked;
  for (const int64_t u : protocol.train) {
    if (protocol.train_graph.degree(u) > 0) linked.push_back(u);
  }
  if (!linked.empty()) protocol.train = std::move(linked);
  return protocol;
}

}  // namespace lase
