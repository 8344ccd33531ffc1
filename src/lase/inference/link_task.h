#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/inference/link_options.h"
#include "lase/inference/link_prediction.h"
#include "lase/inference/objective.h"
#include "lase/inference/seeds.h"
#include "lase/model/description.h"

namespace lase {

// Tasks whose seeds are links. Which links pass messages depends on the split of the targets:
//
//   training targets      training links, except those of the batch
//   validation targets    training links
//   test targets          training and validation links
//
// A random split keeps parallel links and both directions together. In a split by time, links of an
// earlier split between the same nodes are visible: they are known when the target is predicted.

inline bool predicts_links(Predicts predicts) {
  return predicts != Predicts::kAuto && predicts != Predicts::kNodes;
}

// What to predict in a graph, in place of kAuto. Throws Error if the graph does not have such
// targets.
Predicts what_to_predict(const Graph& graph, Predicts wanted);

// Gives a graph targets, all of its links, and a split of its targets and links if it has none.
void prepare_links(Graph& graph, Predicts predicts, const LinkTaskOptions& options, uint64_t seed);

// Whether exchanging the nodes of a link must not change its outputs.
bool is_symmetric(const Graph& graph, Predicts predicts);

// The links that pass messages when the targets of a split are scored. kNone: all links.
Adjacency visible_links(const Graph& graph, Split split);

// The objective of a task on a prepared graph.
std::unique_ptr<Objective> make_objective(const Graph& graph, Predicts predicts, Ranking ranking);

// A graph prepared for a task, the objective, which has selected its metric, and the seeds.
struct PreparedTask {
  Graph graph;
  Predicts predicts = Predicts::kNodes;  // not kAuto
  std::unique_ptr<Objective> objective;

  std::vector<int64_t> seeds(Split split) const;
};
PreparedTask prepare_task(const Graph& graph, const TaskOptions& options);

// The seeds of a split, with known labels if the task has labels.
std::vector<int64_t> seeds_of(const Graph& graph, Predicts predicts, const Objective& objective,
                              Split split);
// How seeds are scored by a model; `graph` must outlive them. The ranking must not be kAuto.
std::unique_ptr<Seeds> make_seeds(const Graph& graph, Predicts predicts, const Model& model,
                                  const LinkPredictionOptions& options, uint64_t seed);

}  // namespace lase
