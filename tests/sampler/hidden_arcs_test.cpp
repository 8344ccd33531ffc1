// Sampling without hidden arcs.

#include "lase/graph/hidden_arcs.h"

#include <cmath>
#include <set>

#include "lase/sampler/sampler.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

// A graph with parallel arcs, and a third of its links to hide.
struct Hiding {
  explicit Hiding(bool directed)
      : graph(random_links({.nodes = 40,
                            .links = 300,
                            .directed = directed,
                            .repeated = true,
                            .keep_parallel = true})) {
    std::vector<int32_t> source;
    std::vector<int32_t> target;
    for (int64_t i = 0; i < graph.targets.size(); i += 3) {
      source.push_back(graph.targets.source[i]);
      target.push_back(graph.targets.target[i]);
    }
    hidden = HiddenArcs(graph, source, target);
    visible = visible_arcs(graph, hidden);
  }

  Graph graph;
  HiddenArcs hidden;
  Adjacency visible;
};

void expect_same_block(const Block& found, const Block& expected) {
  EXPECT_EQ(found.sources, expected.sources);
  expect_same_bits(found.target, expected.target, "target");
  expect_same_bits(found.row_ptr, expected.row_ptr, "row_ptr");
  expect_same_bits(found.source, expected.source, "source");
  expect_same_bits(found.link, expected.link, "link");
  expect_same_bits(found.degree, expected.degree, "degree");
  ASSERT_EQ(found.weight.defined(), expected.weight.defined());
  if (found.weight.defined()) expect_same_bits(found.weight, expected.weight, "weight");
}

TEST(SamplerWithHiddenArcs, SamplesAsFromTheGraphWithoutThem) {
  for (const bool directed : {false, true}) {
    const Hiding hiding(directed);
    ASSERT_LT(hiding.visible.arc_count(), hiding.graph.arc_count());
    const std::vector<int64_t> seeds = {7, 3, 21, 0, 39};
    for (const std::vector<int64_t>& fanouts :
         {std::vector<int64_t>{kWholeNeighborhood, kWholeNeighborhood}, {3, 2}, {1, 12}}) {
      for (const auto replacement : {Replacement::kWithout, Replacement::kWith}) {
        for (const double dropout : {0.0, 0.3}) {
          const Sampling sampling{.fanouts = fanouts,
                                  .replacement = replacement,
                                  .link_dropout = dropout,
                                  .ordered_from = 1};
          const SampleKey key{5, 2, 3};
          const Batch found = sample_batch(hiding.graph, seeds, sampling, key, &hiding.hidden);
          const Batch expected = sample_batch(hiding.visible, seeds, sampling, key);
          expect_same_bits(found.nodes, expected.nodes, "nodes");
          ASSERT_EQ(found.blocks.size(), 2);
          for (size_t l = 0; l < 2; ++l) expect_same_block(found.blocks[l], expected.blocks[l]);
        }
      }
    }
  }
}

TEST(SamplerWithHiddenArcs, GivesWholeRowsAndDegreesOfTheGraphWithoutThem) {
  const Hiding hiding(false);
  const std::vector<int64_t> nodes = {7, 3, 21, 0, 39};
  const WholeRows found = whole_rows(hiding.graph, nodes, &hiding.hidden);
  const WholeRows expected = whole_rows(hiding.visible, nodes);
  expect_same_bits(found.sources, expected.sources, "sources");
  expect_same_block(found.block, expected.block);
  expect_same_bits(degrees_of(hiding.graph, nodes, &hiding.hidden),
                   degrees(hiding.visible).index_select(0, index_tensor(nodes)), "degrees");
}

// A node with 17 links, of which 5 are hidden: the weighted sum over sampled links estimates the
// sum over the other 12.
TEST(SamplerWithHiddenArcs, EstimatesTheSumOverVisibleArcsWithoutBias) {
  constexpr int64_t kDegree = 17;
  Adjacency star;
  std::vector<int64_t> row_ptr(kDegree + 2, kDegree);
  row_ptr[0] = 0;
  std::vector<int32_t> link;
  std::vector<int32_t> neighbor;
  for (int32_t i = 0; i < kDegree; ++i) {
    link.push_back(i);
    neighbor.push_back(i + 1);
  }
  star.row_ptr = row_ptr;
  star.neighbor = neighbor;
  star.link = link;
  const std::set<int64_t> hidden_links = {0, 1, 6, 9, 16};  // first, last and adjacent ones
  std::vector<int32_t> target;
  for (const int64_t i : hidden_links) target.push_back(static_cast<int32_t>(i + 1));
  const HiddenArcs hidden(star, std::vector<int32_t>(target.size(), 0), target);
  Doubles x;
  Random random(4);
  double exact = 0;
  for (int64_t i = 0; i < kDegree; ++i) {
    x.push_back(1 + random.uniform());
    if (!hidden_links.contains(i)) exact += x.back();
  }
  const std::vector<int64_t> seeds = {0};
  for (const int64_t fanout : {1, 3, 10}) {
    constexpr int kSamples = 4000;
    double sum = 0;
    double squares = 0;
    for (int epoch = 0; epoch < kSamples; ++epoch) {
      const Batch batch = sample_batch(star, seeds, {.fanouts = {fanout}}, {1, epoch, 0}, &hidden);
      const Block& block = batch.blocks[0];
      ASSERT_EQ(block.degree[0].item<float>(), 12);
      ASSERT_EQ(block.arcs(), fanout);
      double estimate = 0;
      for (int64_t i = 0; i < fanout; ++i) {
        const int64_t sampled = block.link.data_ptr<int32_t>()[i];
        ASSERT_FALSE(hidden_links.contains(sampled));
        estimate += double{block.weight.data_ptr<float>()[i]} * x[static_cast<size_t>(sampled)];
      }
      sum += estimate;
      squares += estimate * estimate;
    }
    const double mean = sum / kSamples;
    const double error = std::sqrt((squares / kSamples - mean * mean) / kSamples);
    EXPECT_GT(error, 0);
    EXPECT_LT(error, 0.01 * exact);  // otherwise a wrong weight could go unnoticed
    EXPECT_NEAR(mean, exact, 4 * error) << "fanout " << fanout;
  }
}

TEST(SamplerWithHiddenArcs, RejectsProbabilities) {
  const Hiding hiding(false);
  const std::vector<int64_t> seeds = {0};
  const Sampling sampling{.fanouts = {1}, .probabilities = std::vector<Probabilities>(1)};
  expect_error([&] { sample_batch(hiding.graph, seeds, sampling, {}, &hiding.hidden); },
               {"hidden arcs", "uniform"});
}

}  // namespace
}  // namespace lase
