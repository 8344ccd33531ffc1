#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lase/base/process_group.h"
#include "lase/graph/graph.h"
#include "lase/graph/graph_parts.h"

namespace lase {

// A partitioned graph that is divided among processes: each has some of its parts, with the rows of
// their nodes.
class DividedGraph {
 public:
  // Opens a partition with the parts of this process. All current processes call this.
  explicit DividedGraph(const std::string& folder);

  // What every process maps: names, labels and split of all nodes.
  const GraphParts& whole() const { return whole_; }
  int64_t node_count() const { return whole_.node_count(); }

  // The local rows: features, arcs, whose neighbors are numbered as in the whole graph, and link
  // attributes.
  const Graph& own() const { return own_; }
  const Array<int32_t>& own_nodes() const { return own_nodes_; }  // [local rows]

  // The process and local row of a node.
  RowPlace place(int64_t node) const {
    const RowPlace& first = first_row_[whole_.part[node]];
    return {first.process, first.row + whole_.row[node]};
  }
  std::vector<RowPlace> places(std::span<const int64_t> nodes) const;

 private:
  GraphParts whole_;
  Graph own_;
  Array<int32_t> own_nodes_;
  std::vector<RowPlace> first_row_;  // of each part
};

// The local arcs between visible nodes.
Adjacency own_arcs_within(const DividedGraph& graph, const std::vector<bool>& visible);

}  // namespace lase
