#include <cmath>
#include <limits>

#include "lase/graph/describe.h"
#include "lase/graph/graph.h"

#include "support.h"

namespace lase {
namespace {

// Links a–b and b–c with two attributes; nodes with two features and a class.
Graph small_graph(Layout layout) {
  RawGraph raw;
  raw.nodes.names = make_string_table(Strings{"a", "b", "c"});
  raw.nodes.features = Attributes::dense(Floats{1, 2, 3, 4, 5, 6}, 3, 2);
  raw.nodes.labels = {.task = Task::kSingleLabel,
                      .label = std::vector<int32_t>{0, -1, 1},
                      .target = {},
                      .names = make_string_table(Strings{"x", "y"})};
  raw.nodes.split = std::vector<uint8_t>{1, 2, 3};
  for (const auto& [u, v] : {std::pair{0, 1}, {1, 2}}) {
    raw.source.push_back(u);
    raw.target.push_back(v);
  }
  raw.attributes.columns = 2;
  raw.attributes.layout = layout == Layout::kSparse ? Layout::kSparse : Layout::kDense;
  raw.attributes.values.append(Floats{1, 2, 3, 4});
  if (layout == Layout::kSparse) {
    raw.attributes.column.append(std::vector<int32_t>{0, 1, 0, 1});
    raw.attributes.row_end.append(std::vector<int64_t>{2, 4});
  }
  raw.attribute_names = make_string_table(Strings{"p", "q"});
  auto graph = build_graph(std::move(raw)).graph;
  if (layout == Layout::kDictionary) {
    graph.link_attributes.layout = Layout::kDictionary;
    graph.link_attributes.code = std::vector<int32_t>{1, 0};
  }
  return graph;
}

// The array with one element replaced.
template <class T>
Array<T> with(const Array<T>& array, int64_t i, T value) {
  std::vector<T> values(array.begin(), array.end());
  values.at(static_cast<size_t>(i)) = value;
  return values;
}

void expect_caught(Layout layout, const std::function<void(Graph&)>& damage,
                   std::initializer_list<std::string> parts,
                   std::source_location where = std::source_location::current()) {
  Graph graph = small_graph(layout);
  EXPECT_NO_THROW(check_graph(graph, "g"));
  damage(graph);
  expect_error([&] { check_graph(graph, "g"); }, parts, where);
}

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(CheckGraph, CatchesIndicesOutOfRange) {
  const auto dense = Layout::kDense;
  expect_caught(dense, [](Graph& g) { g.neighbor = with(g.neighbor, 2, 3); },
                {"g: neighbor[2] is 3, expected 0 to 2"});
  expect_caught(dense, [](Graph& g) { g.neighbor = with(g.neighbor, 0, -1); }, {"neighbor[0]"});
  expect_caught(dense, [](Graph& g) { g.link = with(g.link.narrow(), 1, 2); }, {"link[1] is 2"});
  expect_caught(dense, [](Graph& g) { g.link = with(g.link.narrow(), 1, -1); }, {"link[1] is -1"});
  expect_caught(dense,
                [](Graph& g) {
                  g.row_ptr = with(g.row_ptr, 1, int64_t{4});
                  g.row_ptr = with(g.row_ptr, 2, int64_t{3});
                },
                {"row_ptr decreases at index 1"});
  expect_caught(dense, [](Graph& g) { g.row_ptr = with(g.row_ptr, 1, int64_t{-1}); },
                {"row_ptr decreases"});
}

TEST(CheckGraph, CatchesBrokenAttributes) {
  for (const auto layout : {Layout::kDense, Layout::kSparse, Layout::kDictionary}) {
    for (const float bad : {kNaN, kInfinity, -kInfinity}) {
      expect_caught(
          layout,
          [bad](Graph& g) { g.link_attributes.values = with(g.link_attributes.values, 3, bad); },
          {"link_attributes", "finite"});
    }
  }
  expect_caught(Layout::kDictionary,
                [](Graph& g) { g.link_attributes.code = with(g.link_attributes.code, 0, 2); },
                {"link_attributes.code[0] is 2"});
  expect_caught(Layout::kSparse,
                [](Graph& g) { g.link_attributes.column = with(g.link_attributes.column, 1, 2); },
                {"link_attributes.column[1] is 2"});
  expect_caught(
      Layout::kSparse,
      [](Graph& g) { g.link_attributes.row_ptr = with(g.link_attributes.row_ptr, 1, int64_t{5}); },
      {"link_attributes.row_ptr"});
}

TEST(CheckGraph, CatchesBrokenNodes) {
  const auto dense = Layout::kDense;
  expect_caught(dense,
                [](Graph& g) { g.nodes.features.values = with(g.nodes.features.values, 5, kNaN); },
                {"node_features", "nan"});
  expect_caught(dense, [](Graph& g) { g.nodes.labels.label = with(g.nodes.labels.label, 0, 2); },
                {"labels[0] is 2"});
  expect_caught(dense, [](Graph& g) { g.nodes.labels.label = with(g.nodes.labels.label, 0, -2); },
                {"labels[0] is -2"});
  expect_caught(dense,
                [](Graph& g) { g.nodes.split = with(g.nodes.split, 1, static_cast<uint8_t>(4)); },
                {"split[1] is 4"});
  expect_caught(
      dense, [](Graph& g) { g.nodes.names.offset = with(g.nodes.names.offset, 1, int64_t{100}); },
      {"offsets of names are out of order or out of range"});
  expect_caught(
      dense,
      [](Graph& g) { g.attribute_names.offset = with(g.attribute_names.offset, 1, int64_t{-1}); },
      {"offsets of link_attribute_names"});
}

TEST(CheckGraph, CatchesNonFiniteTargetsAndReductions) {
  const auto regression = [](Floats targets) {
    return [targets = std::move(targets)](Graph& g) {
      g.nodes.labels = {.task = Task::kRegression,
                        .label = {},
                        .target = targets,
                        .names = make_string_table(Strings{"age"})};
    };
  };
  Graph graph = small_graph(Layout::kDense);
  regression({1, kNaN, 2})(graph);
  EXPECT_NO_THROW(check_graph(graph, "g"));  // unknown
  expect_caught(Layout::kDense, regression({1, kInfinity, 2}), {"targets", "inf"});
  const auto reduced = [](float mean, float component) {
    return [mean, component](Graph& g) {
      g.link_reduction.mean = Floats{mean};
      g.link_reduction.components = Floats{1, component};
    };
  };
  expect_caught(Layout::kDense, reduced(kNaN, 0), {"link_reduction", "nan"});
  expect_caught(Layout::kDense, reduced(0, kInfinity), {"link_reduction", "inf"});
}

TEST(Describe, SummarizesAGraph) {
  const auto graph = small_graph(Layout::kSparse);
  const auto about = describe_json(graph);
  EXPECT_EQ(about["nodes"], 3);
  EXPECT_EQ(about["links"], 2);
  EXPECT_EQ(about["arcs"], 4);
  EXPECT_EQ(about["max_degree"], 2);
  EXPECT_EQ(about["node_features"], 2);
  EXPECT_EQ(about["link_attributes"], 2);
  EXPECT_EQ(about["link_layout"], "sparse");
  EXPECT_EQ(about["task"], "single-label");
  EXPECT_EQ(about["labels"], 2);
  EXPECT_EQ(about["labeled"], 2);
  EXPECT_EQ(about["label_counts"], (nlohmann::json{{"x", 1}, {"y", 1}}));
  EXPECT_EQ(about["train"], 1);
  EXPECT_EQ(about["val"], 1);
  EXPECT_EQ(about["test"], 1);
  const auto text = describe_text(graph);
  EXPECT_NE(text.find("links            2 (mean degree 1.33, max 2)"), text.npos) << text;
  EXPECT_NE(text.find("2 classes, single-label, unknown for 1 nodes"), text.npos) << text;
  EXPECT_NE(text.find("split            1 train, 1 val, 1 test"), text.npos) << text;
}

TEST(Describe, CountsSeveralClassesPerNode) {
  auto graph = small_graph(Layout::kDense);
  graph.nodes.labels = {.task = Task::kMultiLabel,
                        .label = {},
                        .target = Floats{1, 0, 1, 1, kNaN, kNaN},
                        .names = make_string_table(Strings{"x", "y"})};
  const auto about = describe_json(graph);
  EXPECT_EQ(about["label_counts"], (nlohmann::json{{"x", 2}, {"y", 1}}));
  EXPECT_EQ(about["labeled"], 2);
}

}  // namespace
}  // namespace lase
