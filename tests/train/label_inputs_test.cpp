// Known labels of other nodes are inputs; a node's own label never is. On random graphs with random
// labels, a model scores as chance does.

#include <cmath>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/graph/build.h"
#include "lase/inference/explain.h"
#include "lase/inference/predict.h"
#include "lase/train/estimator.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

enum class LabelsOf : uint8_t { kNeighbors, kChance };

// Nodes without features, whose links have no attributes. Either nodes are linked within two
// groups, which are their labels, or labels are random.
Graph bare_graph(LabelsOf labels, int64_t nodes = 400) {
  Random random(9);
  RawGraph raw;
  std::vector<int32_t> label;
  StringTableBuilder names;
  std::vector<uint8_t> split;
  for (int64_t u = 0; u < nodes; ++u) {
    names.add(std::to_string(u));
    const auto chance = static_cast<int32_t>(random.below(2));
    label.push_back(labels == LabelsOf::kChance ? chance : static_cast<int32_t>(u % 2));
    split.push_back(static_cast<uint8_t>(u % 8 < 5   ? Split::kTrain
                                         : u % 8 < 7 ? Split::kVal
                                                     : Split::kTest));
    for (int i = 0; i < 3; ++i) {
      raw.source.push_back(static_cast<int32_t>(u));
      const auto half = static_cast<uint64_t>(nodes / 2);
      const auto other = 2 * random.below(half) + static_cast<uint64_t>(u % 2);
      raw.target.push_back(static_cast<int32_t>(other));
    }
  }
  raw.nodes.names = names.finish();
  raw.nodes.labels = single_labels(label, 2);
  raw.nodes.split = std::move(split);
  raw.nodes.features.rows = nodes;
  return build_graph(std::move(raw)).graph;
}

TrainOptions options_for(const std::string& model, int64_t epochs) {
  TrainOptions options;
  options.model.model = model;
  options.model.widths = {16, 16};
  options.model.dropout = 0;
  options.features.embed.method = EmbedMethod::kNone;
  options.label_inputs = LabelInputs::kOn;
  options.transductive = true;
  options.epochs = epochs;
  options.patience = 0;
  options.eval_every = epochs;
  options.batch = 100;
  options.sampling.link_dropout = 0;
  return options;
}

std::vector<SamplingOptions> samplings() {
  using S = SamplingOptions;
  S eager{.fanout = {2}, .strategy = Strategy::kSnapshot, .refresh_every = 5};
  eager.refresh = Refresh::kEager;
  S lazy = eager;
  lazy.refresh = Refresh::kLazy;
  std::vector<S> all = {S{.fanout = {kWholeNeighborhood}, .strategy = Strategy::kUniform},
                        S{.fanout = {2}, .strategy = Strategy::kUniform},
                        S{.fanout = {2}, .strategy = Strategy::kMinVar, .refresh_every = 5}, eager,
                        lazy};
  for (S& sampling : all) sampling.link_dropout = 0;
  return all;
}

std::string describe(const TrainOptions& options) {
  return join(options.model.model, ", ", name_of(options.sampling.strategy), ", ",
              name_of(options.sampling.refresh));
}

// Mean loss of the last quarter of the epochs.
double final_loss(const Graph& graph, TrainOptions options, TrainResult* result = nullptr) {
  double loss = 0;
  const int64_t last = options.epochs / 4;
  options.progress = [&, last](const EpochReport& report) {
    if (report.epoch > report.epochs - last) loss += report.loss / static_cast<double>(last);
  };
  TrainResult trained = train(graph, options);
  if (result != nullptr) *result = std::move(trained);
  return loss;
}

TEST(LabelInputLeaks, RandomLabelsArePredictedAsByChance) {
  const Graph graph = bare_graph(LabelsOf::kChance);
  for (const auto* model : {"lase", "graphsage", "gcn"}) {
    for (const SamplingOptions& sampling : samplings()) {
      TrainOptions options = options_for(model, 40);
      options.sampling = sampling;
      // Several batches share a snapshot, which hides at most half of the labels.
      if (sampling.strategy != Strategy::kUniform) options.batch = 25;
      TrainResult result;
      const double loss = final_loss(graph, options, &result);
      EXPECT_GT(loss, std::log(2) - 0.1) << describe(options);
      const double error = std::sqrt(0.25 / static_cast<double>(result.val.nodes));
      EXPECT_NEAR(result.val.micro_f1, 0.5, 4 * error) << describe(options);
      const bool refreshes = sampling.strategy != Strategy::kUniform;
      // 250 training nodes in 10 batches, and a refresh after 5 of them
      EXPECT_EQ(result.refreshes, refreshes ? 80 : 0) << describe(options);
    }
  }
}

TEST(LabelInputLeaks, LabelsOfLinkedNodesAreLearned) {
  const Graph graph = bare_graph(LabelsOf::kNeighbors);
  for (const SamplingOptions& sampling : samplings()) {
    TrainOptions options = options_for("lase", 40);
    options.sampling = sampling;
    TrainResult result;
    EXPECT_LT(final_loss(graph, options, &result), 0.4) << describe(options);
    EXPECT_GT(result.val.micro_f1, 0.85) << describe(options);
    EXPECT_GT(result.test.micro_f1, 0.85) << describe(options);
    options.label_inputs = LabelInputs::kOff;
    EXPECT_LT(train(graph, options).val.micro_f1, 0.7) << describe(options);
  }
}

// The graph with another label of a node.
Graph with_other_label(Graph graph, int64_t node) {
  std::vector<int32_t> label(graph.nodes.labels.label.begin(), graph.nodes.labels.label.end());
  label[static_cast<size_t>(node)] = 1 - label[static_cast<size_t>(node)];
  graph.nodes.labels.label = std::move(label);
  return graph;
}

TEST(LabelInputLeaks, PredictionsDependOnTheLabelsOfOtherTrainingNodesOnly) {
  const Graph graph = bare_graph(LabelsOf::kNeighbors, 80);
  const TrainedModel trained = train(graph, options_for("lase", 5)).trained;
  for (const auto& fanout : {std::vector<int64_t>(), std::vector<int64_t>{3}}) {
    const auto outputs = [&](const Graph& of) {
      return predict(trained, of, {.fanout = fanout}).outputs;
    };
    const Tensor before = outputs(graph);
    for (int64_t u = 0; u < graph.node_count(); ++u) {
      const Tensor changed = outputs(with_other_label(graph, u)).ne(before).any(1);
      EXPECT_FALSE(changed[u].item<bool>()) << u;
      const bool is_input = graph.nodes.split[u] == static_cast<uint8_t>(Split::kTrain);
      EXPECT_EQ(changed.any().item<bool>(), is_input) << u;
    }
  }
}

TEST(LabelInputLeaks, ExplanationsAreOfThePredictions) {
  const Graph graph = bare_graph(LabelsOf::kNeighbors, 80);
  const TrainedModel trained = train(graph, options_for("lase", 5)).trained;
  const Tensor outputs = predict(trained, graph).outputs;
  const Graph prepared = prepare_graph(trained, graph, "g");
  const LastLayerExplainer of_last_layer(trained, prepared);
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    const ExplainOptions options{.node = u, .output = 1};
    const Explanation explanation = explain(trained, graph, options);
    EXPECT_NEAR(explanation.score, outputs[u][1].item<double>(), 1e-5) << u;
    EXPECT_NEAR(of_last_layer.explain(options).score, outputs[u][1].item<double>(), 1e-5) << u;
    for (const FeatureEffect& feature : explanation.own->top) {
      EXPECT_FALSE(feature.name.starts_with("label=")) << u;
    }
    const Explanation changed = explain(trained, with_other_label(graph, u), options);
    EXPECT_EQ(changed.score, explanation.score) << u;
    EXPECT_EQ(changed.own->features, explanation.own->features) << u;
  }
}

// Exact sums, baseline states and sampled neighbors are those of a graph without the hidden labels.
TEST(LabelInputLeaks, SnapshotsAndProbabilitiesDoNotDependOnHiddenLabels) {
  const Graph bare = bare_graph(LabelsOf::kNeighbors, 80);
  TrainedModel trained = train(bare, options_for("lase", 2)).trained;
  const Graph graph = prepare_graph(trained, bare, "g");
  std::vector<int64_t> hidden;
  std::vector<int32_t> label(bare.nodes.labels.label.begin(), bare.nodes.labels.label.end());
  for (int64_t u = 0; u < 80; u += 3) {
    hidden.push_back(u);
    label[static_cast<size_t>(u)] = -1;
  }
  Graph unlabeled = bare;
  unlabeled.nodes.labels.label = std::move(label);
  unlabeled = prepare_graph(trained, unlabeled, "g");
  const Inputs inputs(graph, trained.scaling);
  const Inputs expected_inputs(unlabeled, trained.scaling);
  const SeedCounts seeds{.epoch = 80, .batch = 80};
  for (const SamplingOptions& sampling : samplings()) {
    if (sampling.strategy == Strategy::kUniform) continue;
    Estimator found(sampling, *trained.model, inputs, graph, seeds);
    Estimator expected(sampling, *trained.model, expected_inputs, graph, seeds);
    found.refresh(0, {.arcs = {}, .labels = mask_of(hidden, 80)});
    expected.refresh();
    const Batch batch = sample_batch(graph, hidden, found.sampling(), {1, 0, 0});
    expect_same_bits(batch.blocks[0].link,
                     sample_batch(graph, hidden, expected.sampling(), {1, 0, 0}).blocks[0].link,
                     "links");
    if (found.snapshot() == nullptr) continue;
    const Baseline of_found = found.snapshot()->of(batch);
    const Baseline of_expected = expected.snapshot()->of(batch);
    for (size_t l = 0; l < of_found.layers.size(); ++l) {
      const BaselineLayer& layer = of_found.layers[l];
      expect_same_bits(layer.state.h.dense(), of_expected.layers[l].state.h.dense(), "state");
      expect_same_bits(layer.sums[0], of_expected.layers[l].sums[0], "sums");
    }
  }
}

TEST(LabelInputs, AreChosenIfTheyAreClearlyBetterOnValidationNodes) {
  TrainOptions options = options_for("lase", 100);
  options.label_inputs = LabelInputs::kAuto;
  const TrainResult with = train(bare_graph(LabelsOf::kNeighbors), options);
  EXPECT_TRUE(with.trained.label_inputs);
  EXPECT_TRUE(with.label_inputs.starts_with("those of training nodes: validation micro-F1"))
      << with.label_inputs;
  const TrainResult without = train(bare_graph(LabelsOf::kChance), options);
  EXPECT_FALSE(without.trained.label_inputs);
  EXPECT_TRUE(without.label_inputs.starts_with("none: validation micro-F1"))
      << without.label_inputs;
  // Not chosen
  options.label_inputs = LabelInputs::kOn;
  EXPECT_EQ(train(bare_graph(LabelsOf::kChance), options).label_inputs, "");
}

TEST(LabelInputs, AreOffWithoutValidationNodesAndWithoutMessages) {
  Graph graph = bare_graph(LabelsOf::kNeighbors, 40);
  TrainOptions options = options_for("raw", 3);
  options.label_inputs = LabelInputs::kAuto;
  EXPECT_FALSE(train(graph, options).trained.label_inputs);
  options.label_inputs = LabelInputs::kOn;
  expect_error([&] { train(graph, options); }, {"label_inputs", "does not use links"});
  options = options_for("lase", 3);
  options.label_inputs = LabelInputs::kAuto;
  graph.nodes.split = {};
  const TrainResult result = train(graph, options);
  EXPECT_FALSE(result.trained.label_inputs);
  EXPECT_EQ(result.label_inputs, "");
}

// At most half of the training nodes are in one batch, which hides their labels.
TEST(LabelInputs, LimitTheSizeOfBatches) {
  const Graph graph = bare_graph(LabelsOf::kNeighbors);
  for (const auto label_inputs : {LabelInputs::kOn, LabelInputs::kOff}) {
    TrainOptions options = options_for("lase", 1);
    options.batch = 0;
    options.label_inputs = label_inputs;
    int64_t batches = 0;
    options.batch_progress = [&](const BatchReport& report) { batches = report.batches; };
    train(graph, options);
    EXPECT_EQ(batches, label_inputs == LabelInputs::kOn ? 2 : 1);
  }
}

// Chunks of a batch hide the labels of all its seeds, so that they compute what the batch does.
TEST(LabelInputs, AreHiddenForWholeBatches) {
  const Graph graph = bare_graph(LabelsOf::kNeighbors);
  TrainOptions options = options_for("graphsage", 2);
  const TrainResult whole = train(graph, options);
  options.chunks = 10;
  const TrainResult in_chunks = train(graph, options);
  const auto& weights = whole.trained.model->parameters().all();
  const auto& found = in_chunks.trained.model->parameters().all();
  for (size_t i = 0; i < weights.size(); ++i) {
    expect_close(found[i].second, weights[i].second, 1e-3, weights[i].first);
  }
}

Labels several_labels(Task task, const Graph& graph) {
  Floats target;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    target.push_back(static_cast<float>(u % 2));
    target.push_back(task == Task::kRegression ? static_cast<float>(3 * (u % 2) + 10)
                                               : static_cast<float>(1 - u % 2));
  }
  return target_labels(task, target, 2);
}

TEST(LabelInputs, MayBeSeveralLabelsAndTargets) {
  Graph graph = bare_graph(LabelsOf::kNeighbors);
  for (const Task task : {Task::kMultiLabel, Task::kRegression}) {
    graph.nodes.labels = several_labels(task, graph);
    const TrainResult result = train(graph, options_for("lase", 60));
    const double score = task == Task::kRegression ? result.test.r2 : result.test.micro_f1;
    EXPECT_GT(score, 0.6) << task_name(task);
  }
}

TEST(LabelInputs, GiveTheSameWeightsForAnyNumberOfThreads) {
  Graph graph = toy_graph({.nodes = 3000, .links = 12'000, .split = true});
  for (const SamplingOptions& sampling : samplings()) {
    TrainOptions options = options_for("lase", 2);
    options.sampling = sampling;
    const auto with_threads = [&](int threads) {
      const ThreadLimit limit(threads);
      return train(graph, options);
    };
    const TrainResult one = with_threads(1);
    expect_same_weights(*with_threads(4).trained.model, *one.trained.model);
  }
}

class LabelInputsFolder : public FolderTest {};

TEST_F(LabelInputsFolder, ResumeWithTheSameWeights) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  for (const SamplingOptions& sampling : samplings()) {
    TrainOptions options = options_for("lase", 6);
    options.eval_every = 1;
    options.batch = 30;
    options.sampling = sampling;
    options.checkpoint_every = 1;
    const TrainResult expected = train(graph, options);
    options.checkpoint = path(join("checkpoint", name_of(sampling.refresh),
                                   name_of(sampling.strategy), sampling.fanout[0]));
    options.epochs = 3;
    train(graph, options);
    options.resume = true;
    options.epochs = 6;
    expect_same_weights(*train(graph, options).trained.model, *expected.trained.model);
  }
}

}  // namespace
}  // namespace lase
