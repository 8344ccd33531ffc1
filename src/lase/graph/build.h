#pragma once

#include <cstdint>

#include "lase/base/index_array.h"
#include "lase/graph/graph.h"
#include "lase/graph/raw_graph.h"

namespace lase {

// Counts for the import summary.
struct BuildReport {
  int64_t raw_links = 0;
  int64_t self_loops = 0;  // dropped or kept, depending on the rules
  int64_t merged = 0;      // raw links merged into an earlier one
  int64_t isolated = 0;    // nodes without links
};

struct BuiltGraph {
  Graph graph;
  BuildReport report;
};

// Merges parallel links and builds the adjacency according to raw.rules. Indices of link attributes
// take 64 bits if the largest exceeds `largest_narrow`.
BuiltGraph build_graph(RawGraph raw, int64_t largest_narrow = kLargestNarrow);

// Attribute names of a graph with separate directions, before they were paired: "out x" → "x".
StringTable shared_names(const StringTable& names);

}  // namespace lase
