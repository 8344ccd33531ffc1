#include "lase/sampler/sampler.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lase/base/parallel.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

std::vector<int64_t> integers(const Tensor& tensor) {
  const Tensor wide = tensor.to(at::kLong);
  return {wide.data_ptr<int64_t>(), wide.data_ptr<int64_t>() + wide.numel()};
}

Floats floats(const Tensor& tensor) {
  return {tensor.data_ptr<float>(), tensor.data_ptr<float>() + tensor.numel()};
}

// Neighbor and link of an arc.
using Arc = std::pair<int64_t, int64_t>;

std::vector<Arc> arcs_of(const Graph& graph, int64_t u) {
  std::vector<Arc> arcs;
  for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
    arcs.emplace_back(graph.neighbor[i], graph.link[i]);
  }
  return arcs;
}

// The arcs of each target of a block, with the node numbers of the graph.
std::vector<std::vector<Arc>> sampled_arcs(const Block& block, const std::vector<int64_t>& nodes) {
  const auto row_ptr = integers(block.row_ptr);
  const auto source = integers(block.source);
  const auto link = integers(block.link);
  std::vector<std::vector<Arc>> all(static_cast<size_t>(block.targets()));
  for (size_t u = 0; u < all.size(); ++u) {
    for (auto i = static_cast<size_t>(row_ptr[u]); i < static_cast<size_t>(row_ptr[u + 1]); ++i) {
      all[u].emplace_back(nodes[static_cast<size_t>(source[i])], link[i]);
    }
  }
  return all;
}

void expect_same_batch(const Batch& a, const Batch& b) {
  EXPECT_EQ(integers(a.nodes), integers(b.nodes));
  ASSERT_EQ(a.blocks.size(), b.blocks.size());
  for (size_t l = 0; l < a.blocks.size(); ++l) {
    EXPECT_EQ(integers(a.blocks[l].row_ptr), integers(b.blocks[l].row_ptr));
    EXPECT_EQ(integers(a.blocks[l].source), integers(b.blocks[l].source));
    EXPECT_EQ(integers(a.blocks[l].link), integers(b.blocks[l].link));
    EXPECT_EQ(floats(a.blocks[l].weight), floats(b.blocks[l].weight));
  }
}

// Checks all invariants of the blocks of a batch, for any fan-outs.
void check_batch(const Graph& graph, const Batch& batch, const std::vector<int64_t>& seeds,
                 const std::vector<int64_t>& fanouts) {
  ASSERT_EQ(batch.blocks.size(), fanouts.size());
  std::vector<int64_t> nodes = integers(batch.nodes);
  EXPECT_EQ(std::set<int64_t>(nodes.begin(), nodes.end()).size(), nodes.size());
  for (size_t l = 0; l < batch.blocks.size(); ++l) {
    const Block& block = batch.blocks[l];
    ASSERT_EQ(block.sources, static_cast<int64_t>(nodes.size()));
    const auto row_ptr = integers(block.row_ptr);
    EXPECT_TRUE(std::is_sorted(row_ptr.begin(), row_ptr.end()));
    EXPECT_EQ(row_ptr.front(), 0);
    EXPECT_EQ(row_ptr.back(), block.arcs());
    const auto target = integers(block.target);
    for (size_t i = 0; i < target.size(); ++i) EXPECT_EQ(target[i], static_cast<int64_t>(i));
    const auto degree = floats(block.degree);
    for (size_t i = 0; i < nodes.size(); ++i) {
      EXPECT_EQ(degree[i], static_cast<float>(graph.degree(nodes[i])));
    }
    const auto weight = floats(block.weight);
    const auto sampled = sampled_arcs(block, nodes);
    size_t arc = 0;
    for (size_t i = 0; i < sampled.size(); ++i) {
      const auto all = arcs_of(graph, nodes[i]);
      const auto most = fanouts[l] == kWholeNeighborhood
                            ? all.size()
                            : std::min(all.size(), static_cast<size_t>(fanouts[l]));
      EXPECT_EQ(sampled[i].size(), most);
      if (most == all.size()) {
        EXPECT_EQ(sampled[i], all);
      }
      const std::set<Arc> distinct(sampled[i].begin(), sampled[i].end());
      EXPECT_EQ(distinct.size(), sampled[i].size());
      for (const Arc& one : sampled[i]) {
        EXPECT_NE(std::find(all.begin(), all.end(), one), all.end());
        EXPECT_FLOAT_EQ(weight[arc++], static_cast<float>(all.size()) / static_cast<float>(most));
      }
    }
    EXPECT_EQ(arc, weight.size());
    nodes.resize(target.size());  // targets are the first sources
  }
  EXPECT_EQ(nodes, seeds);
}

Graph dense_toy(uint64_t seed) {
  return toy_graph({.nodes = 40, .links = 300, .attributes = 1, .seed = seed});
}

TEST(Sampler, SatisfiesItsInvariantsForAnyFanout) {
  const Graph graph = dense_toy(1);
  const std::vector<int64_t> seeds = {5, 39, 0, 17, 22};  // 39 has no neighbor
  const std::vector<std::vector<int64_t>> choices = {{kWholeNeighborhood},
                                                     {kWholeNeighborhood, kWholeNeighborhood},
                                                     {3},
                                                     {1, 1},
                                                     {4, kWholeNeighborhood, 2},
                                                     {1000, 1000},
                                                     {}};
  for (const auto& fanouts : choices) {
    for (int64_t epoch = 0; epoch < 5; ++epoch) {
      const Batch batch = sample_batch(graph, seeds, {.fanouts = fanouts}, {3, epoch, 1});
      check_batch(graph, batch, seeds, fanouts);
    }
  }
}

// Each arc is left out with this probability, whichever rows are sampled, and the weights of the
// others grow in return.
TEST(Sampler, LeavesOutArcs) {
  const Graph graph = toy_graph({.nodes = 60, .links = 2000, .attributes = 1});
  const auto seeds = all_nodes(graph);
  constexpr double kRate = 0.25;
  for (const int64_t fanout : {kWholeNeighborhood, int64_t{20}}) {
    const Sampling whole{.fanouts = {fanout, fanout}};
    Sampling dropping = whole;
    dropping.link_dropout = kRate;
    const Batch all = sample_batch(graph, seeds, whole, {3, 1, 2});
    const Batch some = sample_batch(graph, seeds, dropping, {3, 1, 2});
    expect_same_batch(some, sample_batch(graph, seeds, dropping, {3, 1, 2}));
    for (size_t l = 0; l < 2; ++l) {
      const Block& from = all.blocks[l];
      const Block& block = some.blocks[l];
      const double part = static_cast<double>(block.arcs()) / static_cast<double>(from.arcs());
      const double error = std::sqrt(kRate * (1 - kRate) / static_cast<double>(from.arcs()));
      EXPECT_NEAR(part, 1 - kRate, 4 * error);
      EXPECT_EQ(floats(block.degree), floats(from.degree));
      const auto before = sampled_arcs(from, integers(all.nodes));
      const auto after = sampled_arcs(block, integers(some.nodes));
      const auto weight = floats(block.weight);
      const auto row_ptr = integers(block.row_ptr);
      EXPECT_EQ(row_ptr.back(), block.arcs());
      for (size_t u = 0; u < after.size(); ++u) {
        EXPECT_TRUE(
            std::includes(before[u].begin(), before[u].end(), after[u].begin(), after[u].end()));
        const auto degree = static_cast<double>(graph.degree(static_cast<int64_t>(u)));
        const double sampled = static_cast<double>(before[u].size());
        for (int64_t i = row_ptr[u]; i < row_ptr[u + 1]; ++i) {
          EXPECT_FLOAT_EQ(weight[static_cast<size_t>(i)],
                          static_cast<float>(degree / sampled / (1 - kRate)));
        }
      }
    }
    EXPECT_NE(integers(some.blocks[0].source), integers(some.blocks[1].source));
  }
}

TEST(Sampler, CountsTheArcsOfABatch) {
  const Graph graph = dense_toy(2);
  const Batch batch = whole_batch(graph, {3, 4}, 1);
  EXPECT_EQ(batch.arcs(), graph.degree(3) + graph.degree(4));
}

TEST(Sampler, DependsOnlyOnTheKeyForAnyNumberOfThreads) {
  // More targets than one chunk of parallel work.
  const Graph graph = toy_graph({.nodes = 6000, .links = 40'000, .attributes = 1});
  const auto seeds = all_nodes(graph);
  const std::vector<int64_t> fanouts = {3, 4};
  const auto sample = [&](int threads) {
    const ThreadLimit limit(threads);
    return sample_batch(graph, seeds, {.fanouts = fanouts}, {9, 2, 5});
  };
  expect_same_batch(sample(1), sample(4));
}

TEST(Sampler, DiffersBetweenSeedsEpochsBatchesAndLayers) {
  const Graph graph = dense_toy(3);
  const auto seeds = all_nodes(graph);
  const std::vector<int64_t> fanouts = {3, 3};
  const auto links = [&](const SampleKey& key) {
    return integers(sample_batch(graph, seeds, {.fanouts = fanouts}, key).blocks[1].link);
  };
  const auto first = links({1, 1, 1});
  EXPECT_EQ(links({1, 1, 1}), first);
  EXPECT_NE(links({2, 1, 1}), first);
  EXPECT_NE(links({1, 2, 1}), first);
  EXPECT_NE(links({1, 1, 2}), first);
  // All nodes are targets of both layers, so equal samples would give equal arrays.
  const Batch batch = sample_batch(graph, seeds, {.fanouts = fanouts}, {1, 1, 1});
  EXPECT_NE(integers(batch.blocks[0].link), integers(batch.blocks[1].link));
}

// A node has 17 links with a number each; the weighted sum over sampled links estimates their sum.
TEST(Sampler, EstimatesTheSumWithoutBias) {
  constexpr int64_t kDegree = 17;
  Adjacency star;
  std::vector<int64_t> row_ptr(kDegree + 2, kDegree);
  row_ptr[0] = 0;
  std::vector<int32_t> ends;
  for (int32_t i = 0; i < kDegree; ++i) ends.push_back(i);
  std::vector<int32_t> neighbor;
  for (int32_t i = 0; i < kDegree; ++i) neighbor.push_back(i + 1);
  star.row_ptr = row_ptr;
  star.neighbor = neighbor;
  star.link = ends;
  Doubles x;
  double exact = 0;
  Random random(4);
  for (int64_t i = 0; i < kDegree; ++i) x.push_back(1 + random.uniform());
  for (const double value : x) exact += value;
  const std::vector<int64_t> seeds = {0};
  for (const int64_t fanout : {1, 3, 10}) {
    constexpr int kSamples = 5000;
    double sum = 0;
    double squares = 0;
    std::vector<int64_t> times(kDegree);
    for (int epoch = 0; epoch < kSamples; ++epoch) {
      const Batch batch = sample_batch(star, seeds, {.fanouts = {fanout}}, {1, epoch, 0});
      const auto link = integers(batch.blocks[0].link);
      const auto weight = floats(batch.blocks[0].weight);
      double estimate = 0;
      for (size_t i = 0; i < link.size(); ++i) {
        estimate += double{weight[i]} * x[static_cast<size_t>(link[i])];
        ++times[static_cast<size_t>(link[i])];
      }
      sum += estimate;
      squares += estimate * estimate;
    }
    const double mean = sum / kSamples;
    const double error = std::sqrt((squares / kSamples - mean * mean) / kSamples);
    EXPECT_GT(error, 0);
    EXPECT_LT(error, 0.01 * exact);  // otherwise a wrong weight could go unnoticed
    EXPECT_NEAR(mean, exact, 4 * error) << "fanout " << fanout;
    // Every link is sampled equally often.
    const double p = static_cast<double>(fanout) / kDegree;
    for (const int64_t count : times) {
      EXPECT_NEAR(static_cast<double>(count) / kSamples, p,
                  4.5 * std::sqrt(p * (1 - p) / kSamples));
    }
  }
}

TEST(Adjacency, WithinANodeSetKeepsArcsBetweenItsNodes) {
  const Graph graph = dense_toy(5);
  std::vector<bool> kept;
  for (int64_t u = 0; u < graph.node_count(); ++u) kept.push_back(u % 3 != 1);
  const Adjacency within = adjacency_within(graph, kept);
  ASSERT_EQ(within.row_ptr.size(), graph.row_ptr.size());
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    std::vector<Arc> expected;
    for (const Arc& arc : arcs_of(graph, u)) {
      if (u % 3 != 1 && arc.first % 3 != 1) expected.push_back(arc);
    }
    std::vector<Arc> found;
    for (int64_t i = within.row_ptr[u]; i < within.row_ptr[u + 1]; ++i) {
      found.emplace_back(within.neighbor[i], within.link[i]);
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(within.degree(u), static_cast<int64_t>(expected.size()));
  }
}

TEST(Adjacency, GivesBlocksOfNodeRanges) {
  const Graph graph = dense_toy(6);
  const Adjacency& all = graph;
  const Tensor degree = degrees(all);
  const Block block = whole_block(all, degree, 7, 21);
  EXPECT_EQ(block.sources, graph.node_count());
  EXPECT_EQ(integers(block.target).front(), 7);
  EXPECT_EQ(block.targets(), 14);
  const auto arcs = sampled_arcs(block, all_nodes(graph));
  for (int64_t u = 7; u < 21; ++u) {
    EXPECT_EQ(arcs[static_cast<size_t>(u - 7)], arcs_of(graph, u));
    EXPECT_EQ(degree[u].item<float>(), static_cast<float>(graph.degree(u)));
  }
  EXPECT_FALSE(block.weight.defined());
}

}  // namespace
}  // namespace lase
