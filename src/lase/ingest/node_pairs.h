#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/string_table.h"

namespace lase {

// Pairs of nodes, such as pairs that are known not to be linked.
struct NodePairs {
  std::vector<int32_t> source;
  std::vector<int32_t> target;
};

// Reads a table with a source and a target per row. Throws Error if a node is not among `names`.
NodePairs read_node_pairs(const std::string& path, const StringTable& names);

}  // namespace lase
