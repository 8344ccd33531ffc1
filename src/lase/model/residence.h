#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/graph/adjacency.h"

namespace lase {

class Inputs;

// What of a graph is in the memory of a GPU. The rest is in memory of the CPU: batches are sampled
// there, and the rows of features and link attributes that a batch reads are copied once.
struct Residence {
  bool adjacency = true;
  bool links = true;
  bool features = true;
  std::vector<int64_t> cached;  // if features are not, nodes whose features are copied nevertheless
};

// What fits into this many bytes: in this order, the adjacency, link attributes, and node features,
// or those of the nodes with the most neighbors.
Residence choose_residence(const Inputs& inputs, const Adjacency& graph, int64_t bytes);

// What is in memory of the CPU, for the user; empty: nothing.
std::string describe(const Residence& residence);

}  // namespace lase
