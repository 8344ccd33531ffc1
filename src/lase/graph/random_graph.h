#pragma once

#include <cstdint>

#include "lase/base/option_table.h"
#include "lase/graph/graph.h"

namespace lase {

struct RandomGraphOptions {
  int64_t nodes = 61836;
  int64_t links = 1222411;
  int64_t node_dim = 602;
  int64_t link_dim = 32;
  Layout layout = Layout::kDense;
  int64_t stored = 3;          // values per row of sparse attributes
  int64_t distinct_rows = 40;  // of dictionary-encoded attributes
  int64_t classes = 16;        // of the labels, assigned at random
  uint64_t seed = 1;
};

const OptionTable<RandomGraphOptions>& random_graph_option_table();

// A uniformly random graph in memory with random features, attributes and labels, for benchmarks:
// there is nothing to learn from it.
Graph random_graph(const RandomGraphOptions& options);

}  // namespace lase
