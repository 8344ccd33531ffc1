#pragma once

#include <cstdint>

#include "lase/base/index_array.h"
#include "lase/graph/graph.h"
#include "lase/graph/raw_graph.h"

namespace lase {

// What became of the raw links.
struct BuildReport {
  int64_t raw_links = 0;
  int64_t self_loops = 0;  // dropped or kept, by the rules
  int64_t merged = 0;      // raw links that joined an earlier one
  int64_t isolated = 0;    // nodes without a link
};

struct BuiltGraph {
  Graph graph;
  BuildReport report;
};

// Merges parallel links and orders the rest into rows, by raw.rules. Rows of link attributes beyond
// `largest_narrow` take 64-bit indices.
BuiltGraph build_graph(RawGraph raw, int64_t largest_narrow = kLargestNarrow);

// The names that the attributes of a directional graph had before they were paired.
StringTable undirectional_names(const StringTable& names);

}  // namespace lase
