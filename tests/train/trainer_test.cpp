#include "lase/train/trainer.h"

#include <algorithm>
#include <limits>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/graph/build.h"
#include "lase/inference/inference.h"
#include "lase/inference/objective.h"
#include "lase/train/validation.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

TrainOptions quick(int64_t epochs = 4) {
  TrainOptions options;
  options.model.widths = {4, 4};
  options.epochs = epochs;
  options.batch = 16;
  return options;
}

Graph split_toy(const std::function<Split(int64_t)>& split) {
  Graph graph = toy_graph({.nodes = 60, .links = 180});
  std::vector<uint8_t> all;
  for (int64_t u = 0; u < graph.node_count(); ++u) all.push_back(static_cast<uint8_t>(split(u)));
  graph.nodes.split = std::move(all);
  return graph;
}

// No validation nodes, because epochs selected by validation would depend on links that training
// must not use.
Split train_or_test(int64_t u) { return u % 3 == 2 ? Split::kTest : Split::kTrain; }

bool same_weights(const TrainResult& a, const TrainResult& b) {
  const auto& x = a.trained.model->parameters().all();
  const auto& y = b.trained.model->parameters().all();
  bool same = x.size() == y.size();
  for (size_t i = 0; same && i < x.size(); ++i) same = at::equal(x[i].second, y[i].second);
  return same;
}

bool finite_weights(const TrainResult& result) {
  for (const auto& [name, value] : result.trained.model->parameters().all()) {
    if (!value.isfinite().all().item<bool>()) return false;
  }
  return true;
}

TEST(Trainer, GivesTheSameWeightsForTheSameSeedAndAnyNumberOfThreads) {
  // Enough nodes for more than one chunk of parallel work.
  const Graph graph = toy_graph({.nodes = 3000, .links = 12'000, .split = true});
  for (const SamplingOptions& sampling :
       {SamplingOptions{}, SamplingOptions{.fanout = {3}},
        SamplingOptions{.fanout = {3}, .strategy = Strategy::kGate},
        SamplingOptions{
            .fanout = {3}, .strategy = Strategy::kMinVar, .replacement = Replacement::kWith},
        SamplingOptions{.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh_every = 2},
        SamplingOptions{
            .fanout = {3}, .strategy = Strategy::kSnapshot, .refresh = Refresh::kLazy}}) {
    TrainOptions options = quick(2);
    options.batch = sampling.strategy == Strategy::kSnapshot ? 500 : 0;
    options.sampling = sampling;
    const auto train_with = [&](int threads) {
      const ThreadLimit limit(threads);
      return train(graph, options);
    };
    const TrainResult one = train_with(1);
    const TrainResult two = train_with(2);
    expect_same_weights(*two.trained.model, *one.trained.model);
    EXPECT_EQ(one.test.micro_f1, two.test.micro_f1);
    options.seed = 2;
    EXPECT_FALSE(same_weights(train(graph, options), one));
  }
}

// 64-bit link indices, as in graphs with too many links for 32 bits.
TEST(Trainer, GivesTheSameWeightsWithWideIndices) {
  for (const auto layout : {Layout::kDense, Layout::kSparse, Layout::kDictionary}) {
    const Graph narrow = toy_graph({.nodes = 60, .links = 180, .layout = layout, .split = true});
    Graph wide = narrow;
    std::vector<int64_t> link;
    for (int64_t i = 0; i < narrow.arc_count(); ++i) link.push_back(narrow.link[i]);
    wide.link = Array<int64_t>(std::move(link));
    ASSERT_TRUE(wide.link.is_wide());
    for (const auto strategy : {Strategy::kUniform, Strategy::kSnapshot}) {
      for (const auto refresh : {Refresh::kEager, Refresh::kLazy}) {
        if (strategy == Strategy::kUniform && refresh == Refresh::kLazy) continue;
        TrainOptions options = quick(2);
        options.sampling = {.fanout = {2}, .strategy = strategy, .refresh = refresh};
        expect_same_weights(*train(wide, options).trained.model,
                            *train(narrow, options).trained.model);
      }
    }
  }
}

// The graph with other features of test nodes and other attributes of their links.
Graph with_other_test_nodes(Graph graph) {
  Random random(77);
  Floats features(graph.nodes.features.values.begin(), graph.nodes.features.values.end());
  Floats attributes(graph.link_attributes.values.begin(), graph.link_attributes.values.end());
  const auto d = static_cast<size_t>(graph.nodes.features.columns);
  const auto k = static_cast<size_t>(graph.link_attributes.columns);
  const auto is_test = [](int64_t u) { return train_or_test(u) == Split::kTest; };
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (size_t j = 0; j < d && is_test(u); ++j) {
      features[static_cast<size_t>(u) * d + j] = static_cast<float>(random.normal());
    }
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      if (!is_test(u) && !is_test(graph.neighbor[i])) continue;
      for (size_t j = 0; j < k; ++j) {
        attributes[static_cast<size_t>(graph.link[i]) * k + j] =
            static_cast<float>(random.normal());
      }
    }
  }
  graph.nodes.features.values = std::move(features);
  graph.link_attributes.values = std::move(attributes);
  return graph;
}

// The graph without the links of test nodes.
Graph without_test_links(Graph graph) {
  std::vector<bool> kept;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    kept.push_back(train_or_test(u) == Split::kTrain);
  }
  const Adjacency within = adjacency_within(graph, kept);
  graph.row_ptr = within.row_ptr;
  graph.neighbor = within.neighbor;
  graph.link = within.link;
  return graph;
}

TEST(Trainer, DoesNotUseTestNodesUnlessTransductive) {
  const Graph graph = split_toy(train_or_test);
  for (const char* architecture : {"lase", "sage", "wl", "concat", "gcn"}) {
    TrainOptions options = quick();
    options.model.model = architecture;
    const TrainResult first = train(graph, options);
    EXPECT_EQ(first.test.nodes, 20);
    EXPECT_TRUE(same_weights(train(with_other_test_nodes(graph), options), first));
    EXPECT_TRUE(same_weights(train(without_test_links(graph), options), first));
    options.transductive = true;
    const TrainResult transductive = train(graph, options);
    EXPECT_FALSE(same_weights(transductive, first));
    EXPECT_FALSE(same_weights(train(with_other_test_nodes(graph), options), transductive));
    EXPECT_FALSE(same_weights(train(without_test_links(graph), options), transductive));
  }
}

TEST(Trainer, LeavesOutTrainingNodesWithoutATrainingNeighbor) {
  // The last node has no link at all, and the first one links to test nodes only.
  const Graph links = split_toy(train_or_test);
  ASSERT_GT(links.degree(0), 0);
  Graph a = split_toy([&](int64_t u) {
    const auto neighbors = links.neighbor.slice(links.row_ptr[0], links.row_ptr[1]);
    return std::ranges::count(neighbors, u) > 0 ? Split::kTest : Split::kTrain;
  });
  Graph b = a;
  std::vector<int32_t> label(a.nodes.labels.label.begin(), a.nodes.labels.label.end());
  label.front() = (label.front() + 1) % 3;
  label.back() = (label.back() + 1) % 3;
  b.nodes.labels.label = label;
  EXPECT_TRUE(same_weights(train(a, quick()), train(b, quick())));
  // A model without layers learns from every training node.
  TrainOptions raw = quick();
  raw.model.model = "raw";
  EXPECT_FALSE(same_weights(train(a, raw), train(b, raw)));
  // The transductive protocol keeps every training node, too.
  TrainOptions transductive = quick();
  transductive.transductive = true;
  EXPECT_FALSE(same_weights(train(a, transductive), train(b, transductive)));
}

TEST(Trainer, LearnsOnlyFromLabeledNodes) {
  Graph graph = split_toy([](int64_t u) { return u % 2 == 0 ? Split::kTrain : Split::kVal; });
  std::vector<int32_t> label(graph.nodes.labels.label.begin(), graph.nodes.labels.label.end());
  for (size_t u = 0; u < label.size(); u += 3) label[u] = -1;
  graph.nodes.labels.label = label;
  const TrainResult result = train(graph, quick());
  EXPECT_EQ(result.val.nodes, 20);
  EXPECT_TRUE(finite_weights(result));
}

// Four of five nodes have class 1.
std::vector<int32_t> unbalanced(int64_t nodes) {
  std::vector<int32_t> label;
  for (int64_t u = 0; u < nodes; ++u) label.push_back(u % 5 == 0 ? 0 : 1);
  return label;
}

TEST(Trainer, TrainsOnGraphsWithoutFeaturesOrAttributes) {
  for (const std::string architecture :
       {"lase", "sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"}) {
    TrainOptions options = quick(30);
    options.model.model = architecture;
    options.features.embed.method = EmbedMethod::kNone;
    options.label_inputs = LabelInputs::kOff;
    std::vector<double> loss;
    options.progress = [&](const EpochReport& report) { loss.push_back(report.loss); };
    // The class frequencies can be learned even from uninformative features.
    const auto learns = [&] { return loss.back() < loss.front() - 0.02; };
    Graph bare =
        toy_graph({.nodes = 40, .links = 100, .features = 0, .attributes = 0, .split = true});
    bare.nodes.labels.label = unbalanced(40);
    const TrainResult result = train(bare, options);
    EXPECT_TRUE(result.trained.degree_features);
    EXPECT_EQ(texts(result.trained.feature_names), (Strings{"constant", "log degree"}));
    EXPECT_TRUE(learns()) << architecture << " without features";
    // No links at all.
    loss.clear();
    Graph isolated = toy_graph({.nodes = 20, .links = 0, .split = true});
    isolated.nodes.labels.label = unbalanced(20);
    train(isolated, options);
    EXPECT_TRUE(learns()) << architecture << " without links";
  }
}

Attributes dense_copy(const Attributes& matrix) {
  Floats values;
  for (int64_t i = 0; i < matrix.rows; ++i) {
    const Floats of_row = row(matrix, i);
    values.insert(values.end(), of_row.begin(), of_row.end());
  }
  Attributes dense;
  dense.rows = matrix.rows;
  dense.columns = matrix.columns;
  dense.values = std::move(values);
  return dense;
}

// Sparse attributes are not standardized, so their weights differ.
TEST(Trainer, LearnsTheSameWeightsFromDictionaryAndDenseAttributes) {
  const Graph dictionary =
      toy_graph({.nodes = 40, .links = 100, .layout = Layout::kDictionary, .split = true});
  Graph dense = dictionary;
  dense.link_attributes = dense_copy(dictionary.link_attributes);
  TrainOptions options = quick(3);
  options.balance = true;
  const TrainResult result = train(dictionary, options);
  const TrainResult expected = train(dense, options);
  const auto& found = result.trained.model->parameters().all();
  const auto& weights = expected.trained.model->parameters().all();
  for (size_t i = 0; i < weights.size(); ++i) {
    expect_close(found[i].second, weights[i].second, 1e-3, weights[i].first);
  }
}

TEST(Trainer, FollowsTheSchedule) {
  const Graph graph = toy_graph({.nodes = 40, .links = 100, .split = true});
  for (const auto schedule : {Schedule::kConstant, Schedule::kCosine}) {
    TrainOptions options = quick(5);
    options.patience = 0;
    options.schedule = schedule;
    std::vector<double> rates;
    options.progress = [&](const EpochReport& report) { rates.push_back(report.learning_rate); };
    train(graph, options);
    ASSERT_EQ(rates.size(), 5);
    for (size_t i = 1; i < rates.size(); ++i) {
      if (schedule == Schedule::kConstant) {
        EXPECT_EQ(rates[i], rates[0]);
      } else {
        EXPECT_LT(rates[i], rates[i - 1]);
      }
    }
  }
}

TEST(Trainer, DecaysWeightsIfFeaturesAreProjected) {
  const Graph graph = toy_graph({.nodes = 60, .links = 180, .split = true});
  for (const int64_t project : {0, 3}) {
    TrainOptions options = quick();
    options.model.project = project;
    const TrainResult chosen = train(graph, options);
    options.adam.weight_decay = 5e-4;
    EXPECT_EQ(same_weights(train(graph, options), chosen), project > 0);
    options.adam.weight_decay = 0;
    EXPECT_EQ(same_weights(train(graph, options), chosen), project == 0);
  }
}

// The targets of a node are functions of its own features.
Graph graph_with_targets(Task task) {
  Graph graph = toy_graph({.nodes = 240, .links = 700, .split = true});
  const Matrix features = to_rows(graph.nodes.features);
  Labels& labels = graph.nodes.labels;
  labels.task = task;
  labels.label = {};
  labels.names = numbered_names("target ", 2);
  Floats target;
  Random random(5);
  for (const auto& x : features) {
    const double values[] = {x[0] + x[1], x[2] - x[3]};
    const bool unknown = random.chance(0.1);
    for (const double value : values) {
      const double given = task == Task::kRegression ? 100 + 20 * value : value > 0 ? 1 : 0;
      target.push_back(unknown ? std::numeric_limits<float>::quiet_NaN()
                               : static_cast<float>(given));
    }
  }
  labels.target = std::move(target);
  return graph;
}

TEST(Trainer, LearnsMultipleLabelsAndRegression) {
  for (const char* architecture : {"sage", "raw"}) {
    for (const Task task : {Task::kMultiLabel, Task::kRegression}) {
      TrainOptions options = quick(60);
      options.model.model = architecture;
      options.model.widths = {16};
      options.model.dropout = 0;
      options.model.normalize = false;
      options.batch = 0;
      options.learning_rate = 0.05;
      double first = 0;
      double last = 0;
      options.progress = [&](const EpochReport& report) {
        if (report.epoch == 1) first = report.loss;
        last = report.loss;
      };
      const TrainResult result = train(graph_with_targets(task), options);
      EXPECT_GT(make_objective(result.trained)->headline(result.test).value, 0.85);
      EXPECT_LT(last, first / 2);
      EXPECT_EQ(result.trained.target_mean.defined(), task == Task::kRegression);
    }
  }
}

TEST(Trainer, KeepsTheBestEpochAndStopsEarly) {
  const Graph graph = toy_graph({.nodes = 80, .links = 240, .split = true});
  TrainOptions options = quick(200);
  options.patience = 5;
  std::vector<double> scores;
  options.progress = [&](const EpochReport& report) {
    EXPECT_TRUE(report.validated);
    scores.push_back(report.val.micro_f1);
  };
  const TrainResult result = train(graph, options);
  EXPECT_LT(result.epochs, 200);
  EXPECT_EQ(result.epochs, result.best_epoch + 5);
  EXPECT_EQ(scores.size(), static_cast<size_t>(result.epochs));
  const double best = *std::max_element(scores.begin(), scores.end());
  EXPECT_EQ(result.val.micro_f1, best);
  EXPECT_EQ(scores[static_cast<size_t>(result.best_epoch - 1)], best);
  EXPECT_EQ(result.trained.training.at("curve").size(), scores.size());
}

TEST(Trainer, ReportsTheScoresOfTheReturnedWeights) {
  const Graph graph = toy_graph({.nodes = 80, .links = 240, .split = true});
  const TrainResult result = train(graph, quick(5));
  const Inputs inputs(graph, result.trained.scaling);
  const Tensor logits = infer(*result.trained.model, inputs, graph).logits;
  std::vector<int64_t> test;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (graph.nodes.split[u] == static_cast<uint8_t>(Split::kTest)) test.push_back(u);
  }
  EXPECT_EQ(score(logits, graph.nodes.labels, test).micro_f1, result.test.micro_f1);
}

TEST(Trainer, StopsIfTheLossDivergesAndKeepsTheLastGoodWeights) {
  for (const bool validated : {true, false}) {
    for (const int64_t batch : {0, 8}) {
      for (const int64_t epochs : {1, 20}) {
        const Graph graph = validated ? toy_graph({.nodes = 60, .links = 180, .split = true})
                                      : split_toy(train_or_test);
        TrainOptions options = quick(epochs);
        // Terms grow by a factor of about the squared learning rate per layer.
        options.model.widths = std::vector<int64_t>(8, 4);
        options.model.amplifier = AmplifierChoice::kLinear;
        options.model.aggregate = ops::Aggregate::kSum;
        options.model.normalize = false;
        options.learning_rate = 1e3;
        options.batch = batch;
        const TrainResult result = train(graph, options);
        const std::string what =
            join("validated ", validated, ", batch ", batch, ", epochs ", epochs);
        EXPECT_NE(result.diverged.find("epoch "), std::string::npos)
            << what << ": " << result.diverged;
        EXPECT_TRUE(finite_weights(result)) << what;
        const Inputs inputs(graph, result.trained.scaling);
        const Tensor logits = infer(*result.trained.model, inputs, graph).logits;
        EXPECT_TRUE(logits.isfinite().all().item<bool>()) << what;
      }
    }
  }
}

TEST(Trainer, RejectsGraphsAndOptionsThatCannotBeTrained) {
  const auto rejects = [](const Graph& graph, std::initializer_list<std::string> parts,
                          const TrainOptions& options = quick()) {
    expect_error([&] { train(graph, options); }, parts);
  };
  const Graph good = toy_graph({.nodes = 30, .links = 60, .split = true});
  Graph graph = good;
  graph.nodes.labels = {};
  rejects(graph, {"no labels"});
  graph = good;
  graph.nodes.split = std::vector<uint8_t>(30, static_cast<uint8_t>(Split::kTest));
  rejects(graph, {"no training node"});
  graph = good;
  graph.nodes.labels.label = std::vector<int32_t>(30, -1);
  rejects(graph, {"no training node with a label"});
  rejects(toy_graph({.labels = 1}), {"1 class", "at least two"});
  graph = good;
  graph.nodes.labels.label = std::vector<int32_t>(30, 2);
  rejects(graph, {"all training nodes", "'label 2'"});
  TrainOptions options = quick();
  options.sampling.fanout = {3, 3, 3};
  rejects(good, {"fanout", "3 numbers", "2 layers"}, options);
  options = quick(0);
  rejects(good, {"epochs 0"}, options);
  options = quick();
  options.learning_rate = 0;
  rejects(good, {"learning_rate 0"}, options);
  options = quick();
  options.batch = -1;
  rejects(good, {"batch_size -1"}, options);
  options = quick();
  options.eval_every = -1;
  rejects(good, {"eval_every -1"}, options);
  options = quick();
  options.select = "f1=\xA1";
  rejects(good, {"select 'f1=\\xa1'", "UTF-8"}, options);
  options.select = "f1=C#";
  rejects(good, {"select 'f1=C#'", "rename the class"}, options);
  options.select = "f1=C\x1f";
  rejects(good, {"select 'f1=C\\x1f'", "rename the class"}, options);
}

// A bipartite graph with labels on one side: people (labeled, split) and shops (in no split).
TEST(Trainer, UsesLinksOfNodesThatBelongToNoSplit) {
  Graph graph = toy_graph({.nodes = 40, .links = 120, .split = true});
  std::vector<uint8_t> split(graph.nodes.split.begin(), graph.nodes.split.end());
  for (size_t u = 0; u < split.size(); u += 2) split[u] = static_cast<uint8_t>(Split::kNone);
  graph.nodes.split = split;
  TrainOptions options;
  options.epochs = 1;
  options.model.widths = {4};
  const auto links_between = [&](const std::vector<Split>& visible) {
    int64_t links = 0;
    for (int64_t u = 0; u < graph.node_count(); ++u) {
      for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
        const auto sees = [&](int64_t v) {
          const auto own = static_cast<Split>(split[static_cast<size_t>(v)]);
          return std::find(visible.begin(), visible.end(), own) != visible.end();
        };
        links += u < graph.neighbor[i] && sees(u) && sees(graph.neighbor[i]) ? 1 : 0;
      }
    }
    return links;
  };
  const int64_t context = links_between({Split::kTrain, Split::kNone});
  const int64_t strict = links_between({Split::kTrain});
  ASSERT_LT(strict, context);
  ASSERT_LT(context, graph.links);
  EXPECT_EQ(train(graph, options).training_links, context);
  options.strict_inductive = true;
  EXPECT_EQ(train(graph, options).training_links, strict);
  options.strict_inductive = false;
  options.transductive = true;
  EXPECT_EQ(train(graph, options).training_links, graph.links);
  EXPECT_EQ(train(graph, options).links, graph.links);
  options.strict_inductive = true;
  expect_error([&] { train(graph, options); }, {"transductive", "strict_inductive"});
}

// A graph in which only a few nodes far from most others are validated.
TEST(ValidationOutputs, AreThoseOfTheWholeGraph) {
  const Graph graph = toy_graph({.nodes = 400, .links = 500});
  for (const int64_t count : {int64_t{3}, graph.node_count()}) {
    std::vector<int64_t> nodes;
    for (int64_t i = 0; i < count; ++i) nodes.push_back(graph.node_count() - 1 - i);
    for (const auto* name : {"lase", "sage", "gcn", "concat"}) {
      ModelOptions options;
      options.model = name;
      options.widths = {4, 4};
      const Model model(options, {.node_features = 4, .link_attributes = 3, .outputs = 3}, 1);
      const Inputs inputs(graph, no_scaling(graph));
      const Validation validation(model, inputs, graph, nodes);
      const Tensor all = infer(model, inputs, graph).logits;
      expect_close(validation.outputs(), all.index_select(0, index_tensor(nodes)), 1e-5, name);
      EXPECT_EQ(validation.links() < model.block_count() * graph.arc_count(), count == 3);
    }
  }
}

TEST(ValidationOutputs, AreComputedLessOftenIfTheyAreExpensive) {
  const Graph graph = toy_graph({.nodes = 100, .links = 400});
  const Model model({}, {.node_features = 4, .link_attributes = 3, .outputs = 3}, 1);
  const Inputs inputs(graph, no_scaling(graph));
  const std::vector<int64_t> nodes = all_nodes(graph);
  const Validation validation(model, inputs, graph, nodes);
  const int64_t links = validation.links();
  EXPECT_EQ(validation.interval(10 * links, 50, 200), 1);
  EXPECT_EQ(validation.interval(links / 3, 50, 200), 4);  // 1 / (3 / 3 · 0.25)
  EXPECT_EQ(validation.interval(1, 50, 200), 12);         // a quarter of the patience
  EXPECT_EQ(validation.interval(1, 0, 200), 20);
  EXPECT_EQ(validation.interval(1, 50, 5), 1);
}

enum class Links : uint8_t { kWithinGroups, kRandom };

// Nodes of two groups with the same degrees, without features and link attributes.
Graph two_groups(Links links = Links::kWithinGroups) {
  Graph graph = toy_graph({.nodes = 200, .links = 0, .features = 0, .attributes = 0});
  RawGraph raw;
  Random random(3);
  std::vector<int32_t> label(200);
  StringTableBuilder names;
  std::vector<uint8_t> split;
  for (int32_t u = 0; u < 200; ++u) {
    names.add(std::to_string(u));
    label[static_cast<size_t>(u)] = u % 2;
    split.push_back(static_cast<uint8_t>(u % 10 < 6   ? Split::kTrain
                                         : u % 10 < 8 ? Split::kVal
                                                      : Split::kTest));
    for (int i = 0; i < 6; ++i) {
      raw.source.push_back(u);
      const auto group = links == Links::kRandom ? random.below(2) : static_cast<uint64_t>(u % 2);
      raw.target.push_back(static_cast<int32_t>(2 * random.below(100) + group));
    }
  }
  raw.nodes.names = names.finish();
  raw.nodes.labels = single_labels(label, 2);
  raw.nodes.split = std::move(split);
  raw.nodes.features.rows = 200;
  return build_graph(std::move(raw)).graph;
}

TEST(TrainerFeatures, AreLearnedIfThatIsBetterOnValidationNodes) {
  const Graph graph = two_groups();
  TrainOptions options = quick(20);
  options.model.widths = {16, 16};
  options.label_inputs = LabelInputs::kOff;
  options.features.embed.width = 8;
  options.features.embed.epochs = 50;
  const auto result = train(graph, options);
  EXPECT_TRUE(result.trained.learned.present());
  EXPECT_NE(result.features.find("learned from the links"), std::string::npos) << result.features;
  EXPECT_GT(result.test.micro_f1, 0.8);
  options.features.embed.method = EmbedMethod::kNone;
  const auto degrees = train(graph, options);
  EXPECT_FALSE(degrees.trained.learned.present());
  EXPECT_LT(degrees.test.micro_f1, 0.8);
  EXPECT_EQ(degrees.features, "");
}

TEST(TrainerFeatures, AreLearnedBesideSparseOnesButNotBesideDenseOnes) {
  Graph graph = two_groups();
  TrainOptions options = quick(20);
  options.model.widths = {16, 16};
  options.features.embed.width = 8;
  options.features.embed.epochs = 50;
  Random random(4);
  graph.nodes.features = random_attributes(random, Layout::kSparse, graph.node_count(), 3);
  graph.nodes.feature_names = make_string_table(std::array{"a", "b", "c"});
  const auto sparse = train(graph, options);
  EXPECT_EQ(sparse.trained.learned.embedding.width(), 8);
  EXPECT_EQ(sparse.trained.model->shape().node_features, 11);
  EXPECT_NE(sparse.features.find("those of the graph, and others learned"), std::string::npos)
      << sparse.features;
  graph.nodes.features = random_attributes(random, Layout::kDense, graph.node_count(), 3);
  const auto dense = train(graph, options);
  EXPECT_FALSE(dense.trained.learned.present());
  EXPECT_EQ(dense.features, "");
}

// With a sparse feature that is the label, features learned from links cannot be better.
Graph with_label_as_feature(Graph graph) {
  Floats is_label;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    is_label.push_back(u % 2 == 0 ? 1 : 0);
    is_label.push_back(u % 2 == 1 ? 1 : 0);
  }
  graph.nodes.features = to_sparse(Attributes::dense(is_label, graph.node_count(), 2));
  graph.nodes.feature_names = make_string_table(std::array{"even", "odd"});
  return graph;
}

TEST(TrainerFeatures, AreLearnedBesideSparseOnesUnlessThatIsWorse) {
  TrainOptions options = quick(20);
  options.model.widths = {16, 16};
  options.features.embed.width = 8;
  options.features.embed.epochs = 50;
  const auto equal = train(with_label_as_feature(two_groups()), options);
  EXPECT_TRUE(equal.trained.learned.present()) << equal.features;
  // Many columns of noise, and a short run of one epoch
  Graph unrelated = with_label_as_feature(two_groups(Links::kRandom));
  options.epochs = 10;
  options.features.embed.width = 2048;
  const auto worse = train(unrelated, options);
  EXPECT_FALSE(worse.trained.learned.present()) << worse.features;
  EXPECT_TRUE(worse.features.starts_with("those of the graph: ")) << worse.features;
}

TEST(TrainerFeatures, AreLearnedBesideSparseOnesWithoutValidationNodes) {
  Graph graph = with_label_as_feature(two_groups());
  std::vector<uint8_t> split(graph.nodes.split.begin(), graph.nodes.split.end());
  std::replace(split.begin(), split.end(), static_cast<uint8_t>(Split::kVal),
               static_cast<uint8_t>(Split::kTest));
  graph.nodes.split = std::move(split);
  TrainOptions options = quick(1);
  options.features.embed.width = 8;
  const auto result = train(graph, options);
  EXPECT_TRUE(result.trained.learned.present());
  EXPECT_EQ(result.features, "those of the graph, and others learned from the links (LINE)");
}

// Changing links of validation and test nodes must not change what training nodes have learned.
TEST(TrainerFeatures, DoNotSeeLinksOfValidationAndTestNodes) {
  const Graph graph = two_groups();
  TrainOptions options = quick(1);
  options.features.embed = {.method = EmbedMethod::kLine, .width = 4, .epochs = 5};
  const auto rows = [&](const Graph& of, bool transductive) {
    options.transductive = transductive;
    const auto trained = train(of, options).trained;
    Floats all;
    const auto& table = trained.learned.embedding.tables[0];
    for (int64_t u = 0; u < of.node_count(); ++u) {
      if (of.nodes.split[u] != static_cast<uint8_t>(Split::kTrain)) continue;
      all.insert(all.end(), table.center.begin() + u * 4, table.center.begin() + u * 4 + 4);
    }
    return all;
  };
  // The same graph without the links of test nodes.
  Graph cut = graph;
  std::vector<bool> kept(static_cast<size_t>(graph.node_count()));
  for (size_t u = 0; u < kept.size(); ++u) {
    kept[u] = graph.nodes.split[static_cast<int64_t>(u)] != static_cast<uint8_t>(Split::kTest);
  }
  cut.adjacency() = adjacency_within(graph, kept);
  EXPECT_EQ(rows(graph, false), rows(cut, false));
  EXPECT_NE(rows(graph, true), rows(cut, true));
}

TEST(Trainer, SelectsByTheMetric) {
  const Graph graph = toy_graph({.nodes = 100, .links = 400, .split = true});
  for (const std::string metric :
       {"macro_f1", "log_loss", "calibration_error", "roc_auc", "f1=label 1", "loss"}) {
    TrainOptions options = quick(6);
    options.select = metric;
    options.eval_every = 1;
    std::vector<double> merit;
    const auto objective = make_objective(graph.nodes.labels);
    objective->set_decision(objective->select(metric, objective->seeds(graph, Split::kTrain)));
    options.progress = [&](const EpochReport& report) {
      merit.push_back(objective->headline(report.val).merit());
    };
    const auto result = train(graph, options);
    EXPECT_EQ(result.trained.decision.metric, objective->decision().metric);
    if (metric == "loss") continue;
    const auto best = std::max_element(merit.begin(), merit.end());
    EXPECT_EQ(merit[static_cast<size_t>(result.best_epoch - 1)], *best) << metric;
  }
}

}  // namespace
}  // namespace lase
