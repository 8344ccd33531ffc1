#include "lase/train/batch_stream.h"

#include "lase/base/error.h"

#include "torch_support.h"

namespace lase {
namespace {

TEST(BatchStream, GivesTheBatchesOfAnEpochInOrder) {
  const Graph graph = toy_graph({.nodes = 40, .links = 300});
  const Adjacency& all = graph;
  const auto order = all_nodes(graph);
  const Sampling sampling{.fanouts = {3, 2}};
  BatchStream stream(
      all, sampling,
      {.plan = {.order = order, .batches = batch_count(std::ssize(order), 9), .key = {5, 7, 0}}});
  int64_t number = 0;
  while (const auto item = stream.next()) {
    EXPECT_EQ(item->number, number);
    const std::vector<int64_t> seeds(order.begin() + 8 * number, order.begin() + 8 * (number + 1));
    EXPECT_EQ(std::vector<int64_t>(item->seeds.begin(), item->seeds.end()), seeds);
    const Batch expected = sample_batch(all, seeds, sampling, {5, 7, number});
    EXPECT_TRUE(at::equal(item->batch.nodes, expected.nodes));
    for (size_t l = 0; l < 2; ++l) {
      EXPECT_TRUE(at::equal(item->batch.blocks[l].source, expected.blocks[l].source));
      EXPECT_TRUE(at::equal(item->batch.blocks[l].link, expected.blocks[l].link));
    }
    ++number;
  }
  EXPECT_EQ(number, 5);
  EXPECT_FALSE(stream.next());
}

// The step of a batch of a few nodes would be as large as the others.
TEST(BatchStream, GivesBatchesOfSimilarSizes) {
  const Graph graph = toy_graph({.nodes = 40, .links = 300});
  const Adjacency& all = graph;
  const auto order = all_nodes(graph);
  const Sampling sampling{.fanouts = {3}};
  for (const int64_t size : {1, 3, 7, 11, 39, 40, 50}) {
    const int64_t batches = batch_count(std::ssize(order), size);
    BatchStream stream(all, sampling, {.plan = {.order = order, .batches = batches}});
    std::vector<int64_t> seeds;
    int64_t least = 40;
    int64_t most = 0;
    while (const auto item = stream.next()) {
      seeds.insert(seeds.end(), item->seeds.begin(), item->seeds.end());
      least = std::min(least, std::ssize(item->seeds));
      most = std::max(most, std::ssize(item->seeds));
    }
    EXPECT_EQ(seeds, order);
    EXPECT_LE(most, size);
    EXPECT_LE(most - least, 1) << size;
  }
}

TEST(BatchStream, CanBeDestroyedBeforeItsEnd) {
  const Graph graph = toy_graph({.nodes = 40, .links = 300});
  const Adjacency& all = graph;
  const Sampling sampling{.fanouts = {3}};
  for (int taken = 0; taken < 4; ++taken) {
    BatchStream stream(all, sampling, {.plan = {.order = all_nodes(graph), .batches = 20}});
    for (int i = 0; i < taken; ++i) EXPECT_TRUE(stream.next());
  }
}

TEST(BatchStream, RethrowsErrorsToTheConsumer) {
  const Graph graph = toy_graph({.nodes = 40, .links = 300});
  const Adjacency& all = graph;
  const Sampling sampling{.fanouts = {3}};
  BatchStream stream(all, sampling, {.plan = {.order = {1, 2, 3, 4, 5, 5}, .batches = 3}});
  EXPECT_TRUE(stream.next());
  EXPECT_TRUE(stream.next());
  EXPECT_THROW(stream.next(), Error);
}

}  // namespace
}  // namespace lase
