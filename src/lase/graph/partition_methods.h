#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/array.h"
#include "lase/graph/partition.h"

namespace lase {

// A graph without directions and self-loops. Entry i of node u joins u and v = neighbor[i] by
// weight[i] arcs, u→v and v→u together; v has an entry of the same weight.
struct WeightedGraph {
  Array<int64_t> row_ptr;   // [nodes+1]
  Array<int32_t> neighbor;  // [entries], ascending within a row
  Array<int32_t> weight;    // [entries]; empty: all 1

  int64_t node_count() const { return row_ptr.size() - 1; }
};

// `advice` is for the user of a graph that is too large for the memory.
WeightedGraph without_directions(const Adjacency& graph, const std::string& advice);

// What is balanced: w(u) = number of arcs of u + 1. [nodes]
std::vector<int64_t> node_weights(const Adjacency& graph);

// The methods of Partitioner. A part may be empty.
std::vector<uint16_t> partition_metis(const Adjacency& graph, const PartitionOptions& options);
std::vector<uint16_t> partition_streaming(const Adjacency& graph, const PartitionOptions& options);

// Whether the indices of METIS have enough bits for the graph.
bool metis_can_index(const Adjacency& graph);
// Estimate of the bytes that METIS allocates.
double metis_memory(const Adjacency& graph);

}  // namespace lase
