#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "lase/base/array.h"
#include "lase/base/attributes.h"
#include "lase/base/string_table.h"
#include "lase/ingest/raw_graph.h"

namespace lase {

// A projection fitted on training data: y = (x − mean) components. Empty where none was made.
struct Reduction {
  Array<float> mean;        // [columns]
  Array<float> components;  // [columns, kept]
  StringTable names;        // of the columns before the projection

  bool present() const { return !mean.empty(); }
  int64_t columns() const { return mean.size(); }
  int64_t kept() const { return mean.empty() ? 0 : components.size() / mean.size(); }
};

// A graph with attributes on nodes and links, as arrays that lie in memory or in a mapped file.
//
// N(u) are the arcs row_ptr[u] … row_ptr[u+1]: neighbor[i] is v, and row link[i] of
// link_attributes is f(e). Neighbours ascend within a row. The two arcs of an undirected link share
// a row, unless the graph is directional: then the arcs of link l have the rows 2l (from the lower
// node) and 2l+1, each [what u sent to v, what it received].
struct Graph {
  Array<int64_t> row_ptr;   // [nodes+1]
  Array<int32_t> neighbor;  // [arcs]
  Array<int32_t> link;      // [arcs]
  int64_t links = 0;        // an undirected link counts once
  bool directed = false;
  bool directional = false;

  Nodes nodes;
  Attributes link_attributes;   // f(e): [links, k]; [2 links, k] where directional
  StringTable attribute_names;  // [k]
  Reduction node_reduction;
  Reduction link_reduction;
  nlohmann::json recipe = nlohmann::json::object();  // see RawGraph

  int64_t node_count() const { return row_ptr.size() - 1; }
  int64_t arc_count() const { return neighbor.size(); }
  int64_t degree(int64_t u) const { return row_ptr[u + 1] - row_ptr[u]; }
  int64_t link_of_row(int64_t row) const { return directional ? row / 2 : row; }
  int64_t split_size(Split split) const;
};

inline constexpr int kGraphVersion = 1;

// Writes the graph as one safetensors file, whole or not at all.
void save_graph(const Graph& graph, const std::string& path);

// Maps a graph file. Takes the same short time for every size: the header is checked, the arrays
// are not read.
Graph open_graph(const std::string& path);

// Reads every array once and throws Error where an index leads outside or a number is not finite,
// so that nothing that walks the graph needs to look again. `path` is for the message.
void check_graph(const Graph& graph, const std::string& path);

}  // namespace lase
