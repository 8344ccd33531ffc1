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
#include "lase/graph/link_targets.h"
#include "lase/graph/nodes.h"

namespace lase {

// PCA projection fitted on training data: y = (x − mean) components. Empty if there is none.
struct Reduction {
  Array<float> mean;        // [columns]
  Array<float> components;  // [columns, kept]
  StringTable names;        // [columns]: column names before the projection

  bool present() const { return !mean.empty(); }
  int64_t columns() const { return mean.size(); }
  int64_t kept() const { return mean.empty() ? 0 : components.size() / mean.size(); }
};

// A graph with node features and link attributes. Its arrays are in memory or in a mapped file.
//
// Row link[i] of link_attributes is f(e) of arc i. The two arcs of an undirected link share a row,
// unless directions are separate: then the arcs of link l have rows 2l (from the lower node) and
// 2l+1, and the row of arc u→v is [sent from u to v, received by u from v].
struct Graph : Adjacency {
  Adjacency& adjacency() { return *this; }

  int64_t links = 0;  // an undirected link counts once
  bool directed = false;
  bool separate_directions = false;

  Nodes nodes;
  Attributes link_attributes;   // f(e): [links, k]; [2 links, k] if directions are separate
  StringTable attribute_names;  // [k]
  // [links]: values of Split except kNone. Links between the same nodes are merged within each
  // split, so that the links that a task may see are a subset of the links. Empty: no split of
  // links.
  Array<uint8_t> link_split;
  LinkTargets targets;  // empty: none were imported
  Reduction node_reduction;
  Reduction link_reduction;
  nlohmann::json preprocessing = nlohmann::json::object();  // see RawGraph
  std::string fingerprint;  // stored in the graph file; empty if there is none

  int64_t link_of_row(int64_t row) const { return separate_directions ? row / 2 : row; }
  int64_t split_size(Split split) const;
};

// [nodes]: whether a node is in the training split. Without a split, every node is.
std::vector<bool> training_nodes(const Graph& graph);

// Identifies the contents of a graph: the stored fingerprint, or else a checksum of its arrays.
std::string fingerprint(const Graph& graph);

// Writes the graph to one safetensors file, atomically.
void save_graph(const Graph& graph, const std::string& path);

// Memory-maps a graph file. Checks the header and the checksums of the metadata and of arrays of up
// to 1 MiB; larger arrays are not read.
Graph open_graph(const std::string& path);

// Opens a graph file, verifies the checksums of its arrays, and checks it with check_graph().
Graph load_graph(const std::string& path);

// Reads every array once; throws Error if an index is out of range or a number is not finite, so
// later code does not need to check again. `path` is for the message.
void check_graph(const Graph& graph, const std::string& path);

// Checks what building a graph guarantees and reading it does not rely on for safety: the order of
// arcs, that the arcs of an undirected graph come in pairs, and that links join the nodes of link
// targets. Throws Error.
void check_structure(const Graph& graph, const std::string& path);

}  // namespace lase
