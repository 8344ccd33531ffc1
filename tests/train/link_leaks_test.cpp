// No part of training or evaluation may see the links that it predicts. On graphs without any
// structure, a model that sees nothing else scores as chance does.

#include <cmath>

#include "lase/base/error.h"
#include "lase/train/trainer.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using Role = RandomLinks::Role;

TrainOptions link_options(int64_t epochs, Predicts predicts = Predicts::kLinkPrediction) {
  TrainOptions options;
  options.predicts = predicts;
  options.model.widths = {16};
  options.model.dropout = 0;
  options.model.aggregate = ops::Aggregate::kSum;
  options.features.embed.method = EmbedMethod::kNone;
  options.epochs = epochs;
  options.patience = 0;
  options.eval_every = epochs;  // the last epoch is the best
  options.batch = 40;
  options.learning_rate = 0.02;
  options.sampling.link_dropout = 0;
  options.links.split = "50/25/25";
  options.links.prediction.negatives = 4;
  return options;
}

struct Outcome {
  double loss = 0;  // of training, mean of the last quarter of the epochs
  TrainResult result;
};

Outcome run(const Graph& graph, TrainOptions options) {
  Outcome outcome;
  const int64_t last = options.epochs / 4;
  options.progress = [&, last](const EpochReport& report) {
    const bool counts = report.epoch > report.epochs - last;
    if (counts) outcome.loss += report.loss / static_cast<double>(last);
  };
  outcome.result = train(graph, options);
  return outcome;
}

// Standard error of the ROC-AUC of n links and n random pairs without any difference.
double auc_error(int64_t n) {
  return std::sqrt(static_cast<double>(2 * n + 1) / (12.0 * static_cast<double>(n * n)));
}

// `lowest`: of the loss of training, which falls if training sees the links that it predicts.
void expect_chance(const Outcome& outcome, double lowest, const std::string& what) {
  const Scores& val = outcome.result.val;
  const Scores& test = outcome.result.test;
  EXPECT_GT(test.nodes, 150) << what;
  EXPECT_NEAR(val.roc_auc, 0.5, 4 * auc_error(val.nodes)) << what;
  EXPECT_NEAR(test.roc_auc, 0.5, 4 * auc_error(test.nodes)) << what;
  EXPECT_GT(outcome.loss, lowest) << what;
}

constexpr DecoderChoice kDecoders[] = {DecoderChoice::kDot, DecoderChoice::kBilinear,
                                       DecoderChoice::kMlp};

std::vector<SamplingOptions> samplings() {
  const SamplingOptions whole{.fanout = {kWholeNeighborhood}, .strategy = Strategy::kUniform};
  const SamplingOptions uniform{.fanout = {2}, .strategy = Strategy::kUniform};
  SamplingOptions eager{.fanout = {1}, .strategy = Strategy::kSnapshot, .refresh_every = 5};
  eager.refresh = Refresh::kEager;
  SamplingOptions lazy = eager;
  lazy.refresh = Refresh::kLazy;
  std::vector<SamplingOptions> all = {whole, uniform, eager, lazy};
  for (SamplingOptions& sampling : all) sampling.link_dropout = 0;
  return all;
}

std::string describe(const TrainOptions& options) {
  return join(name_of(options.model.decoder), ", ", name_of(options.sampling.strategy), ", ",
              name_of(options.sampling.refresh), " refresh");
}

// The ends of a link have a link of the same category, unless it is hidden, which is seldom so
// otherwise. Negative samples that are links are left out, so the loss of chance is a little lower.
const double kLowestLoss = std::log(5) - 0.08;

TEST(LinkLeaks, RandomLinksArePredictedAsByChance) {
  const Graph graph = random_links(
      {.nodes = 300, .links = 900, .categories = 12, .repeated = true, .keep_parallel = true});
  for (const DecoderChoice decoder : kDecoders) {
    for (const SamplingOptions& sampling : samplings()) {
      TrainOptions options = link_options(8);
      options.model.decoder = decoder;
      options.sampling = sampling;
      // Small batches, so that several of them share a snapshot, which hides a tenth of the links.
      const bool snapshot = sampling.strategy == Strategy::kSnapshot;
      if (snapshot) options.batch = 9;
      int64_t batches = 0;
      options.batch_progress = [&](const BatchReport& report) { batches = report.batches; };
      const Outcome outcome = run(graph, options);
      expect_chance(outcome, kLowestLoss, describe(options));
      // A snapshot is refreshed in every epoch, because it hides links of batches to come.
      if (snapshot) {
        EXPECT_EQ(outcome.result.refreshes, 8 * ((batches + 4) / 5));
      }
    }
  }
}

TEST(LinkLeaks, RandomLinksArePredictedAsByChanceInBothDirectionsAndWithoutTargets) {
  for (const bool directed : {false, true}) {
    const Graph graph = random_links({.nodes = 300,
                                      .links = 900,
                                      .categories = 12,
                                      .directed = directed,
                                      .repeated = directed,
                                      .targets = directed});
    for (const DecoderChoice decoder : kDecoders) {
      TrainOptions options = link_options(8);
      options.model.decoder = decoder;
      expect_chance(run(graph, options), kLowestLoss, join(describe(options), directed));
    }
  }
}

// LINE features see the training links, so the loss of training falls.
TEST(LinkLeaks, RandomLinksArePredictedAsByChanceFromLineFeatures) {
  const Graph graph = random_links({.nodes = 300, .links = 900, .repeated = true});
  for (const DecoderChoice decoder : kDecoders) {
    TrainOptions options = link_options(6);
    options.model.decoder = decoder;
    options.model.aggregate = ops::Aggregate::kMean;
    options.features.embed.method = EmbedMethod::kLine;
    options.features.embed.width = 16;
    expect_chance(run(graph, options), 0, describe(options));
  }
}

TEST(LinkLeaks, LinksWithinGroupsArePredictedBetterThanByChance) {
  const Graph graph = random_links({.nodes = 120, .links = 1200, .groups = 4});
  for (const DecoderChoice decoder : kDecoders) {
    TrainOptions options = link_options(12);
    options.model.decoder = decoder;
    options.model.aggregate = ops::Aggregate::kMean;
    options.features.embed.method = EmbedMethod::kLine;
    options.features.embed.width = 16;
    const Outcome outcome = run(graph, options);
    EXPECT_GT(outcome.result.val.roc_auc, 0.7) << name_of(decoder);
    EXPECT_GT(outcome.result.test.roc_auc, 0.7) << name_of(decoder);
    EXPECT_LT(outcome.loss, std::log(5) - 0.2) << name_of(decoder);
  }
}

// Only the link itself and its copies have the category that is to be predicted.
TEST(LinkLeaks, RandomLabelsOfLinksArePredictedAsByChance) {
  const Graph graph = random_links({.nodes = 300,
                                    .links = 900,
                                    .categories = 2,
                                    .repeated = true,
                                    .keep_parallel = true,
                                    .role = Role::kLabels});
  for (const SamplingOptions& sampling : samplings()) {
    TrainOptions options = link_options(12, Predicts::kLinks);
    options.sampling = sampling;
    const auto [loss, result] = run(graph, options);
    EXPECT_GT(result.test.nodes, 300);
    // Up to three rows have the same label.
    const double error = std::sqrt(0.25 * 3 / static_cast<double>(result.test.nodes));
    EXPECT_NEAR(result.val.micro_f1, 0.5, 4 * error) << describe(options);
    EXPECT_NEAR(result.test.micro_f1, 0.5, 4 * error) << describe(options);
    EXPECT_GT(loss, std::log(2) - 0.05) << describe(options);
  }
}

TEST(LinkLeaks, LabelsInTheAttributesOfLinksArePredicted) {
  const Graph graph = random_links({.nodes = 300,
                                    .links = 900,
                                    .categories = 2,
                                    .repeated = true,
                                    .role = Role::kLabelsAndAttributes});
  for (const SamplingOptions& sampling : samplings()) {
    TrainOptions options = link_options(12, Predicts::kLinks);
    options.sampling = sampling;
    const auto [loss, result] = run(graph, options);
    EXPECT_GT(result.val.micro_f1, 0.99) << describe(options);
    EXPECT_GT(result.test.micro_f1, 0.99) << describe(options);
    EXPECT_LT(loss, 0.1) << describe(options);
  }
}

// ---- What the targets of a split may depend on

constexpr Split kTrainValTest[] = {Split::kTrain, Split::kTrain, Split::kVal, Split::kTest};

// Random links with a split as by time: the rows of a pair may be in different splits.
Graph split_graph() {
  RandomLinks options{.nodes = 60, .links = 240, .categories = 3, .repeated = true};
  options.splits = {std::begin(kTrainValTest), std::end(kTrainValTest)};
  return random_links(options);
}

// The graph with other attributes of the links of a split.
Graph with_other_links(Graph graph, Split split) {
  Random random(77);
  Floats values(graph.link_attributes.values.begin(), graph.link_attributes.values.end());
  const auto k = static_cast<size_t>(graph.link_attributes.columns);
  for (int64_t link = 0; link < graph.links; ++link) {
    if (graph.link_split[link] != static_cast<uint8_t>(split)) continue;
    for (size_t j = 0; j < k; ++j) {
      values[static_cast<size_t>(link) * k + j] = static_cast<float>(random.normal());
    }
  }
  graph.link_attributes.values = std::move(values);
  return graph;
}

// The graph without the arcs of the links of a split; its targets stay.
Graph without_links(Graph graph, Split split) {
  graph.adjacency() = filter_arcs(graph, [&](int64_t, int64_t arc) {
    return graph.link_split[graph.link[arc]] != static_cast<uint8_t>(split);
  });
  return graph;
}

bool same_scores(const Scores& a, const Scores& b) {
  return a.mrr == b.mrr && a.roc_auc == b.roc_auc && a.average_precision == b.average_precision;
}

bool same_model(const TrainResult& a, const TrainResult& b) {
  const auto& x = a.trained.model->parameters().all();
  const auto& y = b.trained.model->parameters().all();
  bool same = x.size() == y.size();
  for (size_t i = 0; same && i < x.size(); ++i) same = at::equal(x[i].second, y[i].second);
  return same;
}

TEST(LinkLeaks, TargetsDependOnLinksOfEarlierSplitsOnly) {
  const Graph graph = split_graph();
  struct Case {
    EmbedMethod method;
    DecoderChoice decoder;
  };
  for (const auto& [method, decoder] : {Case{EmbedMethod::kNone, DecoderChoice::kDot},
                                        Case{EmbedMethod::kNone, DecoderChoice::kMlp},
                                        Case{EmbedMethod::kLine, DecoderChoice::kBilinear}}) {
    TrainOptions options = link_options(3);
    options.eval_every = 1;  // the best epoch depends on validation links
    options.model.decoder = decoder;
    options.features.embed.method = method;
    options.features.embed.width = 8;
    const TrainResult first = train(graph, options);
    EXPECT_GT(first.val.nodes, 50);
    EXPECT_GT(first.test.nodes, 50);
    const auto train_on = [&](const Graph& other) { return train(other, options); };
    for (const TrainResult& result : {train_on(with_other_links(graph, Split::kTest)),
                                      train_on(without_links(graph, Split::kTest))}) {
      EXPECT_TRUE(same_model(result, first));
      EXPECT_TRUE(same_scores(result.val, first.val));
      EXPECT_TRUE(same_scores(result.test, first.test));
    }
    for (const TrainResult& result : {train_on(with_other_links(graph, Split::kVal)),
                                      train_on(without_links(graph, Split::kVal))}) {
      EXPECT_TRUE(same_model(result, first));
      EXPECT_TRUE(same_scores(result.val, first.val));
      EXPECT_FALSE(same_scores(result.test, first.test));
    }
    EXPECT_FALSE(same_model(train_on(with_other_links(graph, Split::kTrain)), first));
  }
}

}  // namespace
}  // namespace lase
