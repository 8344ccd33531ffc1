#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/option_table.h"
#include "lase/graph/build.h"
#include "lase/graph/graph.h"
#include "lase/ingest/format.h"

namespace lase {

// Steps of an import after reading.
struct ImportOptions {
  std::string like;          // graph file whose schema the new graph follows; empty: none
  int64_t reduce_nodes = 0;  // principal components; 0: as they are
  int64_t reduce_links = 0;
};
const OptionTable<ImportOptions>& import_option_table();

// A graph and what to tell the user about its import. Messages contain option names as in Error.
struct ImportedGraph {
  Graph graph;
  BuildReport report;
  LinkRules rules;
  std::vector<TableReport> tables;
  std::vector<std::string> notes;
  std::vector<std::string> warnings;  // about columns read or chosen differently than meant
};

// Reads and builds a graph, follows the schema of an earlier graph, reduces attributes to principal
// components, and looks for columns that give the label away.
ImportedGraph import_graph(const Import& import, const ImportOptions& options);

}  // namespace lase
