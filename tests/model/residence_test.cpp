#include "lase/model/residence.h"

#include <limits>

#include "lase/model/inputs.h"

#include "torch_support.h"

namespace lase {
namespace {

struct Sizes {
  Graph graph = toy_graph({.nodes = 40, .links = 150});
  Inputs inputs{graph, fit_scaling(graph, std::vector<bool>(40, true), NodeScaling::kStandard)};
  int64_t adjacency = int64_t{8} * 41 + (4 + 4) * graph.arc_count();
  int64_t links = 4 * graph.link_attributes.rows * graph.link_attributes.columns;
  int64_t row = 32;  // of features: at most 8 floats

  Residence of(int64_t bytes) const { return choose_residence(inputs, graph, bytes); }
};

TEST(Residence, KeepsWhatFits) {
  const Sizes sizes;
  ASSERT_LE(sizes.graph.nodes.features.columns, 8);
  const int64_t most = sizes.adjacency + sizes.links + 40 * sizes.row;
  EXPECT_EQ(describe(sizes.of(std::numeric_limits<int64_t>::max())), "");
  EXPECT_EQ(describe(sizes.of(most)), "");
  EXPECT_EQ(describe(sizes.of(most - 1)), "node features of all but 39 nodes");
  EXPECT_EQ(describe(sizes.of(sizes.adjacency + sizes.links)), "node features");
  EXPECT_EQ(describe(sizes.of(sizes.adjacency)), "link attributes, node features");
  EXPECT_EQ(describe(sizes.of(0)), "adjacency, link attributes, node features");
}

TEST(Residence, CachesTheNodesWithTheMostNeighbors) {
  const Sizes sizes;
  const auto cached = sizes.of(sizes.adjacency + sizes.links + 3 * sizes.row).cached;
  ASSERT_EQ(cached.size(), 3U);
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const int64_t u : cached) least = std::min(least, sizes.graph.degree(u));
  int64_t larger = 0;
  for (int64_t u = 0; u < 40; ++u) larger += sizes.graph.degree(u) > least ? 1 : 0;
  EXPECT_LT(larger, 3);
}

}  // namespace
}  // namespace lase
