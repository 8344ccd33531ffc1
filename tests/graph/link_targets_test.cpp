// Links as prediction targets: building, the graph file, checks and summaries.

#include <cmath>
#include <limits>

#include "lase/base/file.h"
#include "lase/graph/describe.h"
#include "lase/graph/graph.h"

#include "support.h"

namespace lase {
namespace {

using Parts = std::vector<uint8_t>;
using Ids = std::vector<int32_t>;

constexpr float kUnknownTarget = std::numeric_limits<float>::quiet_NaN();

// Five links between a and b, b and c; the third is a self-loop. The second column of attributes is
// the label.
RawGraph raw_targets(Layout layout = Layout::kDense) {
  RawGraph raw;
  raw.nodes.names = make_string_table(Strings{"a", "b", "c"});
  raw.nodes.features.rows = 3;
  raw.source.append(Ids{0, 1, 1, 1, 0, 1});
  raw.target.append(Ids{1, 0, 1, 2, 1, 0});
  raw.attributes.columns = 2;
  raw.attributes.layout = layout;
  raw.attributes.values.append(Floats{1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60});
  if (layout == Layout::kSparse) {
    raw.attributes.column.append(Ids{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
    raw.attributes.row_end.append(std::vector<int64_t>{2, 4, 6, 8, 10, 12});
  }
  raw.attribute_names = make_string_table(Strings{"x", "label"});
  raw.targets = RawTargets{.labels = {.task = Task::kSingleLabel,
                                      .label = Ids{0, 1, 0, -1, 1, 0},
                                      .target = {},
                                      .names = make_string_table(Strings{"no", "yes"})},
                           .stage = Parts{3, 1, 1, 1, 1, 3},
                           .split = Parts{3, 1, 1, 0, 1, 3},
                           .label_columns = {1},
                           .relations = false};
  return raw;
}

Graph targets_graph(Layout layout = Layout::kDense) {
  return build_graph(raw_targets(layout)).graph;
}

Parts parts(const Array<uint8_t>& split) { return {split.begin(), split.end()}; }
Ids ids(const Array<int32_t>& values) { return {values.begin(), values.end()}; }

TEST(LinkTargets, MergesLinksWithinASplitOnly) {
  for (const auto layout : {Layout::kDense, Layout::kSparse}) {
    const auto [graph, report] = build_graph(raw_targets(layout));
    EXPECT_EQ(graph.links, 3);
    EXPECT_EQ(parts(graph.link_split), (Parts{3, 1, 1}));
    EXPECT_EQ(neighbors(graph, "a"), (Strings{"b", "b"}));
    EXPECT_EQ(neighbors(graph, "b"), (Strings{"a", "a", "c"}));
    EXPECT_EQ(row(graph.link_attributes, 0), (Floats{7, 70}));  // rows 0 and 5
    EXPECT_EQ(row(graph.link_attributes, 1), (Floats{7, 70}));  // rows 1 and 4
    EXPECT_EQ(row(graph.link_attributes, 2), (Floats{4, 40}));
    EXPECT_EQ(report.merged, 2);
    EXPECT_NO_THROW(check_structure(graph, "g"));
  }
}

TEST(LinkTargets, AreRowsWithTheirOwnAttributes) {
  for (const auto layout : {Layout::kDense, Layout::kSparse}) {
    const auto targets = targets_graph(layout).targets;
    EXPECT_EQ(ids(targets.source), (Ids{0, 1, 1, 0, 1}));  // without the self-loop
    EXPECT_EQ(ids(targets.target), (Ids{1, 0, 2, 1, 0}));
    EXPECT_EQ(ids(targets.labels.label), (Ids{0, 1, -1, 1, 0}));
    EXPECT_EQ(parts(targets.split), (Parts{3, 1, 0, 1, 3}));
    EXPECT_EQ(targets.attributes.layout, layout);
    EXPECT_EQ(texts(targets.attribute_names), Strings{"x"});
    EXPECT_EQ(targets.attributes.rows, 5);
    EXPECT_EQ(row(targets.attributes, 2), Floats{4});
    EXPECT_EQ(row(targets.attributes, 4), Floats{6});
  }
}

TEST(LinkTargets, ApplyTheTransformsOfColumns) {
  auto raw = raw_targets();
  raw.targets->label_columns = {0};
  raw.column_rules = {{Merge::kSum, Transform::kNone}, {Merge::kSum, Transform::kLog1p}};
  const auto graph = build_graph(std::move(raw)).graph;
  EXPECT_EQ(row(graph.targets.attributes, 0), Floats{std::log1p(10.0F)});
  EXPECT_EQ(row(graph.link_attributes, 0), (Floats{7, std::log1p(70.0F)}));
}

TEST(LinkTargets, FollowTheOtherRulesForLinks) {
  auto directed = raw_targets();
  directed.rules.directed = true;
  EXPECT_EQ(parts(build_graph(std::move(directed)).graph.link_split), (Parts{3, 1, 1, 1, 3}));

  auto separate = raw_targets();
  separate.rules.separate_directions = true;
  const auto graph = build_graph(std::move(separate)).graph;
  EXPECT_EQ(graph.links, 3);
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1, 10, 6, 60}));  // the link of the test split
  EXPECT_EQ(row(graph.link_attributes, 2), (Floats{5, 50, 2, 20}));
  EXPECT_NO_THROW(check_structure(graph, "g"));

  auto kept = raw_targets();
  kept.rules.parallel = Parallel::kKeep;
  kept.rules.self_loops = SelfLoops::kKeep;
  const auto all = build_graph(std::move(kept)).graph;
  EXPECT_EQ(parts(all.link_split), (Parts{3, 1, 1, 1, 1, 3}));
  EXPECT_EQ(all.targets.size(), 6);

  auto rejected = raw_targets();
  rejected.rules.parallel = Parallel::kError;
  rejected.targets->stage = Parts{1, 2, 1, 1, 3, 3};
  expect_error([&] { build_graph(std::move(rejected)); }, {"two links join"});
}

TEST(LinkTargets, NeedNoSplit) {
  auto raw = raw_targets();
  raw.targets->stage = {};
  raw.targets->split = {};
  const auto graph = build_graph(std::move(raw)).graph;
  EXPECT_EQ(graph.links, 2);
  EXPECT_TRUE(graph.link_split.empty());
  EXPECT_TRUE(graph.targets.split.empty());
  EXPECT_EQ(graph.targets.size(), 5);
  EXPECT_NO_THROW(check_structure(graph, "g"));
}

class LinkTargetsFile : public FolderTest {
 protected:
  void expect_round_trip(const Graph& graph) const {
    save_graph(graph, path("g.graph"));
    const auto opened = load_graph(path("g.graph"));
    EXPECT_EQ(contents(opened), contents(graph));
  }
};

TEST_F(LinkTargetsFile, RoundTrips) {
  expect_round_trip(targets_graph(Layout::kDense));
  expect_round_trip(targets_graph(Layout::kSparse));
  auto raw = raw_targets();
  raw.targets->labels = {.task = Task::kRegression,
                         .label = {},
                         .target = Floats{1, 2, 3, kUnknownTarget, 5, 6},
                         .names = make_string_table(Strings{"y"})};
  raw.targets->relations = true;
  raw.targets->label_columns = {0, 1};
  const auto regression = build_graph(std::move(raw)).graph;
  EXPECT_EQ(regression.targets.attributes.columns, 0);
  expect_round_trip(regression);
  auto unlabeled = raw_targets();
  unlabeled.targets->labels = {};
  unlabeled.layout_rule = LayoutRule::kDictionary;
  expect_round_trip(build_graph(std::move(unlabeled)).graph);
}

TEST_F(LinkTargetsFile, IsUnchangedWithoutTargets) {
  auto raw = raw_targets();
  raw.targets.reset();
  const auto graph = build_graph(std::move(raw)).graph;
  EXPECT_EQ(graph.targets.size(), 0);
  save_graph(graph, path("g.graph"));
  const auto text = read_file(path("g.graph"));
  EXPECT_EQ(text.find("link_targets"), text.npos);
  EXPECT_EQ(text.find("targets."), text.npos);
  EXPECT_EQ(text.find("link_split"), text.npos);
}

TEST(LinkTargets, AreCoveredByTheFingerprint) {
  const auto graph = targets_graph();
  const auto changed = [&](const std::function<void(Graph&)>& change) {
    Graph other = graph;
    change(other);
    return fingerprint(other);
  };
  const std::string own = fingerprint(graph);
  EXPECT_NE(own, changed([](Graph& g) { g.link_split = Parts{3, 1, 2}; }));
  EXPECT_NE(own, changed([](Graph& g) { g.targets.split = Parts{3, 1, 0, 1, 2}; }));
  EXPECT_NE(own, changed([](Graph& g) { g.targets.labels.label = Ids{0, 1, -1, 1, 1}; }));
  EXPECT_NE(own, changed([](Graph& g) { g.targets = {}; }));
}

TEST(LinkTargets, AreChecked) {
  const auto caught = [](const std::function<void(Graph&)>& damage,
                         std::initializer_list<std::string> expected,
                         std::source_location where = std::source_location::current()) {
    Graph graph = targets_graph();
    EXPECT_NO_THROW(check_graph(graph, "g"));
    damage(graph);
    expect_error([&] { check_graph(graph, "g"); }, expected, where);
  };
  caught(
      [](Graph& g) {
        g.targets.source = Ids{0, 3, 1, 0, 1};
      },
      {"g: targets.source[1] is 3, expected 0 to 2"});
  caught([](Graph& g) { g.targets.target = Ids{1, -1, 2, 1, 0}; }, {"targets.target[1] is -1"});
  caught([](Graph& g) { g.targets.labels.label = Ids{0, 1, 2, 1, 0}; }, {"targets.labels[2] is 2"});
  caught(
      [](Graph& g) {
        g.targets.split = Parts{3, 1, 4, 1, 3};
      },
      {"targets.split[2] is 4, expected 0 to 3"});
  caught([](Graph& g) { g.link_split = Parts{3, 0, 1}; }, {"link_split[1] is 0, expected 1 to 3"});
  caught(
      [](Graph& g) {
        g.targets.attributes.values = Floats{1, 2, kUnknownTarget, 4, 5};
      },
      {"targets.attributes", "nan"});
  caught(
      [](Graph& g) {
        g.targets.labels.target = Floats{1, 2, std::numeric_limits<float>::infinity()};
      },
      {"targets.values", "inf"});
}

TEST(LinkTargets, AreJoinedByLinks) {
  Graph graph = targets_graph();
  graph.targets.target = Ids{1, 0, 2, 2, 0};
  EXPECT_NO_THROW(check_graph(graph, "g"));
  expect_error([&] { check_structure(graph, "g"); },
               {"g: target 3 joins the nodes 0 and 2, which no link in its split does"});
  graph = targets_graph();
  graph.targets.split = Parts{3, 1, 3, 1, 3};  // b and c are linked in the training split only
  expect_error([&] { check_structure(graph, "g"); }, {"target 2 joins the nodes 1 and 2"});
}

TEST_F(LinkTargetsFile, RejectsArraysOfTheWrongSize) {
  const auto rejected = [&](const std::function<void(Graph&)>& damage,
                            std::initializer_list<std::string> expected,
                            std::source_location where = std::source_location::current()) {
    Graph graph = targets_graph();
    damage(graph);
    expect_error(
        [&] {
          save_graph(graph, path("bad.graph"));
          load_graph(path("bad.graph"));
        },
        expected, where);
  };
  rejected(
      [](Graph& g) {
        g.targets.attributes.columns = 2;  // more than there are names
        g.targets.attributes.values = Floats{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
      },
      {"bad.graph", "column names, expected 2"});
  rejected([](Graph& g) { g.targets.labels.names = {}; }, {"targets.labels[0] is 0"});
}

TEST(LinkTargets, AreDescribed) {
  const auto graph = targets_graph();
  const auto about = describe_json(graph);
  EXPECT_EQ(about["link_targets"]["rows"], 5);
  EXPECT_EQ(about["link_targets"]["task"], "single-label");
  EXPECT_EQ(about["link_targets"]["labeled"], 4);
  EXPECT_EQ(about["link_targets"]["label_counts"], (nlohmann::json{{"no", 2}, {"yes", 2}}));
  EXPECT_EQ(about["link_targets"]["attributes"], 1);
  EXPECT_EQ(about["link_targets"]["split"],
            (nlohmann::json{{"train", 2}, {"val", 0}, {"test", 2}}));
  EXPECT_EQ(about["link_split"], (nlohmann::json{{"train", 2}, {"val", 0}, {"test", 1}}));
  const auto text = describe_text(graph);
  EXPECT_NE(text.find("link targets     5 rows, labels: 2 classes, single-label, unknown for 1 "),
            text.npos)
      << text;
  EXPECT_NE(text.find("split: 2 train, 0 val, 2 test, 1 not predicted"), text.npos) << text;
  EXPECT_NE(text.find("link split       2 train, 0 val, 1 test"), text.npos) << text;
}

}  // namespace
}  // namespace lase
