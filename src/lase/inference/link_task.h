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

// Gives a graph targets, all of its links, if it has none, and keeps what is known of targets.
void prepare_targets(Graph& graph, Predicts predicts);
// Splits the links of a graph with targets, and the targets, at random.
void split_links(Graph& graph, const LinkTaskOptions& options, uint64_t seed);
// Both, unless the graph has a split.
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

// The seeds of a split, with known labels if the task has labels. A link without a relation either
// exists or not, so of several targets between the same nodes, one is to be predicted.
std::vector<int64_t> seeds_of(const Graph& graph, Predicts predicts, const Objective& objective,
                              Split split);
// What the decoder of a model requires of pairs.
PairRules pair_rules(const Graph& graph, Predicts predicts, const Model& model);
// How seeds are scored by a model; `graph` must outlive them. The ranking must not be kAuto.
// `negatives`: see PredictedLinks.
std::unique_ptr<Seeds> make_seeds(const Graph& graph, Predicts predicts, const Model& model,
                                  const LinkPredictionOptions& options, uint64_t seed,
                                  const NodePairs& negatives = {});

}  // namespace lase
