#include "lase/graph/common_neighbors.h"

#include <cmath>
#include <set>

#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/graph/build.h"

#include "support.h"

namespace lase {
namespace {

using Ids = std::vector<int32_t>;

enum class Kind : uint8_t { kUndirected, kDirected, kSeparate };

struct LinksOptions {
  int32_t nodes = 60;
  Kind kind = Kind::kUndirected;
  Layout layout = Layout::kDense;
  int64_t attributes = 2;
};

// Random links, some of them parallel or self-loops, and node 0 with links to all others.
Graph random_links(const LinksOptions& options) {
  Random random(3);
  RawGraph raw;
  raw.rules = {.directed = options.kind == Kind::kDirected,
               .separate_directions = options.kind == Kind::kSeparate,
               .parallel = options.kind == Kind::kSeparate ? Parallel::kMerge : Parallel::kKeep,
               .self_loops = SelfLoops::kKeep};
  if (options.layout == Layout::kDictionary) raw.layout_rule = LayoutRule::kDictionary;
  if (options.layout == Layout::kSparse) raw.layout_rule = LayoutRule::kSparse;
  raw.attributes.columns = options.attributes;
  const auto add = [&](int32_t u, int32_t v) {
    raw.source.push_back(u);
    raw.target.push_back(v);
    for (int64_t j = 0; j < options.attributes; ++j) {
      raw.attributes.values.push_back(static_cast<float>(random.below(3)));
    }
  };
  StringTableBuilder names;
  StringTableBuilder columns;
  for (int64_t j = 0; j < options.attributes; ++j) columns.add("a" + std::to_string(j));
  raw.attribute_names = columns.finish();
  for (int32_t u = 0; u < options.nodes; ++u) {
    names.add(std::to_string(u));
    if (u > 0) add(u % 2 == 0 ? 0 : u, u % 2 == 0 ? u : 0);
    for (int i = 0; i < 4; ++i) {
      const auto v = static_cast<int32_t>(random.below(static_cast<uint64_t>(options.nodes)));
      add(u, v);
      if (i == 0) add(u, v);
    }
  }
  raw.nodes.names = names.finish();
  raw.nodes.features.rows = options.nodes;
  return build_graph(std::move(raw)).graph;
}

// From sets of neighbors, for every row.
Floats reference(const Graph& graph) {
  std::vector<std::set<int64_t>> neighbors(static_cast<size_t>(graph.node_count()));
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int64_t v = graph.neighbor[i];
      if (u == v) continue;
      neighbors[static_cast<size_t>(u)].insert(v);
      neighbors[static_cast<size_t>(v)].insert(u);
    }
  }
  Floats logs(static_cast<size_t>(graph.links * (graph.separate_directions ? 2 : 1)));
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int64_t v = graph.neighbor[i];
      int64_t common = 0;
      for (const int64_t w : neighbors[static_cast<size_t>(u)]) {
        common += w != v && neighbors[static_cast<size_t>(v)].contains(w) ? 1 : 0;
      }
      const auto log = static_cast<float>(std::log1p(static_cast<double>(common)));
      logs[static_cast<size_t>(graph.link[i])] = log;
      // A self-loop has one arc, but two rows if directions are separate.
      if (graph.separate_directions) logs[static_cast<size_t>(graph.link[i] ^ 1)] = log;
    }
  }
  return logs;
}

Floats values(const Array<float>& array) { return {array.begin(), array.end()}; }

TEST(CommonNeighbors, AreThoseOfBothNodesOfALink) {
  for (const Kind kind : {Kind::kUndirected, Kind::kDirected, Kind::kSeparate}) {
    for (const int32_t nodes : {5, 60, 200}) {
      const Graph graph = random_links({.nodes = nodes, .kind = kind});
      const Floats expected = reference(graph);
      EXPECT_EQ(values(common_neighbors(graph)), expected);
      EXPECT_GE(std::set<float>(expected.begin(), expected.end()).size(), 3);
      // The neighborhood of node 0 is searched.
      if (nodes == 200) {
        EXPECT_GT(graph.degree(0), 16 * graph.degree(nodes - 1));
      }
    }
  }
}

// A triangle 0, 1, 2 with a tail 3, directed as a cycle: its links have one common neighbor each.
TEST(CommonNeighbors, DoNotDependOnDirections) {
  for (const bool directed : {false, true}) {
    RawGraph raw;
    raw.rules.directed = directed;
    raw.nodes.names = make_string_table(std::array{"0", "1", "2", "3"});
    raw.nodes.features.rows = 4;
    for (const auto& [u, v] : {std::pair{0, 1}, {1, 2}, {2, 0}, {2, 3}}) {
      raw.source.push_back(u);
      raw.target.push_back(v);
    }
    const Graph graph = build_graph(std::move(raw)).graph;
    const float one = std::log(2.0F);
    EXPECT_EQ(values(common_neighbors(graph)), (Floats{one, one, one, 0}));
  }
}

TEST(CommonNeighbors, DoNotDependOnTheNumberOfThreads) {
  const Graph graph = random_links({.nodes = 500});
  const auto with = [&](int threads) {
    const ThreadLimit limit(threads);
    return values(common_neighbors(graph));
  };
  EXPECT_EQ(with(4), with(1));
}

TEST(CommonNeighbors, AreTheLastLinkAttribute) {
  for (const Kind kind : {Kind::kUndirected, Kind::kDirected, Kind::kSeparate}) {
    for (const Layout layout : {Layout::kDense, Layout::kSparse, Layout::kDictionary}) {
      for (const int32_t nodes : {5, 60}) {
        const Graph before = random_links({.nodes = nodes, .kind = kind, .layout = layout});
        Graph graph = before;
        add_common_neighbors(graph);
        Strings names = texts(before.attribute_names);
        names.emplace_back("common neighbors");
        EXPECT_EQ(texts(graph.attribute_names), names);
        const Array<float> logs = common_neighbors(before);
        ASSERT_EQ(graph.link_attributes.rows, logs.size());
        for (int64_t i = 0; i < logs.size(); ++i) {
          Floats expected = row(before.link_attributes, i);
          expected.push_back(logs[i]);
          EXPECT_EQ(row(graph.link_attributes, i), expected);
        }
        check_graph(graph, "graph");
        if (layout != Layout::kDictionary) {
          EXPECT_EQ(graph.link_attributes.layout, layout);
        }
      }
    }
  }
}

TEST(CommonNeighbors, KeepADictionaryWithRepeatedRows) {
  Graph graph = random_links({.nodes = 800, .layout = Layout::kDictionary, .attributes = 1});
  ASSERT_EQ(graph.link_attributes.codes(), 3);
  add_common_neighbors(graph);
  EXPECT_EQ(graph.link_attributes.layout, Layout::kDictionary);
  EXPECT_GT(graph.link_attributes.codes(), 6);
  // Too many distinct rows
  graph = random_links({.nodes = 5, .layout = Layout::kDictionary, .attributes = 1});
  add_common_neighbors(graph);
  EXPECT_EQ(graph.link_attributes.layout, Layout::kDense);
}

TEST(CommonNeighbors, AreTheOnlyAttributeOfLinksWithoutOthers) {
  Graph graph = random_links({.attributes = 0});
  const Floats expected = reference(graph);
  add_common_neighbors(graph);
  EXPECT_EQ(values(graph.link_attributes.values), expected);
  EXPECT_EQ(texts(graph.attribute_names), Strings{"common neighbors"});
  check_graph(graph, "graph");
}

}  // namespace
}  // namespace lase
