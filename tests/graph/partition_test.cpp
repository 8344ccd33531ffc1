#include "lase/graph/partition.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "lase/base/context.h"
#include "lase/base/error.h"
#include "lase/base/random.h"
#include "lase/graph/partition_methods.h"

#include "support.h"

namespace lase {
namespace {

struct Arc {
  int64_t source = 0;
  int64_t target = 0;
  auto operator<=>(const Arc&) const = default;  // NOLINT(modernize-use-nullptr)
};

Adjacency adjacency(int64_t nodes, std::vector<Arc> arcs) {
  std::sort(arcs.begin(), arcs.end());
  std::vector<int64_t> row_ptr(static_cast<size_t>(nodes) + 1);
  std::vector<int32_t> neighbor;
  std::vector<int32_t> link;
  for (const Arc& arc : arcs) {
    ++row_ptr[static_cast<size_t>(arc.source) + 1];
    neighbor.push_back(static_cast<int32_t>(arc.target));
    link.push_back(static_cast<int32_t>(link.size()));
  }
  std::partial_sum(row_ptr.begin(), row_ptr.end(), row_ptr.begin());
  return {row_ptr, neighbor, link};
}

constexpr int64_t kCommunities = 16;

// Node u belongs to community u mod 16, and one in ten links leaves it.
Adjacency communities(int64_t nodes, int64_t links, bool directed = false) {
  std::vector<Arc> arcs;
  for (int64_t i = 0; i < links; ++i) {
    Random random(3, i);
    const auto u = static_cast<int64_t>(random.below(static_cast<uint64_t>(nodes)));
    auto v = static_cast<int64_t>(random.below(static_cast<uint64_t>(nodes)));
    if (!random.chance(0.1)) v += u % kCommunities - v % kCommunities;
    if (v < 0 || v >= nodes) continue;
    arcs.push_back({u, v});
    if (!directed && u != v) arcs.push_back({v, u});
  }
  return adjacency(nodes, std::move(arcs));
}

std::vector<Partitioner> methods() {
  std::vector<Partitioner> all = {Partitioner::kStreaming};
  if (has_metis()) all.push_back(Partitioner::kMetis);
  return all;
}

Partition partition(const Adjacency& graph, Partitioner method, int64_t parts, uint64_t seed = 1) {
  return partition_nodes(graph, {.parts = parts, .method = method, .seed = seed});
}

std::vector<int64_t> sizes(const Partition& partition) {
  std::vector<int64_t> counts(static_cast<size_t>(partition.parts));
  for (const uint16_t p : partition.part) ++counts.at(p);
  return counts;
}

TEST(Partition, FindsCommunities) {
  for (const bool directed : {false, true}) {
    const Adjacency graph = communities(8000, 80'000, directed);
    for (const auto method : methods()) {
      const auto quality = partition_quality(graph, partition(graph, method, 8));
      // 0.875 at random; 0.09 if every community is in one part.
      EXPECT_LT(quality.cut_fraction, 0.25) << name_of(method) << directed;
      EXPECT_GT(quality.cut_fraction, 0.05) << name_of(method) << directed;
      EXPECT_LT(quality.arc_imbalance, 1.1) << name_of(method) << directed;
      EXPECT_LT(quality.node_imbalance, 1.1) << name_of(method) << directed;
    }
  }
}

// The nodes at the ends of the arcs have none of their own.
TEST(Partition, FollowsArcsInBothDirections) {
  constexpr int64_t kHalf = 2000;
  std::vector<Arc> arcs;
  for (int64_t u = 0; u < kHalf; ++u) {
    for (int64_t i = 0; i < 10; ++i) {
      const auto step = static_cast<int64_t>(Random(5, u, i).below(kHalf / kCommunities));
      arcs.push_back({u, kHalf + u % kCommunities + step * kCommunities});
    }
  }
  const Adjacency graph = adjacency(2 * kHalf, arcs);
  for (const auto method : methods()) {
    EXPECT_LT(partition_quality(graph, partition(graph, method, 4)).cut_fraction, 0.1)
        << name_of(method);
  }
}

TEST(Partition, IsTheSameForAnyNumberOfThreads) {
  const Adjacency graph = communities(3000, 20'000, true);
  for (const auto method : methods()) {
    std::set<std::vector<uint16_t>> results;
    std::set<int64_t> halos;
    for (const int threads : {1, 2, 5}) {
      const ThreadLimit limit(threads);
      const Partition parts = partition(graph, method, 7);
      results.insert(parts.part);
      halos.insert(partition_quality(graph, parts).max_halo);
    }
    EXPECT_EQ(results.size(), 1U) << name_of(method);
    EXPECT_EQ(halos.size(), 1U) << name_of(method);
    EXPECT_NE(partition(graph, method, 7, 2).part, *results.begin()) << name_of(method);
  }
}

TEST(Partition, GivesEveryPartANode) {
  std::vector<Adjacency> graphs = {adjacency(9, {}), communities(9, 30), communities(40, 100)};
  std::vector<Arc> star;
  for (int64_t leaf = 1; leaf < 9; ++leaf) {
    star.push_back({0, leaf});
    star.push_back({leaf, 0});
  }
  graphs.push_back(adjacency(9, star));
  for (const Adjacency& graph : graphs) {
    for (const auto method : methods()) {
      for (int64_t parts = 1; parts <= 9; ++parts) {
        const auto counts = sizes(partition(graph, method, parts));
        EXPECT_EQ(std::count(counts.begin(), counts.end(), 0), 0)
            << name_of(method) << " " << parts << " parts";
      }
    }
  }
}

TEST(Partition, RejectsMorePartsThanNodes) {
  for (const auto method : methods()) {
    expect_error([&] { partition(adjacency(3, {}), method, 4); },
                 {"parts 4: the graph has only 3 nodes"});
    expect_error([&] { partition(adjacency(0, {}), method, 1); }, {"0 nodes"});
  }
  expect_error([] { partition(adjacency(3, {}), Partitioner::kStreaming, 65'536); }, {"parts"});
  expect_error([] { partition(adjacency(3, {}), Partitioner::kStreaming, 0); }, {"parts"});
}

TEST(Partition, ExplainsThatMetisIsMissing) {
  if (has_metis()) GTEST_SKIP() << "METIS is built in";
  expect_error([] { partition(adjacency(3, {}), Partitioner::kMetis, 2); },
               {"method metis: lase was built without METIS"});
}

TEST(Partition, ChoosesMetisIfItIsBuiltIn) {
  const Adjacency graph = adjacency(3, {{0, 1}, {1, 0}});
  const auto method = choose_partitioner(graph, {.parts = 2});
  EXPECT_EQ(method, has_metis() ? Partitioner::kMetis : Partitioner::kStreaming);
  EXPECT_EQ(choose_partitioner(graph, {.parts = 2, .method = Partitioner::kStreaming}),
            Partitioner::kStreaming);
}

TEST(Partition, AcceptsHubsSelfLoopsAndRepeatedLinks) {
  std::vector<Arc> arcs = {{1, 1}, {1, 1}, {2, 2}};
  for (int64_t leaf = 1; leaf < 200; ++leaf) {
    for (int copy = 0; copy < 1 + leaf % 3; ++copy) {
      arcs.push_back({0, leaf});
      arcs.push_back({leaf, 0});
    }
  }
  const Adjacency graph = adjacency(200, arcs);
  for (const auto method : methods()) {
    const auto counts = sizes(partition(graph, method, 4));
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}), 200);
  }
}

TEST(WithoutDirections, CountsArcsInBothDirections) {
  const WeightedGraph merged =
      without_directions(adjacency(4, {{0, 1}, {0, 1}, {1, 0}, {2, 1}, {3, 3}}), "");
  EXPECT_EQ(std::vector(merged.row_ptr.begin(), merged.row_ptr.end()),
            (std::vector<int64_t>{0, 1, 3, 4, 4}));
  EXPECT_EQ(std::vector(merged.neighbor.begin(), merged.neighbor.end()),
            (std::vector<int32_t>{1, 0, 2, 1}));
  EXPECT_EQ(std::vector(merged.weight.begin(), merged.weight.end()),
            (std::vector<int32_t>{3, 3, 1, 1}));
}

TEST(PartitionQuality, CountsCutArcsAndHalos) {
  // Part 0: nodes 0, 1, 2; part 1: node 3; part 2: node 4.
  const Adjacency graph = adjacency(
      5, {{0, 1}, {1, 0}, {0, 3}, {3, 0}, {1, 3}, {3, 1}, {2, 4}, {4, 2}, {4, 4}, {2, 2}});
  const auto quality = partition_quality(graph, {.parts = 3, .part = {0, 0, 0, 1, 2}});
  EXPECT_EQ(quality.cut_arcs, 6);
  EXPECT_DOUBLE_EQ(quality.cut_fraction, 0.6);
  EXPECT_DOUBLE_EQ(quality.node_imbalance, 3 / (5 / 3.0));
  EXPECT_DOUBLE_EQ(quality.arc_imbalance, 6 / (10 / 3.0));
  EXPECT_EQ(quality.max_halo, 2);  // {3, 4}, {0, 1}, {2}
  EXPECT_DOUBLE_EQ(quality.mean_halo, 5 / 3.0);
}

TEST(PartMembers, AscendWithinEachPart) {
  const auto members = part_members({.parts = 3, .part = {2, 0, 2, 0, 1}});
  const auto of = [&](int64_t part) {
    const auto nodes = members.of(part);
    return std::vector<int32_t>(nodes.begin(), nodes.end());
  };
  EXPECT_EQ(of(0), (std::vector<int32_t>{1, 3}));
  EXPECT_EQ(of(1), (std::vector<int32_t>{4}));
  EXPECT_EQ(of(2), (std::vector<int32_t>{0, 2}));
}

// The first array that does not fit is the reversed graph, or, in a graph with few parallel links,
// the merged one.
TEST(WithoutDirections, RejectsGraphsThatDoNotFitIntoMemory) {
  constexpr int64_t kNodes = 6000;
  const auto regular = [](int64_t degree) {
    std::vector<int64_t> row_ptr = {0};
    std::vector<int32_t> neighbor;
    for (int64_t u = 0; u < kNodes; ++u) {
      for (int64_t i = 1; i <= degree; ++i) {
        neighbor.push_back(static_cast<int32_t>((u + i) % kNodes));
      }
      row_ptr.push_back(std::ssize(neighbor));
    }
    return Adjacency{row_ptr, neighbor, {}};
  };
  for (const int64_t degree : {5000, 2000}) {  // arcs of 120 MB and 48 MB
    const Adjacency graph = regular(degree);
    const MemoryLimit limit(100 << 20);
    expect_error([&] { without_directions(graph, "try another graph"); },
                 {"copies of the links without directions need", "; try another graph"});
  }
}

}  // namespace
}  // namespace lase
