#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "lase/base/array.h"
#include "lase/base/attributes.h"
#include "lase/base/string_table.h"
#include "lase/graph/adjacency.h"
#include "lase/graph/nodes.h"

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
// Row link[i] of link_attributes is f(e) of arc i. The two arcs of an undirected link share a row,
// unless the graph is directional: then the arcs of link l have the rows 2l (from the lower node)
// and 2l+1, each [what u sent to v, what it received].
struct Graph : Adjacency {
  Adjacency& adjacency() { return *this; }

  int64_t links = 0;  // an undirected link counts once
  bool directed = false;
  bool directional = false;

  Nodes nodes;
  Attributes link_attributes;   // f(e): [links, k]; [2 links, k] where directional
  StringTable attribute_names;  // [k]
  Reduction node_reduction;
  Reduction link_reduction;
  nlohmann::json recipe = nlohmann::json::object();  // see RawGraph
  std::string fingerprint;  // of the file that the graph was read from; empty where it has none

  int64_t link_of_row(int64_t row) const { return directional ? row / 2 : row; }
  int64_t split_size(Split split) const;
};

// By node: whether it is for training. Without a split every node is.
std::vector<bool> training_nodes(const Graph& graph);

inline constexpr int kGraphVersion = 1;

// Identifies the contents of a graph: what the file says that it was read from, or else a checksum
// of its arrays.
std::string fingerprint(const Graph& graph);

// Writes the graph as one safetensors file, whole or not at all.
void save_graph(const Graph& graph, const std::string& path);

// Maps a graph file. Takes the same short time for every size: the header is checked, the arrays
// are not read.
Graph open_graph(const std::string& path);

// Reads every array once and throws Error where an index leads outside or a number is not finite,
// so that nothing that walks the graph needs to look again. `path` is for the message.
void check_graph(const Graph& graph, const std::string& path);

}  // namespace lase
