#pragma once

#include <cstdint>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/graph/graph.h"
#include "lase/inference/link_task.h"
#include "lase/inference/objective.h"
#include "lase/train/options.h"

namespace lase {

// Links used in training: those between training nodes and nodes that belong to no split
// (kInductive), only those between training nodes, as in the paper (kStrict), or all (kAll).
enum class TrainingLinks : uint8_t { kInductive, kStrict, kAll };

TrainingLinks training_links(const TrainOptions& options);

// [nodes]: whether training may use the links between such nodes.
std::vector<bool> visible_nodes(const Graph& graph, TrainingLinks links);

// The seeds of each split, and the links that pass messages when they are scored.
struct Protocol {
  std::vector<int64_t> train;
  std::vector<int64_t> val;
  std::vector<int64_t> test;
  Adjacency train_graph;
  Adjacency val_graph;
  Adjacency test_graph;
  int64_t training_links = 0;
};

// Seeds are labeled nodes; nodes without a label take part only as neighbors. Validation and test
// use all links. Unless training does too, training nodes without a link that it may use are left
// out.

//
// `alone`: the model does not read neighbors, so training nodes without links are kept. Throws
// Error if there is nothing to learn from.
Protocol make_protocol(const Graph& graph, const Objective& objective, TrainingLinks links,
                       bool alone = false);

// Seeds are the target links of a prepared graph; see LinkTaskOptions.
Protocol make_link_protocol(const Graph& graph, Predicts predicts, const Objective& objective);

}  // namespace lase
