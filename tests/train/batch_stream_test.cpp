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
  BatchStream stream(all, sampling, {.order = order, .size = 9, .key = {5, 7, 0}});
  int64_t number = 0;
  while (const auto item = stream.next()) {
    EXPECT_EQ(item->number, number);
    const auto first = order.begin() + number * 9;
    const std::vector<int64_t> seeds(first, std::min(first + 9, order.end()));
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

TEST(BatchStream, CanBeDestroyedBeforeItsEnd) {
  const Graph graph = toy_graph({.nodes = 40, .links = 300});
  const Adjacency& all = graph;
  const Sampling sampling{.fanouts = {3}};
  for (int taken = 0; taken < 4; ++taken) {
    BatchStream stream(all, sampling, {.order = all_nodes(graph), .size = 2});
    for (int i = 0; i < taken; ++i) EXPECT_TRUE(stream.next());
  }
}

TEST(BatchStream, RethrowsErrorsToTheConsumer) {
  const Graph graph = toy_graph({.nodes = 40, .links = 300});
  const Adjacency& all = graph;
  const Sampling sampling{.fanouts = {3}};
  BatchStream stream(all, sampling, {.order = {1, 2, 3, 4, 5, 5}, .size = 2});
  EXPECT_TRUE(stream.next());
  EXPECT_TRUE(stream.next());
  EXPECT_THROW(stream.next(), Error);
}

}  // namespace
}  // namespace lase
