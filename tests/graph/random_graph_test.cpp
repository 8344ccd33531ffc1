#include "lase/graph/random_graph.h"

#include <gtest/gtest.h>

#include "lase/base/error.h"

#include "support.h"

namespace lase {
namespace {

TEST(RandomGraph, HasTheRequestedSizesAndIsValid) {
  for (const Layout layout : {Layout::kDense, Layout::kSparse, Layout::kDictionary}) {
    const RandomGraphOptions options{.nodes = 50,
                                     .links = 300,
                                     .node_dim = 7,
                                     .link_dim = 9,
                                     .layout = layout,
                                     .stored = 4,
                                     .distinct_rows = 5,
                                     .classes = 3};
    const Graph graph = random_graph(options);
    EXPECT_NO_THROW(check_graph(graph, "random"));
    EXPECT_EQ(graph.node_count(), 50);
    EXPECT_EQ(graph.links, 300);
    EXPECT_EQ(graph.nodes.features.columns, 7);
    EXPECT_EQ(graph.link_attributes.layout, layout);
    EXPECT_EQ(graph.link_attributes.rows, 300);
    EXPECT_EQ(graph.link_attributes.columns, 9);
    EXPECT_EQ(graph.nodes.labels.classes(), 3);
    if (layout == Layout::kSparse) {
      EXPECT_EQ(graph.link_attributes.values.size(), 4 * 300);
    }
    if (layout == Layout::kDictionary) {
      EXPECT_EQ(graph.link_attributes.codes(), 5);
    }
  }
}

TEST(RandomGraph, RejectsInvalidSizes) {
  EXPECT_THROW(random_graph({.nodes = 0}), Error);
  EXPECT_THROW(random_graph({.links = -1}), Error);
  EXPECT_THROW(random_graph({.node_dim = 0}), Error);
  EXPECT_THROW(random_graph({.link_dim = 0}), Error);
}

TEST(RandomGraph, RejectsSizesThatDoNotFitIntoMemory) {
  expect_error([] { random_graph({.nodes = 2'000'000'000, .node_dim = 65'536}); },
               {"the arrays of this graph need", "choose fewer"});
}

}  // namespace
}  // namespace lase
