#include "lase/embed/embed.h"

#include <cmath>
#include <gtest/gtest.h>
#include <map>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/embed/pairs.h"
#include "lase/graph/build.h"
#include "lase/graph/random_graph.h"

#include "support.h"

namespace lase {
namespace {

// A ring of cliques of `size` nodes, each joined to the next by one link.
Graph cliques(int32_t count, int32_t size) {
  RawGraph raw;
  const auto link = [&](int32_t u, int32_t v, float weight) {
    raw.source.push_back(u);
    raw.target.push_back(v);
    raw.attributes.values.push_back(weight);
  };
  for (int32_t c = 0; c < count; ++c) {
    for (int32_t u = 0; u < size; ++u) {
      for (int32_t v = u + 1; v < size; ++v) link(c * size + u, c * size + v, 1);
    }
    link(c * size, (c + 1) % count * size, 0.25F);
  }
  raw.attributes.columns = 1;
  raw.nodes.names = numbered_names("n", int64_t{count} * size);
  return build_graph(std::move(raw)).graph;
}

double cosine(const std::vector<float>& rows, int64_t width, int64_t a, int64_t b) {
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (int64_t j = 0; j < width; ++j) {
    const double x = rows[static_cast<size_t>(a * width + j)];
    const double y = rows[static_cast<size_t>(b * width + j)];
    ab += x * y;
    aa += x * x;
    bb += y * y;
  }
  return ab / std::sqrt(aa * bb);
}

// Fraction of nodes whose nearest neighbor in the embedding is in the same clique.
double purity(const std::vector<float>& rows, int64_t width, int64_t nodes, int64_t size) {
  int64_t same = 0;
  for (int64_t u = 0; u < nodes; ++u) {
    int64_t nearest = u == 0 ? 1 : 0;
    for (int64_t v = 0; v < nodes; ++v) {
      if (v != u && cosine(rows, width, u, v) > cosine(rows, width, u, nearest)) nearest = v;
    }
    same += nearest / size == u / size ? 1 : 0;
  }
  return static_cast<double>(same) / static_cast<double>(nodes);
}

EmbedOptions small(EmbedMethod method, Order order = Order::kSecond) {
  return {.method = method,
          .order = order,
          .width = 16,
          .epochs = 400,
          .walks = 40,
          .length = 20,
          .window = 4,
          .progress = {}};
}

TEST(Embed, NodesOfACliqueAreSimilar) {
  const Graph graph = cliques(6, 8);
  for (const auto& options :
       {small(EmbedMethod::kLine), small(EmbedMethod::kLine, Order::kFirst),
        small(EmbedMethod::kLine, Order::kBoth), small(EmbedMethod::kDeepWalk)}) {
    const Embedding embedding = embed(graph, graph, options);
    EXPECT_EQ(embedding.width(), 16);
    EXPECT_GT(purity(embedding.rows(), 16, 48, 8), 0.95)
        << name_of(options.method) << " " << name_of(options.order);
  }
}

TEST(Embed, IsTheSameForAnyNumberOfThreads) {
  const Graph graph = cliques(5, 7);
  for (const auto& options :
       {small(EmbedMethod::kLine, Order::kBoth), small(EmbedMethod::kDeepWalk)}) {
    std::vector<std::vector<float>> found;
    for (const int count : {1, 2, 5}) {
      const ThreadLimit limit(count);
      found.push_back(embed(graph, graph, options).rows());
    }
    EXPECT_EQ(found[0], found[1]);
    EXPECT_EQ(found[0], found[2]);
  }
}

TEST(Embed, DifferentSeedsGiveDifferentRows) {
  const Graph graph = cliques(3, 5);
  EmbedOptions options = small(EmbedMethod::kLine);
  const auto first = embed(graph, graph, options).rows();
  options.seed = 2;
  EXPECT_NE(first, embed(graph, graph, options).rows());
}

TEST(Embed, NodesWithoutLinksAreZero) {
  Graph graph = cliques(2, 4);
  const auto none = adjacency_within(graph, {true, true, true, true, false, false, false, false});
  const auto rows = embed(graph, none, small(EmbedMethod::kLine)).rows();
  for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i] != 0, i < 64) << i;
}

TEST(Embed, TrainingNodesStayFixedWhenOthersAreAdded) {
  const Graph graph = cliques(6, 8);
  std::vector<bool> training(48);
  for (size_t u = 0; u < 48; ++u) training[u] = u % 4 != 0;
  for (const auto method : {EmbedMethod::kLine, EmbedMethod::kDeepWalk}) {
    const auto options = small(method);
    const Embedding before = embed(graph, adjacency_within(graph, training), options);
    const Embedding after = embed_online(graph, training, options);
    const auto old_rows = before.rows();
    const auto rows = after.rows();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (training[i / 16]) {
        ASSERT_EQ(old_rows[i], rows[i]);
        ASSERT_EQ(before.tables[0].context[i], after.tables[0].context[i]);
      } else {
        ASSERT_EQ(old_rows[i], 0);
        ASSERT_NE(rows[i], 0);
      }
    }
    EXPECT_GT(purity(rows, 16, 48, 8), 0.9) << name_of(method);
  }
}

TEST(ArcPairs, AreSampledByWeight) {
  const Graph graph = cliques(2, 3);
  const auto arcs = graph;
  std::vector<float> weight;
  double total = 0;
  for (int64_t i = 0; i < arcs.neighbor.size(); ++i) {
    weight.push_back(graph.link_attributes.values[arcs.link[i]]);
    total += weight.back();
  }
  EmbedOptions options = small(EmbedMethod::kLine);
  options.epochs = 20000;
  const auto pairs = arc_pairs({.arcs = arcs, .weight = weight, .fixed = {}, .options = options});
  std::map<std::pair<int32_t, int32_t>, double> drawn;
  double count = 0;
  std::vector<kernels::NodePair> chunk;
  for (int64_t i = 0; i < pairs->chunks(); ++i) {
    chunk.clear();
    pairs->draw(i, chunk);
    for (const auto& pair : chunk) ++drawn[{pair.center, pair.context}];
    count += static_cast<double>(chunk.size());
  }
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = arcs.row_ptr[u]; i < arcs.row_ptr[u + 1]; ++i) {
      const double p = weight[static_cast<size_t>(i)] / total;
      const double seen = drawn[{static_cast<int32_t>(u), arcs.neighbor[i]}];
      EXPECT_NEAR(seen, p * count, 5 * std::sqrt(p * count)) << u << " " << arcs.neighbor[i];
    }
  }
}

TEST(WalkPairs, AreWithinTheWindowAndFavorCloseNodes) {
  // On a path graph, the distance between two nodes is the difference of their ids.
  RawGraph raw;
  for (int32_t u = 0; u + 1 < 30; ++u) {
    raw.source.push_back(u);
    raw.target.push_back(u + 1);
  }
  raw.nodes.names = numbered_names("n", 30);
  const Graph graph = build_graph(std::move(raw)).graph;
  const auto arcs = graph;
  EmbedOptions options = small(EmbedMethod::kDeepWalk);
  options.window = 3;
  const auto pairs = walk_pairs({.arcs = arcs, .weight = {}, .fixed = {}, .options = options});
  std::vector<kernels::NodePair> all;
  for (int64_t i = 0; i < pairs->chunks(); ++i) pairs->draw(i, all);
  std::vector<int64_t> apart(4);
  std::vector<bool> started(30);
  for (const auto& pair : all) {
    const int32_t distance = std::abs(pair.center - pair.context);
    ASSERT_LE(distance, 3);
    ++apart[static_cast<size_t>(distance)];
    started[static_cast<size_t>(pair.center)] = true;
  }
  EXPECT_GT(apart[1], apart[3]);
  EXPECT_GT(apart[3], 0);
  for (const bool met : started) EXPECT_TRUE(met);
}

TEST(Embed, RejectsInvalidOptions) {
  const Graph graph = cliques(2, 3);
  const auto arcs = graph;
  const auto rejected = [&](auto change) {
    EmbedOptions options = small(EmbedMethod::kLine);
    change(options);
    EXPECT_THROW(embed(graph, arcs, options), Error);
  };
  rejected([](auto& o) { o.width = 0; });
  rejected([](auto& o) { o.width = 1 << 20; });
  rejected([](auto& o) { o.epochs = -1; });
  rejected([](auto& o) { o.walks = 0; });
  rejected([](auto& o) { o.length = 1; });
  rejected([](auto& o) { o.window = 0; });
  rejected([](auto& o) { o.negatives = 0; });
  rejected([](auto& o) { o.learning_rate = 0; });
  rejected([](auto& o) { o.learning_rate = std::nan(""); });
  Graph bare = graph;
  bare.link_attributes = {};
  EmbedOptions weighted = small(EmbedMethod::kLine);
  weighted.weighted = true;
  EXPECT_THROW(embed(bare, arcs, weighted), Error);
}

TEST(EmbedOptions, RoundTripThroughJson) {
  const EmbedOptions options{.method = EmbedMethod::kDeepWalk,
                             .order = Order::kBoth,
                             .width = 7,
                             .epochs = 3,
                             .walks = 4,
                             .length = 5,
                             .window = 6,
                             .negatives = 2,
                             .learning_rate = 0.5,
                             .weighted = true,
                             .seed = 9,
                             .progress = {}};
  EXPECT_EQ(to_json(embed_option_table().from_json(to_json(options))), to_json(options));
}

TEST(Embed, RejectsTablesThatDoNotFitIntoMemory) {
  const Graph graph = random_graph({.nodes = 40'000, .links = 10, .node_dim = 1, .link_dim = 1});
  EmbedOptions options = small(EmbedMethod::kLine);
  options.width = 4096;
  const MemoryLimit limit(100 << 20);
  expect_error([&] { embed(graph, graph, options); },
               {"the embeddings need", "choose a smaller width"});
}

}  // namespace
}  // namespace lase
