#pragma once

#include <cstdint>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/graph/graph.h"
#include "lase/inference/objective.h"

namespace lase {

// Who is learned from, who is asked, and what training may look at. By the paper: training sees
// only links between training nodes, and training nodes without such a link are left out;
// validation and test nodes see all their links. Nodes without a label take part as neighbours
// only.
struct Protocol {
  std::vector<int64_t> train;
  std::vector<int64_t> val;
  std::vector<int64_t> test;
  Adjacency all;
  Adjacency seen;  // by training
};

// `transductive`: training sees all links. `alone`: nodes are learned from without their
// neighbours, so that those without any stay. Throws Error where there is nothing to learn.
Protocol make_protocol(const Graph& graph, const Objective& objective, bool transductive,
                       bool alone = false);

}  // namespace lase
