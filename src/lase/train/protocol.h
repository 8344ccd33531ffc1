#pragma once

#include <cstdint>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/graph/graph.h"
#include "lase/inference/objective.h"

namespace lase {

// Labeled nodes per split, and the links that training may use. As in the paper, training uses only
// links between training nodes and leaves out training nodes without such a link; validation and
// test use all links. Nodes without a label take part only as neighbors.
struct Protocol {
  std::vector<int64_t> train;
  std::vector<int64_t> val;
  std::vector<int64_t> test;
  Adjacency all;
  Adjacency train_graph;  // links used in training
};

// `transductive`: training uses all links. `alone`: the model does not read neighbors, so training
// nodes without links are kept. Throws Error if there is nothing to learn from.
Protocol make_protocol(const Graph& graph, const Objective& objective, bool transductive,
                       bool alone = false);

}  // namespace lase
