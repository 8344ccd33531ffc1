#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

struct RandomLinks {
  int64_t nodes = 60;
  int64_t links = 150;  // between distinct pairs of nodes
  int64_t groups = 1;   // nodes u and v are linked only if u ≡ v mod groups
  // A random category of each link: columns "c0", "c1", … of its attributes, of which it has one.
  int64_t categories = 0;
  bool directed = false;
  // Every third link has two more rows, one of them in the other direction.
  bool repeated = false;
  bool keep_parallel = false;  // in the graph
  bool targets = true;         // the rows are targets
  // What the categories are of targets.
  enum class Role : uint8_t { kAttributes, kRelations, kLabels, kLabelsAndAttributes };
  Role role = Role::kAttributes;
  // Rows in file order are in these splits, in turn, if any.
  std::vector<Split> splits = {};
  uint64_t seed = 1;
};

// A graph of random links between nodes without features, as of Erdős and Rényi. Nothing in it
// predicts links or categories.
Graph random_links(const RandomLinks& options);

// The targets of a split.
std::vector<int64_t> targets_in(const Graph& graph, Split split);
std::vector<int64_t> all_targets(const Graph& graph);

}  // namespace lase
