// Common neighbors as a link attribute, from training to the application of a stored model.

#include "lase/graph/common_neighbors.h"

#include <algorithm>

#include "lase/base/file.h"
#include "lase/graph/build.h"
#include "lase/inference/explain.h"
#include "lase/inference/predict.h"
#include "lase/model/inputs.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

enum class LabelsOf : uint8_t { kTriangles, kChance };

// Groups of six nodes, without features of nodes and links. Every node has three neighbors in its
// group: in half of the groups, which are prisms, two of them are linked, and in the others, which
// are bipartite, none are. Labels are the kind of group, or random.
Graph groups(LabelsOf labels, int32_t count = 80) {
  constexpr int32_t kSize = 6;
  RawGraph raw;
  std::vector<int32_t> label;
  std::vector<uint8_t> split;
  StringTableBuilder names;
  Random random(5);
  for (int32_t u = 0; u < kSize * count; ++u) {
    const int32_t group = u / kSize;
    const int32_t at = u % kSize;
    const bool prism = group % 2 == 0;
    const auto add = [&](int32_t other) {
      raw.source.push_back(u);
      raw.target.push_back(group * kSize + other);
    };
    if (prism) {
      add(at < 3 ? (at + 1) % 3 : 3 + (at + 1) % 3);
      if (at < 3) add(at + 3);
    } else if (at % 2 == 0) {
      for (const int32_t other : {1, 3, 5}) add(other);
    }
    names.add(std::to_string(u));
    const auto chance = static_cast<int32_t>(random.below(2));
    label.push_back(labels == LabelsOf::kChance ? chance : static_cast<int32_t>(prism));
    const int32_t part = group / 2 % 4;
    split.push_back(static_cast<uint8_t>(part < 2    ? Split::kTrain
                                         : part == 2 ? Split::kVal
                                                     : Split::kTest));
  }
  raw.nodes.names = names.finish();
  raw.nodes.labels = single_labels(label, 2);
  raw.nodes.split = std::move(split);
  raw.nodes.features = constant_feature(std::ssize(label));
  raw.nodes.feature_names = make_string_table(std::array{"constant"});
  return build_graph(std::move(raw)).graph;
}

TrainOptions options_for(CommonNeighbors common_neighbors, int64_t epochs = 100) {
  TrainOptions options;
  options.model.widths = {8, 8};
  options.features.embed.method = EmbedMethod::kNone;
  options.label_inputs = LabelInputs::kOff;
  options.common_neighbors = common_neighbors;
  options.epochs = epochs;
  options.patience = 0;
  options.batch = 64;
  return options;
}

// lase averages over neighbors, so that without triangles, all nodes look the same.
TEST(CommonNeighborsInput, TellTriangles) {
  const Graph graph = groups(LabelsOf::kTriangles);
  EXPECT_EQ(train(graph, options_for(CommonNeighbors::kOn, 40)).test.micro_f1, 1);
  EXPECT_LT(train(graph, options_for(CommonNeighbors::kOff, 40)).test.micro_f1, 0.7);
}

TEST(CommonNeighborsInput, AreChosenIfTheyAreClearlyBetterOnValidationNodes) {
  const TrainOptions options = options_for(CommonNeighbors::kAuto, 200);
  const TrainResult with = train(groups(LabelsOf::kTriangles), options);
  EXPECT_TRUE(with.trained.common_neighbors);
  EXPECT_TRUE(with.common_neighbors.starts_with("a link attribute: validation"))
      << with.common_neighbors;
  EXPECT_EQ(texts(with.trained.attribute_names), Strings{"common neighbors"});
  EXPECT_EQ(with.trained.training.at("options").at("common_neighbors"), "on");
  const TrainResult without = train(groups(LabelsOf::kChance), options);
  EXPECT_FALSE(without.trained.common_neighbors);
  EXPECT_TRUE(without.common_neighbors.starts_with("not used: validation"))
      << without.common_neighbors;
  EXPECT_EQ(without.trained.attribute_names.size(), 0);
  EXPECT_EQ(train(groups(LabelsOf::kChance), options_for(CommonNeighbors::kOn, 2)).common_neighbors,
            "");
}

// With known labels, which are chosen after them.
TEST(CommonNeighborsInput, AreChosenBeforeKnownLabels) {
  TrainOptions options = options_for(CommonNeighbors::kAuto, 200);
  options.label_inputs = LabelInputs::kAuto;
  const TrainResult result = train(groups(LabelsOf::kTriangles), options);
  EXPECT_TRUE(result.trained.common_neighbors);
  EXPECT_FALSE(result.trained.label_inputs);  // not needed
  EXPECT_TRUE(result.label_inputs.starts_with("none: validation")) << result.label_inputs;
}

TEST(CommonNeighborsInput, AreOffWhereTheyCannotBeJudgedOrRead) {
  Graph graph = groups(LabelsOf::kTriangles, 8);
  for (const char* model : {"graphsage", "gcn", "raw"}) {
    TrainOptions options = options_for(CommonNeighbors::kAuto, 20);
    options.model.model = model;
    const TrainResult result = train(graph, options);
    EXPECT_FALSE(result.trained.common_neighbors);
    EXPECT_EQ(result.common_neighbors, "");
    options.common_neighbors = CommonNeighbors::kOn;
    expect_error([&] { train(graph, options); },
                 {"common_neighbors on: has no effect on a model that does not read link "
                  "attributes"});
  }
  graph.nodes.split = {};
  const TrainResult result = train(graph, options_for(CommonNeighbors::kAuto, 2));
  EXPECT_FALSE(result.trained.common_neighbors);
  EXPECT_EQ(result.common_neighbors, "");
}

TEST(CommonNeighborsInput, AreOffIfLinksArePredicted) {
  TrainOptions options = options_for(CommonNeighbors::kOn, 1);
  options.predicts = Predicts::kLinkPrediction;
  EXPECT_FALSE(train(groups(LabelsOf::kTriangles, 8), options).trained.common_neighbors);
}

TEST(CommonNeighborsInput, AreReadByEveryTypeOfModelWithLinkAttributes) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .split = true});
  for (const char* model : {"lase", "sage", "concat", "rw", "wl"}) {
    TrainOptions options = options_for(CommonNeighbors::kOn, 2);
    options.model.model = model;
    const TrainedModel trained = train(graph, options).trained;
    EXPECT_EQ(trained.model->shape().link_attributes, 4) << model;
    EXPECT_TRUE(predict(trained, graph).outputs.isfinite().all().item<bool>()) << model;
  }
}

// Counts include links that inductive training does not use.
TEST(CommonNeighborsInput, AreCountedOverAllLinks) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .split = true});
  const TrainResult result = train(graph, options_for(CommonNeighbors::kOn, 2));
  EXPECT_LT(result.training_links, result.links);
  const Graph prepared = prepare_graph(result.trained, graph, "g");
  Floats last;
  for (int64_t i = 0; i < prepared.link_attributes.rows; ++i) {
    last.push_back(row(prepared.link_attributes, i).back());
  }
  const Array<float> expected = common_neighbors(graph);
  EXPECT_EQ(last, Floats(expected.begin(), expected.end()));
}

using CommonNeighborsFile = SavedModelTest;

TEST_F(CommonNeighborsFile, AreAddedByAModelFromAFile) {
  for (const Layout layout : {Layout::kDense, Layout::kSparse, Layout::kDictionary}) {
    const Graph graph = toy_graph({.nodes = 60, .links = 200, .layout = layout, .split = true});
    const TrainResult result = train(graph, options_for(CommonNeighbors::kOn, 4));
    save_model(result.trained, path("m.model"));
    const TrainedModel loaded = load_model(path("m.model"));
    EXPECT_TRUE(loaded.common_neighbors);
    const Tensor expected = predict(result.trained, graph).outputs;
    expect_same_bits(predict(loaded, graph).outputs, expected, "outputs");
    // A graph that is already prepared stays the same.
    const Graph prepared = prepare_graph(loaded, graph, "g");
    EXPECT_EQ(prepared.link_attributes.columns, 4);
    EXPECT_EQ(contents(prepare_graph(loaded, prepared, "g")), contents(prepared));
    expect_same_bits(predict(loaded, prepared).outputs, expected, "outputs of the prepared graph");
    // Explanations name them like any other attribute.
    const Explanation explanation = explain(loaded, prepared, {.node = 0, .attributes = 4});
    bool found = false;
    for (const auto& layer : explanation.layers) {
      for (const auto& link : layer.neighbors) {
        for (const auto& attribute : link.attributes) {
          found = found || attribute.name == "common neighbors";
        }
      }
    }
    EXPECT_TRUE(found);
    const Graph other = toy_graph({.nodes = 20, .links = 40, .attributes = 2});
    expect_error([&] { prepare_graph(loaded, other, "other.graph"); },
                 {"other.graph", "link attributes"});
  }
}

TEST_F(CommonNeighborsFile, AreUnknownToFilesWithoutThem) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .split = true});
  const TrainedModel trained = train(graph, options_for(CommonNeighbors::kOff, 2)).trained;
  const TrainedModel loaded = load_model(saved_with(trained, R"(\"common_neighbors\":false,)", ""));
  EXPECT_FALSE(loaded.common_neighbors);
  EXPECT_EQ(prepare_graph(loaded, graph, "g").link_attributes.columns, 3);
}

TEST_F(CommonNeighborsFile, RequireALinkAttribute) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .attributes = 0, .split = true});
  const std::string file =
      saved_with(train(graph, options_for(CommonNeighbors::kOff, 2)).trained,
                 R"(\"common_neighbors\":false)", R"(\"common_neighbors\":true)");
  expect_error([&] { load_model(file); }, {file, "damaged"});
}

}  // namespace
}  // namespace lase
