#pragma once

#include <string>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

// A column that by itself predicts the labels of the training nodes almost perfectly, and so was
// probably derived from them.
struct Leak {
  std::string column;
  bool of_links = false;  // the sum of a link attribute over the links of a node
  double accuracy = 0;    // balanced: the mean recall of the classes
};

// Checks columns of node features, categories as one column, and sums of link attributes over the
// links of a node. Each is cut into at most 32 bins, which predict their most common label. Only
// for tasks with one label per node and at least 50 training nodes.
std::vector<Leak> find_leaks(const Graph& graph);

}  // namespace lase
