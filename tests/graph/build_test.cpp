// build_graph against a reference in plain loops over maps, on random raw graphs with every
// combination of rules.

#include "lase/graph/build.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"

#include "support.h"

namespace lase {
namespace {

// The same raw graph for build_graph and, as plain rows, for the reference.
struct Example {
  RawGraph raw;
  std::vector<std::pair<int, int>> ends;
  std::vector<Floats> rows;  // dense
};

constexpr int kNodes = 9;
constexpr int kColumns = 3;

// Values are small multiples of 1/4, so that sums in single precision are exact in any order.
Example random_example(uint64_t seed, Layout layout, const LinkRules& rules, bool simple) {
  Random random(seed);
  Example example;
  example.raw.rules = rules;
  Strings names;
  for (int i = 0; i < kNodes; ++i) names.push_back(join("n", i));
  example.raw.nodes.names = make_string_table(names);
  auto& attributes = example.raw.attributes;
  attributes.layout = layout;
  attributes.columns = kColumns;
  const int links = static_cast<int>(random.below(60));
  for (int i = 0; i < links; ++i) {
    const auto u = static_cast<int>(random.below(kNodes - 1));  // the last node stays isolated
    const auto v = static_cast<int>(random.below(kNodes - 1));
    const auto same = [&](const auto& e) {
      return e == std::pair(u, v) || (!rules.directed && e == std::pair(v, u));
    };
    if (simple && (u == v || std::any_of(example.ends.begin(), example.ends.end(), same))) continue;
    example.ends.emplace_back(u, v);
    example.raw.source.push_back(u);
    example.raw.target.push_back(v);
    Floats row(kColumns);
    for (int j = 0; j < kColumns; ++j) {
      const bool stored = random.chance(0.6);
      if (stored) row[static_cast<size_t>(j)] = static_cast<float>(random.below(17)) / 4 - 2;
      if (layout == Layout::kSparse && stored) {
        attributes.column.push_back(j);
        attributes.values.push_back(row[static_cast<size_t>(j)]);
      }
    }
    if (layout == Layout::kSparse) {
      attributes.row_end.push_back(attributes.values.size());
    } else {
      attributes.values.append(row);
    }
    example.rows.push_back(row);
  }
  return example;
}

Floats merged_rows(const std::vector<Floats>& rows, Merge merge) {
  if (rows.empty()) return Floats(kColumns);
  Floats result = rows[0];
  for (size_t i = 1; i < rows.size(); ++i) {
    for (size_t j = 0; j < kColumns; ++j) {
      if (merge == Merge::kSum || merge == Merge::kMean) result[j] += rows[i][j];
      if (merge == Merge::kMax) result[j] = std::max(result[j], rows[i][j]);
    }
  }
  if (merge == Merge::kMean) {
    for (float& value : result) value /= static_cast<float>(rows.size());
  }
  return result;
}

// The rules applied link by link: arcs[u][v] holds the attributes of the arcs u→v in link order.
struct Reference {
  std::map<int, std::map<int, std::vector<Floats>>> arcs;
  int64_t links = 0;
  int64_t merged = 0;
  int64_t self_loops = 0;
};

Floats joined(const Floats& first, const Floats& second) {
  Floats both = first;
  both.insert(both.end(), second.begin(), second.end());
  return both;
}

Reference reference(const Example& example, const LinkRules& rules) {
  // Raw links between the same nodes; one group per link if parallel links are kept.
  struct Group {
    int u, v;
    std::vector<Floats> all, forth, back;
  };
  std::vector<Group> groups;
  Reference result;
  for (size_t i = 0; i < example.ends.size(); ++i) {
    const auto [u, v] = example.ends[i];
    if (u == v) ++result.self_loops;
    if (u == v && rules.self_loops == SelfLoops::kDrop) continue;
    Group* group = nullptr;
    for (auto& other : groups) {
      const bool same =
          (other.u == u && other.v == v) || (!rules.directed && other.u == v && other.v == u);
      if (same && rules.parallel != Parallel::kKeep && group == nullptr) group = &other;
    }
    if (group == nullptr) {
      groups.push_back({u, v, {}, {}, {}});
      group = &groups.back();
    } else {
      ++result.merged;
    }
    group->all.push_back(example.rows[i]);
    (group->u == u ? group->forth : group->back).push_back(example.rows[i]);
  }
  result.links = static_cast<int64_t>(groups.size());
  for (const auto& group : groups) {
    const Floats forth = merged_rows(group.forth, rules.merge);
    const Floats back = merged_rows(group.back, rules.merge);
    const Floats all = merged_rows(group.all, rules.merge);
    result.arcs[group.u][group.v].push_back(rules.separate_directions ? joined(forth, back) : all);
    if (rules.directed || group.u == group.v) continue;
    result.arcs[group.v][group.u].push_back(rules.separate_directions ? joined(back, forth) : all);
  }
  return result;
}

void expect_same(const BuiltGraph& built, const Reference& expected) {
  const auto& [graph, report] = built;
  EXPECT_EQ(graph.links, expected.links);
  EXPECT_EQ(report.merged, expected.merged);
  EXPECT_EQ(report.self_loops, expected.self_loops);
  ASSERT_EQ(graph.node_count(), kNodes);
  EXPECT_NO_THROW(check_graph(graph, "built"));
  int64_t isolated = 0;
  for (int u = 0; u < kNodes; ++u) {
    std::vector<std::pair<int, Floats>> rows;
    const auto found = expected.arcs.find(u);
    if (found != expected.arcs.end()) {
      for (const auto& [v, arcs] : found->second) {
        for (const auto& values : arcs) rows.emplace_back(v, values);
      }
    }
    isolated += rows.empty() ? 1 : 0;
    std::vector<std::pair<int, Floats>> built_rows;
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      built_rows.emplace_back(graph.neighbor[i], row(graph.link_attributes, graph.link[i]));
      EXPECT_LT(graph.link_of_row(graph.link[i]), graph.links);
    }
    EXPECT_EQ(built_rows, rows) << "node " << u;
  }
  EXPECT_EQ(report.isolated, isolated);
}

TEST(BuildGraph, AgreesWithTheReferenceForEveryCombinationOfRules) {
  for (const auto layout : {Layout::kDense, Layout::kSparse}) {
    for (int bits = 0; bits < 3 * 3 * 2 * 4; ++bits) {
      LinkRules rules;
      rules.directed = bits % 3 == 1;
      rules.separate_directions = bits % 3 == 2;
      rules.parallel = static_cast<Parallel>(bits / 3 % 3);
      rules.self_loops = bits / 9 % 2 == 0 ? SelfLoops::kDrop : SelfLoops::kKeep;
      rules.merge = static_cast<Merge>(bits / 18);
      const bool simple = rules.parallel == Parallel::kError;
      if (rules.separate_directions && rules.parallel == Parallel::kKeep) continue;
      for (uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(join("layout ", layout_name(layout), ", rules ", bits, ", seed ", seed));
        auto example = random_example(seed, layout, rules, simple);
        const auto expected = reference(example, rules);
        auto built = build_graph(std::move(example.raw));
        EXPECT_EQ(built.report.raw_links, static_cast<int64_t>(example.ends.size()));
        EXPECT_EQ(built.graph.link_attributes.layout, layout);
        expect_same(built, expected);
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

// Link attributes with too many rows for narrow indices, simulated with a lower limit.
class WideIndices : public FolderTest {};

TEST_F(WideIndices, AreUsedIfNarrowOnesWouldOverflow) {
  for (const bool separate_directions : {false, true}) {
    LinkRules rules;
    rules.separate_directions = separate_directions;
    const auto build = [&](int64_t largest_narrow) {
      return build_graph(random_example(4, Layout::kDense, rules, false).raw, largest_narrow).graph;
    };
    const Graph narrow = build(kLargestNarrow);
    const int64_t rows = narrow.link_attributes.rows;
    const Graph wide = build(rows - 2);
    EXPECT_FALSE(build(rows - 1).link.is_wide());
    ASSERT_TRUE(wide.link.is_wide());
    EXPECT_EQ(contents(wide), contents(narrow));

    const auto reopened = [&](const Graph& graph) {
      const std::string file = path("a.graph");
      save_graph(graph, file);
      const Graph opened = open_graph(file);
      EXPECT_NO_THROW(check_graph(opened, file));
      EXPECT_EQ(opened.link.is_wide(), graph.link.is_wide());
      return contents(opened);
    };
    EXPECT_EQ(reopened(wide), reopened(narrow));

    std::vector<bool> kept(kNodes, true);
    kept[1] = false;
    Graph within = narrow;
    within.adjacency() = adjacency_within(narrow, kept);
    Graph wide_within = wide;
    wide_within.adjacency() = adjacency_within(wide, kept);
    EXPECT_TRUE(wide_within.link.is_wide());
    EXPECT_EQ(contents(wide_within), contents(within));
  }
}

TEST(BuildGraph, TransformsAfterMerging) {
  for (const auto transform : {Transform::kLog1p, Transform::kBinary}) {
    LinkRules rules;
    rules.merge = Merge::kSum;
    auto example = random_example(5, Layout::kDense, rules, false);
    for (auto& values : example.rows) {
      for (float& value : values) value = std::abs(value);
    }
    for (float& value : example.raw.attributes.values) value = std::abs(value);
    auto expected = reference(example, rules);
    for (auto& [u, row] : expected.arcs) {
      for (auto& [v, arcs] : row) {
        for (auto& values : arcs) {
          for (float& value : values) {
            value = transform == Transform::kLog1p ? std::log1p(value) : value != 0 ? 1.0F : 0.0F;
          }
        }
      }
    }
    example.raw.rules.transform = transform;
    expect_same(build_graph(std::move(example.raw)), expected);
  }
}

TEST(BuildGraph, ArcsOfALinkShareItsRow) {
  for (const bool separate_directions : {false, true}) {
    LinkRules rules;
    rules.separate_directions = separate_directions;
    auto example = random_example(3, Layout::kDense, rules, false);
    const auto graph = build_graph(std::move(example.raw)).graph;
    std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> by_link;
    for (int64_t u = 0; u < graph.node_count(); ++u) {
      for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
        by_link[graph.link_of_row(graph.link[i])].emplace_back(u, graph.neighbor[i]);
        EXPECT_TRUE(!separate_directions || graph.link[i] % 2 == (u < graph.neighbor[i] ? 0 : 1));
      }
    }
    EXPECT_EQ(static_cast<int64_t>(by_link.size()), graph.links);
    for (const auto& [link, ends] : by_link) {
      ASSERT_EQ(ends.size(), 2u);
      EXPECT_EQ(ends[0], std::pair(ends[1].second, ends[1].first));
    }
  }
}

TEST(BuildGraph, IsTheSameForAnyNumberOfThreads) {
  const auto build = [&](int threads) {
    const ThreadLimit limit(threads);
    LinkRules rules;
    rules.separate_directions = true;
    return contents(build_graph(random_example(11, Layout::kSparse, rules, false).raw).graph);
  };
  const auto one = build(1);
  EXPECT_EQ(build(2), one);
  EXPECT_EQ(build(5), one);
}

TEST(BuildGraph, BuildsAGraphWithoutLinks) {
  RawGraph raw;
  raw.nodes.names = make_string_table(Strings{"a", "b"});
  const auto [graph, report] = build_graph(std::move(raw));
  EXPECT_EQ(graph.node_count(), 2);
  EXPECT_EQ(graph.arc_count(), 0);
  EXPECT_EQ(report.isolated, 2);
  const auto none = build_graph(RawGraph{}).graph;
  EXPECT_EQ(none.node_count(), 0);
}

// The values do not depend on the layout rule.
TEST(BuildGraph, KeepsValuesWhenItChoosesALayout) {
  for (const auto rule : {LayoutRule::kAsRead, LayoutRule::kEncodeFew, LayoutRule::kSmaller}) {
    for (const auto layout : {Layout::kDense, Layout::kSparse}) {
      LinkRules rules;
      auto example = random_example(7, layout, rules, false);
      const auto expected = reference(example, rules);
      example.raw.layout_rule = rule;
      expect_same(build_graph(std::move(example.raw)), expected);
    }
  }
}

TEST(BuildGraph, RejectsDenseAttributesThatDoNotFitIntoMemory) {
  constexpr int64_t kLinks = 500;
  constexpr int64_t kWide = 40'000;
  RawGraph raw;
  Strings names = {"center"};
  for (int32_t i = 1; i <= kLinks; ++i) {
    names.push_back(std::to_string(i));
    raw.source.push_back(0);
    raw.target.push_back(i);
  }
  raw.nodes.names = make_string_table(names);
  raw.rules.separate_directions = true;
  raw.attributes.columns = kWide;
  raw.attributes.values.resize(kLinks * kWide);
  std::fill(raw.attributes.values.begin(), raw.attributes.values.end(), 1.0F);
  const MemoryLimit limit(100 << 20);
  expect_error([&] { build_graph(std::move(raw)); },
               {"dense link attributes need", "set layout to sparse"});
}

}  // namespace
}  // namespace lase
