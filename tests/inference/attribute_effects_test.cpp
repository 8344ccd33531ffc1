#include "lase/inference/attribute_effects.h"

#include <algorithm>

#include "lase/inference/predict.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

TrainedModel trained_on(const Graph& graph, const std::string& model) {
  TrainOptions options;
  options.model.model = model;
  options.model.widths = {6, 6};
  options.epochs = 3;
  options.transductive = true;
  options.features.embed.method = EmbedMethod::kNone;
  return train(graph, options).trained;
}

// The graph with column j of the link attributes set to its training mean, 0 if they are sparse.
Graph with_mean(const Graph& graph, const TrainedModel& trained, int64_t j) {
  Graph changed = graph;
  std::vector<float> values(graph.link_attributes.values.begin(),
                            graph.link_attributes.values.end());
  const bool sparse = graph.link_attributes.layout == Layout::kSparse;
  const auto k = static_cast<size_t>(graph.link_attributes.columns);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t column = sparse ? graph.link_attributes.column[static_cast<int64_t>(i)]
                                  : static_cast<int64_t>(i % k);
    if (column == j) values[i] = trained.scaling.link_mean[j].item<float>();
  }
  changed.link_attributes.values = std::move(values);
  return changed;
}

TEST(AttributeEffects, AreDifferencesOfPredictions) {
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    const Graph graph = toy_graph({.nodes = 40, .links = 120, .layout = layout, .split = true});
    const auto trained = trained_on(graph, "lase");
    const std::vector<int64_t> nodes = {1, 5, 8};
    const auto effects = attribute_effects(trained, graph, nodes);
    EXPECT_EQ(effects.nodes, 3);
    ASSERT_EQ(std::ssize(effects.attributes), graph.link_attributes.columns);
    const auto before = predict(trained, graph).outputs;
    for (int64_t j = 0; j < graph.link_attributes.columns; ++j) {
      const auto after = predict(trained, with_mean(graph, trained, j)).outputs;
      double expected = 0;
      double absolute = 0;
      for (const int64_t u : nodes) {
        const auto output = before[u].argmax().item<int64_t>();
        const double change = (before[u][output] - after[u][output]).item<double>();
        expected += change / 3;
        absolute += std::abs(change) / 3;
      }
      const auto found = std::find_if(
          effects.attributes.begin(), effects.attributes.end(),
          [&](const auto& summary) { return summary.name == graph.attribute_names[j]; });
      ASSERT_NE(found, effects.attributes.end());
      EXPECT_NEAR(found->effect, expected, 1e-5);
      EXPECT_NEAR(found->absolute_effect, absolute, 1e-5);
    }
    for (size_t i = 1; i < effects.attributes.size(); ++i) {
      EXPECT_LE(effects.attributes[i].absolute_effect, effects.attributes[i - 1].absolute_effect);
    }
    EXPECT_GT(effects.all.absolute_effect, 0);
  }
}

TEST(AttributeEffects, ExamineTheMostFrequentAttributes) {
  const Graph graph = toy_graph({.nodes = 40, .links = 120, .split = true});
  const auto trained = trained_on(graph, "sage");
  const auto effects = attribute_effects(trained, graph, std::vector<int64_t>{0}, {.most = 1});
  EXPECT_EQ(effects.attributes.size(), 1);
  EXPECT_EQ(effects.columns, graph.link_attributes.columns);
}

TEST(AttributeEffects, RejectModelsThatDoNotReadThem) {
  const Graph graph = toy_graph({.nodes = 40, .links = 120, .split = true});
  const std::vector<int64_t> nodes = {0};
  const auto graphsage = trained_on(graph, "graphsage");
  expect_error([&] { attribute_effects(graphsage, graph, nodes); }, {"graphsage", "does not read"});
  const auto lase = trained_on(graph, "lase");
  expect_error([&] { attribute_effects(lase, graph, {}); }, {"no node"});
  const auto stop = [](int64_t, int64_t) { return false; };
  expect_error([&] { attribute_effects(lase, graph, nodes, {.progress = stop}); }, {"stopped"});
}

}  // namespace
}  // namespace lase
