#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lase/base/names.h"
#include "lase/base/option_table.h"
#include "lase/graph/adjacency.h"

namespace lase {

// Assigns every node to one of `parts` parts; each part has at least one node.
struct Partition {
  int64_t parts = 0;
  std::vector<uint16_t> part;  // [nodes]
};

inline constexpr int64_t kMostParts = 65'535;

// How a partition is computed:
//
//   kMetis      multilevel, by METIS: the fewest links between parts, but slow for large graphs
//   kStreaming  several passes over the nodes; each node joins the part with most of its neighbors
//   kAuto       METIS if it is built in and the graph is not too large for it
enum class Partitioner : uint8_t { kAuto, kMetis, kStreaming };
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Partitioner> = {"auto", "metis",
                                                                            "streaming"};

struct PartitionOptions {
  int64_t parts = 2;
  Partitioner method = Partitioner::kAuto;
  // The largest part may have 1 + imbalance times the mean, counting nodes and arcs alike. A node
  // with more arcs than that makes its part larger.
  double imbalance = 0.05;
  uint64_t seed = 1;
};

const OptionTable<PartitionOptions>& partition_option_table();

// Whether METIS is built in.
bool has_metis();

// The method that kAuto stands for; other methods are returned unchanged.
Partitioner choose_partitioner(const Adjacency& graph, const PartitionOptions& options);

// Divides the nodes into parts of similar size with few links between them. The result does not
// depend on the number of threads. Throws Error if there are fewer nodes than parts.
Partition partition_nodes(const Adjacency& graph, const PartitionOptions& options);

// The nodes of each part, in ascending order.
struct PartMembers {
  std::vector<int64_t> first;  // [parts+1]: positions in `node`
  std::vector<int32_t> node;   // [nodes]

  std::span<const int32_t> of(int64_t part) const {
    const auto p = static_cast<size_t>(part);
    return std::span(node).subspan(static_cast<size_t>(first[p]),
                                   static_cast<size_t>(first[p + 1] - first[p]));
  }
};
PartMembers part_members(const Partition& partition);

struct PartitionQuality {
  int64_t cut_arcs = 0;       // between nodes of different parts
  double cut_fraction = 0;    // of all arcs
  double node_imbalance = 1;  // nodes of the largest part / mean
  double arc_imbalance = 1;   // arcs of the largest part / mean
  // Neighbors of the nodes of a part that belong to other parts, each counted once.
  double mean_halo = 0;
  int64_t max_halo = 0;
};
PartitionQuality partition_quality(const Adjacency& graph, const Partition& partition);

}  // namespace lase
