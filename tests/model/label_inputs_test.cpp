#include "lase/model/label_inputs.h"

#include <array>

#include "lase/base/file.h"
#include "lase/inference/predict.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

// What describes the labels of a graph to a model.
TrainedModel describing(const Graph& graph) {
  TrainedModel trained;
  trained.task = graph.nodes.labels.task;
  trained.label_names = graph.nodes.labels.names;
  trained.label_inputs = true;
  trained.target_mean = at::full({graph.nodes.labels.classes()}, 2.0F);
  trained.target_scale = at::full({graph.nodes.labels.classes()}, 0.5F);
  return trained;
}

// Four nodes with the feature x: the first two for training, one for validation and one for none.
Graph small_graph(Labels labels) {
  Graph graph = toy_graph({.nodes = 4, .links = 5, .features = 0});
  graph.nodes.features = Attributes::dense(Floats{5, 6, 7, 8}, 4, 1);
  graph.nodes.feature_names = make_string_table(std::array{"x"});
  graph.nodes.labels = std::move(labels);
  graph.nodes.split = std::vector<uint8_t>{1, 1, 2, 0};
  return graph;
}

TEST(LabelInputs, AreTheClassesOfTrainingNodes) {
  Graph graph = small_graph(single_labels({1, -1, 0, 0}, 2));
  add_label_inputs(describing(graph), graph);
  EXPECT_EQ(texts(graph.nodes.feature_names), (Strings{"x", "label=label 0", "label=label 1"}));
  EXPECT_EQ(to_rows(graph.nodes.features), (Matrix{{5, 0, 1}, {6, 0, 0}, {7, 0, 0}, {8, 0, 0}}));
  // Without a split, all labels are known.
  graph = small_graph(single_labels({1, -1, 0, 0}, 2));
  graph.nodes.split = {};
  add_label_inputs(describing(graph), graph);
  EXPECT_EQ(to_rows(graph.nodes.features), (Matrix{{5, 0, 1}, {6, 0, 0}, {7, 1, 0}, {8, 1, 0}}));
}

TEST(LabelInputs, TellWhetherSeveralLabelsAreKnown) {
  Graph graph = small_graph(target_labels(
      Task::kMultiLabel, {0, kUnknown, kUnknown, kUnknown, 1, 1, kUnknown, kUnknown}, 2));
  graph.nodes.split = {};
  add_label_inputs(describing(graph), graph);
  EXPECT_EQ(texts(graph.nodes.feature_names).back(), "label known");
  EXPECT_EQ(to_rows(graph.nodes.features),
            (Matrix{{5, 0, 0, 1}, {6, 0, 0, 0}, {7, 1, 1, 1}, {8, 0, 0, 0}}));
}

TEST(LabelInputs, AreStandardizedTargets) {
  Graph graph = small_graph(target_labels(Task::kRegression, {4, kUnknown, 2, 2}, 1));
  graph.nodes.split = {};
  add_label_inputs(describing(graph), graph);
  EXPECT_EQ(to_rows(graph.nodes.features), (Matrix{{5, 1, 1}, {6, 0, 0}, {7, 0, 1}, {8, 0, 1}}));
}

// The labels of a task; the last of them is known of every third node only.
Labels random_labels(Task task, int64_t nodes) {
  Random random(3);
  if (task == Task::kSingleLabel) {
    std::vector<int32_t> label;
    for (int64_t u = 0; u < nodes; ++u) label.push_back(static_cast<int32_t>(random.below(4)) - 1);
    return single_labels(label, 3);
  }
  Floats target;
  for (int64_t u = 0; u < nodes; ++u) {
    for (int64_t c = 0; c < 2; ++c) {
      const bool known = random.below(3) > 0;
      target.push_back(known ? static_cast<float>(random.below(2)) : kUnknown);
    }
  }
  return target_labels(task, target, 2);
}

// The graph without the labels of some nodes.
Graph without_labels(Graph graph, const std::vector<int64_t>& nodes) {
  Labels& labels = graph.nodes.labels;
  std::vector<int32_t> label(labels.label.begin(), labels.label.end());
  Floats target(labels.target.begin(), labels.target.end());
  for (const int64_t u : nodes) {
    if (!label.empty()) label[static_cast<size_t>(u)] = -1;
    for (int64_t c = 0; c < labels.classes() && !target.empty(); ++c) {
      target[static_cast<size_t>(u * labels.classes() + c)] = kUnknown;
    }
  }
  labels.label = std::move(label);
  labels.target = std::move(target);
  return graph;
}

TEST(LabelInputs, ThatAreHiddenAreThoseOfTheGraphWithoutThem) {
  for (const Task task : {Task::kSingleLabel, Task::kMultiLabel, Task::kRegression}) {
    for (const Layout layout : kLayouts) {
      Graph graph = toy_graph({.nodes = 20, .links = 40, .feature_layout = layout});
      graph.nodes.labels = random_labels(task, 20);
      const TrainedModel trained = describing(graph);
      const std::vector<int64_t> hidden = {1, 2, 7, 19};
      Graph unlabeled = without_labels(graph, hidden);
      add_label_inputs(trained, graph);
      add_label_inputs(trained, unlabeled);
      const std::vector<bool> all(20, true);
      for (const auto how :
           {NodeScaling::kAuto, NodeScaling::kStandard, NodeScaling::kRow, NodeScaling::kNone}) {
        const Scaling scaling = fit_scaling(graph, all, how, trained.added());
        for (const auto when : {ScaleWhen::kAhead, ScaleWhen::kOnDemand}) {
          const std::string what = join(task_name(task), layout_name(layout), name_of(how));
          const Inputs inputs(graph, scaling, when);
          const Inputs expected(unlabeled, scaling, when);
          EXPECT_EQ(std::ssize(inputs.labeled()),
                    std::ssize(expected.labeled()) + 4 -
                        std::count_if(hidden.begin(), hidden.end(),
                                      [&](int64_t u) { return !graph.nodes.labels.known(u); }))
              << what;
          const Inputs found = inputs.hiding(mask_of(hidden, 20));
          const Tensor some = index_tensor({7, 0, 19, 7, 3, 2});
          const Tensor w = at::ones({2, graph.nodes.features.columns}) * 0.5;
          for (const Tensor& nodes : {Tensor(), some}) {
            expect_same_bits(found.rows(nodes).dense(), expected.rows(nodes).dense(), what);
            expect_same_bits(found.projected(nodes, w), expected.projected(nodes, w), what);
            // Nothing is hidden unless it is requested.
            EXPECT_FALSE(at::equal(inputs.rows(nodes).dense(), found.rows(nodes).dense())) << what;
            expect_same_bits(found.hiding({}).rows(nodes).dense(), inputs.rows(nodes).dense(),
                             what);
          }
        }
      }
    }
  }
}

TEST(LabelInputs, AreNotScaled) {
  Graph graph = toy_graph({.nodes = 20, .links = 40});
  const TrainedModel trained = describing(graph);
  add_label_inputs(trained, graph);
  const Scaling scaling =
      fit_scaling(graph, std::vector<bool>(20, true), NodeScaling::kStandard, trained.added());
  const Matrix raw = to_rows(graph.nodes.features);
  const Matrix rows = to_rows(Inputs(graph, scaling).rows({}).dense());
  for (size_t u = 0; u < rows.size(); ++u) {
    EXPECT_EQ(Doubles(rows[u].end() - 3, rows[u].end()), Doubles(raw[u].end() - 3, raw[u].end()));
  }
}

TrainOptions quick(LabelInputs label_inputs) {
  TrainOptions options;
  options.model.widths = {4, 4};
  options.features.embed.method = EmbedMethod::kNone;
  options.label_inputs = label_inputs;
  options.epochs = 4;
  options.batch = 16;
  return options;
}

using LabelInputsFile = SavedModelTest;

TEST_F(LabelInputsFile, AreAddedByAModelFromAFile) {
  for (const int64_t features : {0, 4}) {
    const Graph graph = toy_graph({.nodes = 60, .links = 200, .features = features, .split = true});
    const TrainResult result = train(graph, quick(LabelInputs::kOn));
    save_model(result.trained, path("m.model"));
    const TrainedModel loaded = load_model(path("m.model"));
    EXPECT_TRUE(loaded.label_inputs);
    EXPECT_EQ(loaded.added().labels, 3);
    const Tensor expected = predict(result.trained, graph).outputs;
    expect_same_bits(predict(loaded, graph).outputs, expected, "outputs");
    // A graph that is already prepared stays the same.
    const Graph prepared = prepare_graph(loaded, graph, "g");
    EXPECT_EQ(prepared.nodes.features.columns, (features == 0 ? 2 : 4) + 3);
    EXPECT_EQ(contents(prepare_graph(loaded, prepared, "g")), contents(prepared));
    expect_same_bits(predict(loaded, prepared).outputs, expected, "outputs of the prepared graph");
  }
}

TEST_F(LabelInputsFile, AreUnknownToFilesWithoutThem) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .split = true});
  const TrainedModel trained = train(graph, quick(LabelInputs::kOff)).trained;
  const TrainedModel loaded = load_model(saved_with(trained, R"(\"label_inputs\":false,)", ""));
  EXPECT_FALSE(loaded.label_inputs);
  EXPECT_EQ(prepare_graph(loaded, graph, "g").nodes.features.columns, 4);
}

TEST_F(LabelInputsFile, RejectMoreColumnsThanFeatures) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .features = 2, .split = true});
  const std::string file = saved_with(train(graph, quick(LabelInputs::kOff)).trained,
                                      R"(\"label_inputs\":false)", R"(\"label_inputs\":true)");
  expect_error([&] { load_model(file); }, {file, "damaged"});
}

// The graph with its classes numbered in reverse.
Graph with_reversed_classes(Graph graph) {
  const Labels& labels = graph.nodes.labels;
  StringTableBuilder names;
  for (int64_t c = labels.classes(); c > 0; --c) names.add(labels.names[c - 1]);
  std::vector<int32_t> label;
  for (const int32_t c : labels.label) {
    label.push_back(c < 0 ? c : static_cast<int32_t>(labels.classes()) - 1 - c);
  }
  graph.nodes.labels.label = std::move(label);
  graph.nodes.labels.names = names.finish();
  return graph;
}

TEST(LabelInputs, AreMatchedByTheNamesOfClasses) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .split = true});
  const TrainedModel trained = train(graph, quick(LabelInputs::kOn)).trained;
  const Tensor expected = predict(trained, graph).outputs;
  expect_same_bits(predict(trained, with_reversed_classes(graph)).outputs, expected, "outputs");
  // A graph without labels can be predicted, too.
  Graph unlabeled = graph;
  unlabeled.nodes.labels = {};
  EXPECT_FALSE(at::equal(predict(trained, unlabeled).outputs, expected));
}

}  // namespace
}  // namespace lase
