#include "lase/inference/explain.h"

#include <algorithm>
#include <map>

#include "lase/inference/predict.h"
#include "lase/model/model_file.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

TrainedModel some_model(const Graph& graph, const std::string& architecture, size_t layers,
                        ops::Aggregate aggregate = ops::Aggregate::kSum) {
  TrainedModel trained;
  ModelOptions options;
  options.model = architecture;
  options.widths.assign(layers, 6);
  options.aggregate = aggregate;
  const std::vector<bool> all(static_cast<size_t>(graph.node_count()), true);
  trained.scaling = fit_scaling(graph, all, NodeScaling::kStandard);
  trained.model = std::make_shared<Model>(
      options,
      ModelShape{graph.nodes.features.columns, graph.link_attributes.columns,
                 graph.nodes.labels.classes()},
      7);
  trained.task = Task::kSingleLabel;
  trained.label_names = graph.nodes.labels.names;
  trained.feature_names = graph.nodes.feature_names;
  trained.attribute_names = graph.attribute_names;
  trained.separate_directions = graph.separate_directions;
  return trained;
}

// The graph without the arc from u to v; attributes are unchanged.
Graph without_link(const Graph& graph, int64_t u, int64_t v) {
  Graph rest = graph;
  std::vector<int64_t> row_ptr{0};
  std::vector<int32_t> neighbor;
  std::vector<int32_t> link;
  for (int64_t w = 0; w < graph.node_count(); ++w) {
    for (int64_t i = graph.row_ptr[w]; i < graph.row_ptr[w + 1]; ++i) {
      const int64_t x = graph.neighbor[i];
      if ((w == u && x == v)) continue;
      neighbor.push_back(graph.neighbor[i]);
      link.push_back(static_cast<int32_t>(graph.link[i]));
    }
    row_ptr.push_back(static_cast<int64_t>(neighbor.size()));
  }
  rest.row_ptr = std::move(row_ptr);
  rest.neighbor = std::move(neighbor);
  rest.link = std::move(link);
  return rest;
}

// The graph with one attribute of one link set to zero; requires dense attributes.
Graph without_attribute(const Graph& graph, int64_t u, int64_t v, std::string_view name) {
  Graph rest = graph;
  std::vector<float> values(graph.link_attributes.values.begin(),
                            graph.link_attributes.values.end());
  for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
    if (graph.neighbor[i] != v) continue;
    for (int64_t j = 0; j < graph.link_attributes.columns; ++j) {
      if (graph.attribute_names[j] != name) continue;
      values[static_cast<size_t>(graph.link[i] * graph.link_attributes.columns + j)] = 0;
    }
  }
  rest.link_attributes.values = std::move(values);
  return rest;
}

struct Kind {
  const char* architecture = "";
  ops::Aggregate aggregate = ops::Aggregate::kSum;
};
const Kind kKinds[] = {{"lase"},
                       {"sage"},
                       {"rw"},
                       {"concat"},
                       {"gcn"},
                       {"graphsage"},
                       {"sage", ops::Aggregate::kMean},
                       {"sage", ops::Aggregate::kMax},
                       {"concat", ops::Aggregate::kMax}};

// With one layer, leaving a link out of the layer is the same as removing its arc from the graph.
TEST(Explain, EffectsMatchRemovedLinksAndAttributes) {
  for (const Layout layout : kLayouts) {
    for (const auto& [architecture, aggregate] : kKinds) {
      const Graph graph = toy_graph({.layout = layout});
      const TrainedModel trained = some_model(graph, architecture, 1, aggregate);
      if (trained.model->block_count() > 1) continue;  // GCN computes the outputs in one more layer
      const Explanation explanation =
          explain(trained, graph, {.node = 0, .output = 1, .neighbors = 100, .attributes = 100});
      const auto score = [&](const Graph& of) {
        return predict(trained, of).outputs[0][1].item<double>();
      };
      EXPECT_NEAR(explanation.score, score(graph), 1e-5);
      ASSERT_EQ(explanation.layers.size(), 1u);
      ASSERT_EQ(static_cast<int64_t>(explanation.layers[0].neighbors.size()), graph.degree(0));
      for (const auto& neighbor : explanation.layers[0].neighbors) {
        const int64_t v = node_of(graph, neighbor.name);
        EXPECT_NEAR(neighbor.effect, score(graph) - score(without_link(graph, 0, v)), 1e-5);
        for (const auto& attribute : neighbor.attributes) {
          if (layout != Layout::kDense) break;
          const Graph rest = without_attribute(graph, 0, v, attribute.name);
          EXPECT_NEAR(attribute.effect, score(graph) - score(rest), 1e-5) << attribute.name;
        }
        EXPECT_GE(neighbor.gate, 0);
        EXPECT_LE(neighbor.gate, 1);
      }
    }
  }
}

TEST(Explain, ShowsTheLargestEffectsFirstAndFractionsThatSumToOne) {
  const Graph graph = toy_graph({.links = 40});
  const TrainedModel trained = some_model(graph, "sage", 2);
  const Explanation explanation =
      explain(trained, graph, {.node = 1, .neighbors = 3, .attributes = 100});
  ASSERT_EQ(explanation.layers.size(), 2u);
  for (const auto& layer : explanation.layers) {
    EXPECT_EQ(layer.links, graph.degree(1));
    EXPECT_LE(layer.neighbors.size(), 3u);
    EXPECT_TRUE(std::is_sorted(
        layer.neighbors.begin(), layer.neighbors.end(),
        [](const auto& a, const auto& b) { return std::abs(a.effect) > std::abs(b.effect); }));
    for (const auto& neighbor : layer.neighbors) {
      double share = 0;
      for (const auto& attribute : neighbor.attributes) share += attribute.amplifier_fraction;
      EXPECT_LE(share, 1 + 1e-6);
    }
  }
}

TEST(Explain, WorksForNodesWithoutLinksAndModelsWithoutLayers) {
  const Graph graph = toy_graph({});
  const int64_t lone = graph.node_count() - 1;
  const auto alone = explain(some_model(graph, "sage", 2), graph, {.node = lone});
  EXPECT_TRUE(alone.layers[0].neighbors.empty());
  TrainedModel raw = some_model(graph, "raw", 1);
  EXPECT_TRUE(explain(raw, graph, {.node = 0}).layers.empty());
  expect_error([&] { explain(raw, graph, {.node = 1000}); }, {"1000"});
}

TEST(Explain, ShowsAttributesThatOnlyTheLinkChannelReads) {
  const Graph graph = toy_graph({.nodes = 12, .links = 40});
  TrainedModel trained = some_model(graph, "lase", 2);
  ModelOptions options = trained.model->options();
  options.gate = false;
  options.amplifier = AmplifierChoice::kNone;
  trained.model = std::make_shared<Model>(options, trained.model->shape(), 7);
  const Explanation explanation = explain(trained, graph, {.node = 0});
  const auto& neighbors = explanation.layers.back().neighbors;
  ASSERT_FALSE(neighbors.empty());
  EXPECT_FALSE(neighbors[0].attributes.empty());
}

TEST(LastLayerExplainer, MatchesExplainInTheLastLayer) {
  for (const char* architecture : {"lase", "sage", "concat", "wl", "gcn", "graphsage"}) {
    const Graph graph = toy_graph({.links = 60});
    const TrainedModel trained = some_model(graph, architecture, 2);
    const LastLayerExplainer explainer(trained, graph);
    for (int64_t node = 0; node < 5; ++node) {
      const ExplainOptions options{.node = node, .output = 1, .neighbors = 4, .attributes = 3};
      const auto whole = explain(trained, graph, options);
      const auto found = explainer.explain(options);
      ASSERT_EQ(found.layers.size(), 1);
      const auto& expected = whole.layers.back();
      const auto& layer = found.layers[0];
      EXPECT_NEAR(found.score, whole.score, 1e-5);
      EXPECT_EQ(layer.links, expected.links);
      ASSERT_EQ(layer.neighbors.size(), expected.neighbors.size());
      for (size_t i = 0; i < layer.neighbors.size(); ++i) {
        EXPECT_NEAR(layer.neighbors[i].effect, expected.neighbors[i].effect, 1e-5);
        ASSERT_EQ(layer.neighbors[i].attributes.size(), expected.neighbors[i].attributes.size());
      }
    }
  }
}

TEST(LastLayerExplainer, ComputesOnlySomeExactEffectsIfRequested) {
  const Graph graph = toy_graph({.links = 60});
  const TrainedModel trained = some_model(graph, "sage", 2);
  const LastLayerExplainer explainer(trained, graph);
  ExplainOptions options{.node = 0, .output = 1, .neighbors = 2, .attributes = 1};
  const auto all = explainer.explain(options).layers[0];
  EXPECT_EQ(all.exact_links, graph.degree(0));
  options.exact = 2;
  const auto some = explainer.explain(options).layers[0];
  EXPECT_EQ(some.exact_links, 2);
  EXPECT_EQ(some.links, graph.degree(0));
}

double sum_of_effects(const LayerExplanation& layer, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += std::abs(layer.neighbors[i].effect);
  return sum;
}

// Of the links with the largest first-order effects, effects are exact, and nearly as large as the
// largest of all.
TEST(Explain, RanksTheLinksOfHubsByFirstOrderEffects) {
  const Graph graph = toy_graph({.nodes = 120, .links = 4000});
  for (const auto& [architecture, aggregate] : kKinds) {
    SCOPED_TRACE(architecture);
    const TrainedModel trained = some_model(graph, architecture, 2, aggregate);
    ExplainOptions options{.node = 0, .output = 0, .neighbors = 1000, .attributes = 0};
    const auto every = explain(trained, graph, options);
    options.neighbors = 5;
    options.exact = 20;
    const auto some = explain(trained, graph, options);
    ASSERT_EQ(every.layers.size(), some.layers.size());
    for (size_t l = 0; l < every.layers.size(); ++l) {
      EXPECT_EQ(every.layers[l].exact_links, graph.degree(0));
      EXPECT_EQ(some.layers[l].exact_links, 20);
      std::map<std::string, double> effects;
      for (const auto& neighbor : every.layers[l].neighbors) {
        effects[neighbor.name] = neighbor.effect;
      }
      for (const auto& neighbor : some.layers[l].neighbors) {
        EXPECT_NEAR(neighbor.effect, effects.at(neighbor.name), 1e-6);
      }
      if (aggregate == ops::Aggregate::kMax) continue;  // not smooth
      EXPECT_GE(sum_of_effects(some.layers[l], 5), 0.7 * sum_of_effects(every.layers[l], 5));
    }
  }
}

TEST(Predict, NumbersLabelsLikeTheModel) {
  const Graph graph = toy_graph({});
  TrainedModel trained = some_model(graph, "sage", 1);
  Graph other = graph;
  other.nodes.labels = single_labels({0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, -1}, 3);
  other.nodes.labels.names = make_string_table(
      Strings{"new", std::string(trained.label_names[1]), std::string(trained.label_names[0])});
  const Labels labels = labels_as_trained(trained, other.nodes.labels);
  EXPECT_EQ(labels.label[0], 3);  // a class unknown to the model
  EXPECT_EQ(labels.label[1], 1);
  EXPECT_EQ(labels.label[2], 0);
  EXPECT_EQ(labels.label[11], -1);
}

class PredictFile : public FolderTest {};

TEST_F(PredictFile, ListsTheMostProbableClassesInOrder) {
  const Graph graph = toy_graph({});
  const TrainedModel trained = some_model(graph, "sage", 1);
  const Predictions predictions = predict(trained, graph);
  write_predictions(trained, graph, predictions, {.top_k = 2}, path("p.csv"));
  const Graph back =
      import_graph("links", {write("l.csv", "source,target\n0,1\n"), "--nodes", path("p.csv"),
                             "--id", "node", "--label", "label", "--node-columns",
                             "probability,probability2", "--unknown-nodes", "add"});
  ASSERT_EQ(back.nodes.features.columns, 2);
  const at::Tensor probability = probabilities(trained, predictions.outputs);
  for (int64_t node = 0; node < graph.node_count(); ++node) {
    const Floats values = row(back.nodes.features, node);
    EXPECT_GE(values[0], values[1]);
    EXPECT_EQ(values[0], probability[node].max().item<float>());
  }
}

// A model trained on degrees, because the graph has no node features, applies to such a graph.
TEST(Predict, AddsTheFeaturesThatTrainingAdded) {
  Graph graph = toy_graph({.nodes = 30, .links = 90});
  graph.nodes.features = {};
  graph.nodes.features.rows = graph.node_count();
  graph.nodes.feature_names = {};
  TrainOptions options;
  options.epochs = 2;
  options.model.widths = {4};
  const TrainedModel trained = train(graph, options).trained;
  const Predictions predictions = predict(trained, graph);
  EXPECT_EQ(predictions.outputs.size(0), graph.node_count());
  const Predictions prepared = predict(trained, prepare_graph(trained, graph, "g"));
  expect_same_bits(predictions.outputs, prepared.outputs, "outputs");
  EXPECT_NO_THROW(explain(trained, graph, {.node = 1}));
}

TEST(Predict, RejectsAGraphWithOtherAttributes) {
  const Graph graph = toy_graph({});
  TrainedModel trained = some_model(graph, "sage", 1);
  trained.preprocessing = {{"slices_by", "span"}, {"slice_boundaries", {0, 1, 2}}};
  const auto rejects = [&](const Graph& other, std::initializer_list<std::string> parts) {
    expect_error([&] { predict(trained, other); }, parts);
    expect_error([&] { explain(trained, other, {.node = 0}); }, parts);
  };
  rejects(toy_graph({.features = 5}), {"the graph", "has 5 node features"});
  Graph other = graph;  // the same widths, but other columns
  other.nodes.feature_names = numbered_names("x", graph.nodes.feature_names.size());
  rejects(other, {"column 1 of the node features", "'x0'"});
  other = graph;
  other.attribute_names = numbered_names("a", graph.attribute_names.size());
  rejects(other, {"column 1 of the link attributes", "'a0'"});
  other = graph;
  other.separate_directions = true;
  rejects(other, {"separate attributes for each direction"});
  other = graph;
  other.preprocessing = {{"slices_by", "span"}, {"slice_boundaries", {0, 1, 3}}};
  rejects(other, {"other time slices"});
}

// The node's own features at their mean, its own links removed, and both.
TEST(Explain, AccountsForTheNodeItself) {
  for (const auto& [architecture, aggregate] : kKinds) {
    const Graph graph = toy_graph({});
    TrainedModel trained = some_model(graph, architecture, 1, aggregate);
    if (trained.model->block_count() > 1) continue;
    const Explanation explanation =
        explain(trained, graph, {.node = 0, .output = 1, .features = 100});
    ASSERT_TRUE(explanation.own.has_value());
    const OwnEffects& own = *explanation.own;
    const auto score = [&](const Graph& of) {
      return predict(trained, of).outputs[0][1].item<double>();
    };
    const auto with_mean = [&](const Graph& of, int64_t column) {
      Graph changed = of;
      std::vector<float> values(of.nodes.features.values.begin(), of.nodes.features.values.end());
      const bool standard = trained.scaling.nodes == NodeScaling::kStandard;
      for (int64_t j = 0; j < of.nodes.features.columns; ++j) {
        if (column >= 0 && j != column) continue;
        values[static_cast<size_t>(j)] =
            standard ? trained.scaling.node_mean[j].item<float>() : 0.0F;
      }
      changed.nodes.features.values = std::move(values);
      return changed;
    };
    Graph unlinked = graph;
    while (unlinked.degree(0) > 0) unlinked = without_link(unlinked, 0, unlinked.neighbor[0]);
    EXPECT_NEAR(own.features, score(graph) - score(with_mean(graph, -1)), 1e-5) << architecture;
    EXPECT_NEAR(own.links, score(graph) - score(unlinked), 1e-5) << architecture;
    EXPECT_NEAR(own.bias, score(with_mean(unlinked, -1)), 1e-5) << architecture;
    ASSERT_FALSE(own.top.empty());
    for (const auto& feature : own.top) {
      for (int64_t j = 0; j < graph.nodes.features.columns; ++j) {
        if (graph.nodes.feature_names[j] != feature.name) continue;
        EXPECT_NEAR(feature.effect, score(graph) - score(with_mean(graph, j)), 1e-5);
        EXPECT_EQ(feature.value, graph.nodes.features.values[j]);
      }
    }
  }
}

}  // namespace
}  // namespace lase
