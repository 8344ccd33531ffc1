#include "lase/graph/partition.h"

#include <algorithm>
#include <numeric>

#include "lase/base/context.h"
#include "lase/base/error.h"
#include "lase/base/memory.h"
#include "lase/base/parallel.h"
#include "lase/graph/partition_methods.h"

namespace lase {
namespace {

constexpr int64_t kPartitionGrain = 1 << 14;  // nodes

// [nodes+1]: the transpose, whose rows ascend.
struct Transpose {
  std::vector<int64_t> row_ptr;
  Buffer<int32_t> neighbor;
};

Transpose transpose(const Adjacency& graph) {
  const int64_t n = graph.node_count();
  Transpose to;
  to.row_ptr.resize(static_cast<size_t>(n) + 1);
  for (const int32_t v : graph.neighbor) ++to.row_ptr[static_cast<size_t>(v) + 1];
  std::partial_sum(to.row_ptr.begin(), to.row_ptr.end(), to.row_ptr.begin());
  to.neighbor.resize(graph.arc_count());
  std::vector<int64_t> next(to.row_ptr.begin(), to.row_ptr.end() - 1);
  for (int64_t u = 0; u < n; ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      to.neighbor[next[static_cast<size_t>(graph.neighbor[i])]++] = static_cast<int32_t>(u);
    }
  }
  return to;
}

// The other ends of the arcs to and from one node, in ascending order.
class MergedRow {
 public:
  MergedRow(const Adjacency& graph, const Transpose& reverse) : graph_(graph), reverse_(reverse) {}

  // Calls visit(v, number of arcs between u and v) for each neighbor v ≠ u.
  template <class Visit>
  void for_each(int64_t u, const Visit& visit) {
    const auto out = graph_.neighbor.slice(graph_.row_ptr[u], graph_.row_ptr[u + 1]);
    out_.assign(out.begin(), out.end());
    if (!std::is_sorted(out_.begin(), out_.end())) std::sort(out_.begin(), out_.end());
    const int32_t* in = reverse_.neighbor.data();
    const auto row = static_cast<size_t>(u);
    all_.clear();
    std::merge(out_.begin(), out_.end(), in + reverse_.row_ptr[row], in + reverse_.row_ptr[row + 1],
               std::back_inserter(all_));
    for (size_t i = 0; i < all_.size();) {
      const size_t first = i;
      while (i < all_.size() && all_[i] == all_[first]) ++i;
      if (all_[first] != u) visit(all_[first], static_cast<int32_t>(i - first));
    }
  }

 private:
  const Adjacency& graph_;
  const Transpose& reverse_;
  std::vector<int32_t> out_;
  std::vector<int32_t> all_;
};

// Moves single nodes, the last ones first, from parts with several nodes to parts without any.
void fill_empty_parts(Partition& partition) {
  std::vector<int64_t> sizes(static_cast<size_t>(partition.parts));
  for (const uint16_t p : partition.part) ++sizes[p];
  auto u = partition.part.size();
  for (size_t empty = 0; empty < sizes.size(); ++empty) {
    if (sizes[empty] > 0) continue;
    do {
      --u;
    } while (sizes[partition.part[u]] < 2);
    --sizes[partition.part[u]];
    ++sizes[empty];
    partition.part[u] = static_cast<uint16_t>(empty);
  }
}

double largest_relative_to_mean(const std::vector<int64_t>& sizes) {
  const auto total = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  if (total == 0) return 1;
  const auto largest = *std::max_element(sizes.begin(), sizes.end());
  return static_cast<double>(largest) * static_cast<double>(sizes.size()) /
         static_cast<double>(total);
}

}  // namespace

const OptionTable<PartitionOptions>& partition_option_table() {
  static const auto table = [] {
    using O = PartitionOptions;
    OptionTable<O> all;
    all.add("parts", &O::parts, between(1, kMostParts), "Number of parts");
    all.add("method", &O::method, one_of<Partitioner>(),
            "Partitioning method (auto = metis if it is built in and the graph is not too large)");
    all.add("imbalance", &O::imbalance, between(0.001, 1),
            "Allowed imbalance: the largest part may have (1 + imbalance) times the mean number of "
            "nodes and arcs");
    all.add("seed", &O::seed, any(), "Random seed");
    return all;
  }();
  return table;
}

WeightedGraph without_directions(const Adjacency& graph, const std::string& advice) {
  const int64_t n = graph.node_count();
  const auto require_arrays = [&](int64_t of_nodes, int64_t of_entries) {
    require_memory(static_cast<double>(n * of_nodes * int64_t{sizeof(int64_t)}) +
                       static_cast<double>(of_entries) * sizeof(int32_t),
                   "copies of the links without directions", advice);
  };
  require_arrays(2, graph.arc_count());
  const Transpose reverse = transpose(graph);
  const auto for_each_entry = [&](const auto& visit) {
    parallel_for(n, kPartitionGrain, [&](int64_t first, int64_t last) {
      MergedRow row(graph, reverse);
      for (int64_t u = first; u < last; ++u) {
        row.for_each(u, [&](int32_t v, int32_t weight) { visit(u, v, weight); });
      }
    });
  };
  Buffer<int64_t> row_ptr;
  row_ptr.resize(n + 1);
  std::fill(row_ptr.begin(), row_ptr.end(), 0);
  for_each_entry([&](int64_t u, int32_t, int32_t) { ++row_ptr[u + 1]; });
  std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
  require_arrays(1, 2 * row_ptr[n]);
  Buffer<int32_t> neighbor;
  Buffer<int32_t> weights;
  neighbor.resize(row_ptr[n]);
  weights.resize(row_ptr[n]);
  std::vector<int64_t> next(row_ptr.begin(), row_ptr.end());
  for_each_entry([&](int64_t u, int32_t v, int32_t weight) {
    const int64_t at = next[static_cast<size_t>(u)]++;
    neighbor[at] = v;
    weights[at] = weight;
  });
  return {row_ptr.freeze(), neighbor.freeze(), weights.freeze()};
}

std::vector<int64_t> node_weights(const Adjacency& graph) {
  std::vector<int64_t> weights(static_cast<size_t>(graph.node_count()));
  for (size_t u = 0; u < weights.size(); ++u) {
    weights[u] = graph.degree(static_cast<int64_t>(u)) + 1;
  }
  return weights;
}

Partitioner choose_partitioner(const Adjacency& graph, const PartitionOptions& options) {
  if (options.method != Partitioner::kAuto) return options.method;
  // METIS takes about a minute for this number of arcs, on one core.
  constexpr int64_t kMostArcs = 100'000'000;
  const bool fits = has_metis() && graph.arc_count() <= kMostArcs && metis_can_index(graph) &&
                    metis_memory(graph) <= static_cast<double>(available_memory());
  return fits ? Partitioner::kMetis : Partitioner::kStreaming;
}

Partition partition_nodes(const Adjacency& graph, const PartitionOptions& options) {
  partition_option_table().check(options);
  const int64_t n = graph.node_count();
  require_option(options.parts <= n, OptionName{"parts"}, " ", options.parts,
                 ": the graph has only ", n, n == 1 ? " node" : " nodes");
  Partition partition{.parts = options.parts, .part = {}};
  if (options.parts == 1) {
    partition.part.assign(static_cast<size_t>(n), 0);
  } else if (choose_partitioner(graph, options) == Partitioner::kMetis) {
    partition.part = partition_metis(graph, options);
  } else {
    partition.part = partition_streaming(graph, options);
  }
  fill_empty_parts(partition);
  return partition;
}

PartMembers part_members(const Partition& partition) {
  PartMembers members;
  members.first.resize(static_cast<size_t>(partition.parts) + 1);
  for (const uint16_t p : partition.part) ++members.first[size_t{p} + 1];
  std::partial_sum(members.first.begin(), members.first.end(), members.first.begin());
  std::vector<int64_t> next(members.first.begin(), members.first.end() - 1);
  members.node.resize(partition.part.size());
  for (size_t u = 0; u < partition.part.size(); ++u) {
    members.node[static_cast<size_t>(next[partition.part[u]]++)] = static_cast<int32_t>(u);
  }
  return members;
}

PartitionQuality partition_quality(const Adjacency& graph, const Partition& partition) {
  const PartMembers members = part_members(partition);
  const auto parts = static_cast<size_t>(partition.parts);
  std::vector<int64_t> nodes(parts);
  std::vector<int64_t> arcs(parts);
  std::vector<int64_t> cut(parts);
  std::vector<int64_t> halo(parts);
  const int64_t grain = (partition.parts + thread_count() - 1) / thread_count();
  parallel_for(partition.parts, grain, [&](int64_t first, int64_t last) {
    // seen[v] = p + 1 if v is in the halo of part p. One array per thread.
    std::vector<uint16_t> seen(partition.part.size());
    for (auto p = static_cast<size_t>(first); p < static_cast<size_t>(last); ++p) {
      const auto mark = static_cast<uint16_t>(p + 1);
      for (const int32_t u : members.of(static_cast<int64_t>(p))) {
        ++nodes[p];
        arcs[p] += graph.degree(u);
        for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
          const auto v = static_cast<size_t>(graph.neighbor[i]);
          if (partition.part[v] == p) continue;
          ++cut[p];
          if (seen[v] != mark) ++halo[p];
          seen[v] = mark;
        }
      }
    }
  });
  PartitionQuality quality;
  const auto sum = [](const auto& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  };
  quality.cut_arcs = sum(cut);
  quality.cut_fraction = static_cast<double>(quality.cut_arcs) /
                         static_cast<double>(std::max<int64_t>(1, graph.arc_count()));
  quality.node_imbalance = largest_relative_to_mean(nodes);
  quality.arc_imbalance = largest_relative_to_mean(arcs);
  quality.mean_halo = static_cast<double>(sum(halo)) / static_cast<double>(partition.parts);
  quality.max_halo = *std::max_element(halo.begin(), halo.end());
  return quality;
}

}  // namespace lase
