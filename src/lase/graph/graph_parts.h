#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/part.h"
#include "lase/graph/graph.h"
#include "lase/graph/partition.h"

namespace lase {

// The data of a partitioned graph that every process maps.
struct GraphParts {
  std::string folder;
  std::string id;  // of the partition; all its files carry it
  // The whole graph without neighbors, node features and link attributes: row_ptr, the names,
  // labels and split of all nodes, and the names of all columns.
  Graph graph;
  int64_t arcs = 0;            // of the whole graph
  Array<uint16_t> part;        // [nodes]: the part of each node
  Array<int32_t> row;          // [nodes]: the row of each node in its part
  std::vector<int64_t> sizes;  // [parts]: nodes of each part
  Attributes node_features;    // layout and columns only, without rows
  Attributes link_attributes;  // layout and columns only, without rows

  int64_t node_count() const { return part.size(); }
  int64_t parts() const { return static_cast<int64_t>(sizes.size()); }
};

// The nodes of one or several consecutive parts: their features, all their arcs, and the attributes
// of these. Row i of everything belongs to node[i].
struct GraphPart {
  Array<int32_t> node;  // [rows]: the nodes, ascending within each part
  // row_ptr [rows+1]; `neighbor` are nodes of the whole graph, in the order of the whole graph;
  // `link` are rows of link_attributes below.
  Adjacency arcs;
  Attributes features;  // [rows, d]
  // [rows of links, k]: the rows that the arcs use, in the order of the whole graph within each
  // part. A link between two parts is in both.
  Attributes link_attributes;
};

// Writes a partitioned graph to a folder: one file per part, with its nodes in ascending order, and
// the file `nodes`, which names the partition that the parts belong to. The file `nodes` is written
// last and the parts of an earlier partition are deleted after that, so that the folder has a
// complete partition at any time. Throws Error if the folder has other contents, or if the graph
// has link targets or a split of links.
void save_parts(const Graph& graph, const Partition& partition, const std::string& folder);

// Whether the path is a folder with a partitioned graph.
bool is_partitioned(const std::string& path);

// Memory-maps what all processes need. Reads and checks all of it.
GraphParts open_parts(const std::string& folder);

// Reads the parts range.first … range.last − 1 and checks everything that check_graph() does. A
// single part is mapped; the arrays of several are concatenated in memory.
GraphPart load_parts(const GraphParts& parts, Part range);

// Reads all parts, one at a time, and also checks the order of their arcs. Throws Error.
void check_parts(const GraphParts& parts);

}  // namespace lase
