#pragma once

#include <span>
#include <string>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

// Writes a graph as tables into a folder, and returns the words of the `lase import` command that
// makes the same graph of them (all but --out):
//
//   nodes.csv      id, label or labels or targets, split
//   features.npy   dense node features; features.csv (node, feature, value) where they are sparse,
//                  with their names in features.txt
//   links.csv      source, target, attributes; where they are sparse: source, target, relation,
//                  weight, with the names of the relations in relations.txt
//
// What was fitted on the data (edges of time slices, principal components) is not written.
std::vector<std::string> export_graph(const Graph& graph, const std::string& folder);

// One row of numbers per name, [names, width]: as .npy, or as a csv with the columns node, e0, e1,
// …
void write_rows(const StringTable& names, std::span<const float> values, const std::string& path);

}  // namespace lase
