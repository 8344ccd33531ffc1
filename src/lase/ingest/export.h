#pragma once

#include <string>
#include <variant>

#include "lase/graph/graph.h"
#include "lase/ingest/import.h"

namespace lase {

// Options that read exported tables back: LinksOptions for dense and dictionary-encoded link
// attributes, TypedOptions for sparse ones.
using ExportedTables = std::variant<LinksOptions, TypedOptions>;

// Writes a graph as tables into a folder and returns the options that import the same graph from
// them:
//
//   nodes.csv      id; label, labels or targets; split
//   features.npy   dense node features; sparse ones are written to features.csv (node, feature,
//                  value), with their names in features.txt
//   links.csv      source, target, link_split if there is one, attributes; sparse attributes as
//                  source, target, link_split, relation, weight, with the names of the relations in
//                  relations.txt
//
// Fitted values (time-slice edges, principal components) and link targets are not written.
ExportedTables export_graph(const Graph& graph, const std::string& folder);

}  // namespace lase
