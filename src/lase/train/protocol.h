#pragma once

#include <cstdint>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/sampler/neighborhood.h"

namespace lase {

// Who is learned from, who is asked, and what training may look at. By the paper: training sees
// only links between training nodes, and training nodes without such a link are left out;
// validation and test nodes see all their links. Nodes without a label take part as neighbours
// only.
struct Protocol {
  std::vector<int64_t> train;
  std::vector<int64_t> val;
  std::vector<int64_t> test;
  Neighborhoods all;
  Neighborhoods seen;  // by training
};

// `transductive`: training sees all links. `alone`: nodes are learned from without their
// neighbours, so that those without any stay. Throws Error where there is nothing to learn.
Protocol make_protocol(const Graph& graph, bool transductive, bool alone = false);

// By node: whether it is for training. Without a split every node is.
std::vector<bool> training_nodes(const Graph& graph);

}  // namespace lase
