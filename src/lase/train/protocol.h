#pragma once

#include <cstdint>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/graph/graph.h"
#include "lase/inference/objective.h"
#include "lase/train/options.h"

namespace lase {

// Links used in training: those between training nodes and nodes that belong to no split
// (kInductive), only those between training nodes, as in the paper (kStrict), or all (kAll).
enum class TrainingLinks : uint8_t { kInductive, kStrict, kAll };

TrainingLinks training_links(const TrainOptions& options);

// [nodes]: whether training may use the links between such nodes.
std::vector<bool> visible_nodes(const Graph& graph, TrainingLinks links);

// Labeled nodes per split, and the links that training may use. Unless these are all links,
// training nodes without such a link are left out. Validation and test use all links. Nodes without
// a label take part only as neighbors.
struct Protocol {
  std::vector<int64_t> train;
  std::vector<int64_t> val;
  std::vector<int64_t> test;
  Adjacency all;
  Adjacency train_graph;  // links used in training
  int64_t training_links = 0;
};

// `alone`: the model does not read neighbors, so training nodes without links are kept. Throws
// Error if there is nothing to learn from.
Protocol make_protocol(const Graph& graph, const Objective& objective, TrainingLinks links,
                       bool alone = false);

}  // namespace lase
