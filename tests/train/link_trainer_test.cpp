// Training on links: reproducible for any number of threads, and after resuming.

#include "lase/base/parallel.h"
#include "lase/train/trainer.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using Role = RandomLinks::Role;

Graph graph_for(Predicts predicts, int64_t nodes) {
  const bool labels = predicts == Predicts::kLinks;
  return random_links({.nodes = nodes,
                       .links = 3 * nodes,
                       .categories = 3,
                       .repeated = true,
                       .role = labels ? Role::kLabels : Role::kAttributes});
}

TrainOptions options_for(Predicts predicts, int64_t epochs, const SamplingOptions& sampling) {
  TrainOptions options;
  options.predicts = predicts;
  options.model.widths = {4, 4};
  options.features.embed.method = EmbedMethod::kNone;
  options.epochs = epochs;
  options.batch = 100;
  options.sampling = sampling;
  options.links.prediction.negatives = 4;
  return options;
}

const std::vector<SamplingOptions> kSamplings = {
    {},
    {.fanout = {2}, .strategy = Strategy::kUniform},
    {.fanout = {2}, .strategy = Strategy::kSnapshot, .refresh_every = 2},
    {.fanout = {2},
     .strategy = Strategy::kSnapshot,
     .refresh_every = 2,
     .refresh = Refresh::kLazy}};

TEST(LinkTrainer, GivesTheSameWeightsForAnyNumberOfThreads) {
  for (const auto predicts : {Predicts::kLinkPrediction, Predicts::kLinks}) {
    // Enough pairs for more than one chunk of parallel work.
    const Graph graph = graph_for(predicts, 600);
    for (const SamplingOptions& sampling : kSamplings) {
      TrainOptions options = options_for(predicts, 1, sampling);
      options.batch = 500;
      // Shared negative samples.
      const bool products = predicts == Predicts::kLinkPrediction && sampling.fanout.empty();
      if (products) options.model.decoder = DecoderChoice::kBilinear;
      const auto train_with = [&](int threads) {
        const ThreadLimit limit(threads);
        return train(graph, options);
      };
      const TrainResult one = train_with(1);
      const TrainResult two = train_with(2);
      expect_same_weights(*two.trained.model, *one.trained.model);
      EXPECT_EQ(two.test.average_precision, one.test.average_precision);
    }
  }
}

class LinkTrainerFolder : public FolderTest {
 protected:
  // Five epochs at once, and after an interruption.
  void expect_resumed(const Graph& graph, TrainOptions options, const std::string& name) const {
    options.epochs = 5;
    options.checkpoint_every = 1;
    options.checkpoint = path(name);
    const TrainResult whole = train(graph, options);
    options.checkpoint = path(name + " resumed");
    options.epochs = 3;  // the last one writes no checkpoint
    train(graph, options);
    options.epochs = 5;
    options.resume = true;
    int64_t epochs = 0;
    options.progress = [&](const EpochReport&) { ++epochs; };
    const TrainResult resumed = train(graph, options);
    EXPECT_EQ(epochs, 3) << name;
    expect_same_weights(*resumed.trained.model, *whole.trained.model);
    EXPECT_EQ(resumed.test.average_precision, whole.test.average_precision) << name;
  }
};

TEST_F(LinkTrainerFolder, ResumesWithTheSameWeights) {
  for (const auto predicts : {Predicts::kLinkPrediction, Predicts::kLinks}) {
    const Graph graph = graph_for(predicts, 80);
    for (size_t i = 0; i < kSamplings.size(); ++i) {
      expect_resumed(graph, options_for(predicts, 5, kSamplings[i]),
                     std::string(name_of(predicts)) + std::to_string(i));
    }
  }
  TrainOptions two_hop = options_for(Predicts::kLinkPrediction, 5, {});
  two_hop.links.prediction.sampling = NegativeSampling::kTwoHop;
  expect_resumed(graph_for(Predicts::kLinkPrediction, 80), two_hop, "two-hop");
}

// Otherwise a small graph would have no links while it is trained on.
TEST(LinkTrainer, HidesFewLinksAtOnce) {
  const Graph graph = graph_for(Predicts::kLinkPrediction, 40);
  const auto batches = [&](int64_t size) {
    TrainOptions options = options_for(Predicts::kLinkPrediction, 1, {});
    options.batch = size;
    int64_t count = 0;
    options.batch_progress = [&](const BatchReport& report) { count = report.batches; };
    train(graph, options);
    return count;
  };
  EXPECT_GE(batches(256), 10);
  EXPECT_LE(batches(256), 11);
  EXPECT_GT(batches(3), 20);
  EXPECT_EQ(batches(0), batches(256));
}

TEST(LinkTrainer, RefreshesSnapshotsBeforeTheyHideManyLinks) {
  const Graph graph = graph_for(Predicts::kLinkPrediction, 300);
  TrainOptions options =
      options_for(Predicts::kLinkPrediction, 1, {.fanout = {2}, .strategy = Strategy::kSnapshot});
  options.batch = 20;
  int64_t batches = 0;
  options.batch_progress = [&](const BatchReport& report) { batches = report.batches; };
  const TrainResult result = train(graph, options);
  EXPECT_GT(batches, 20);
  // Every refresh hides at most a tenth of the links.
  EXPECT_GE(result.refreshes, 10);
  EXPECT_LT(result.refreshes, batches);
}

// Another seed, other negative samples or another split are other runs.
TEST(LinkTrainer, DependsOnTheOptionsOfTheTask) {
  const Graph graph = graph_for(Predicts::kLinkPrediction, 150);
  const auto weights = [&](const std::function<void(TrainOptions&)>& change) {
    TrainOptions options = options_for(Predicts::kLinkPrediction, 2, {});
    change(options);
    const TrainResult result = train(graph, options);
    return to_doubles(result.trained.model->parameters().all().front().second);
  };
  const Doubles first = weights([](TrainOptions&) {});
  EXPECT_EQ(weights([](TrainOptions&) {}), first);
  EXPECT_NE(weights([](TrainOptions& o) { o.seed = 2; }), first);
  EXPECT_NE(weights([](TrainOptions& o) { o.links.split = "60/20/20"; }), first);
  EXPECT_NE(weights([](TrainOptions& o) { o.links.prediction.negatives = 5; }), first);
  for (const auto sampling : {NegativeSampling::kDegree, NegativeSampling::kTwoHop}) {
    EXPECT_NE(weights([&](TrainOptions& o) { o.links.prediction.sampling = sampling; }), first);
  }
}

}  // namespace
}  // namespace lase
