#include "lase/inference/predict_links.h"

#include <algorithm>
#include <set>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/inference/link_task.h"
#include "lase/inference/objective.h"
#include "lase/train/trainer.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using Role = RandomLinks::Role;

// A task: a graph, and a decoder for it.
struct LinkCase {
  Role role;
  DecoderChoice decoder;
  EmbedMethod features = EmbedMethod::kNone;
  bool directed = false;
  Predicts predicts = Predicts::kAuto;

  Graph graph() const {
    return random_links({.nodes = 60,
                         .links = 240,
                         .categories = 3,
                         .directed = directed,
                         .repeated = true,
                         .role = role});
  }
  TrainResult train(const Graph& given) const {
    TrainOptions options;
    options.predicts = predicts;
    options.model.widths = {8, 8};
    options.model.decoder = decoder;
    options.features.embed.method = features;
    options.features.embed.width = 8;
    options.epochs = 2;
    options.batch = 64;
    options.links.split = "60/20/20";
    options.links.prediction.negatives = 4;
    options.seed = 3;
    return lase::train(given, options);
  }
};

const std::vector<LinkCase> kLinkCases = {
    {Role::kAttributes, DecoderChoice::kDot},
    {Role::kAttributes, DecoderChoice::kMlp, EmbedMethod::kLine},
    {Role::kAttributes, DecoderChoice::kBilinear, EmbedMethod::kNone, true},
    {Role::kRelations, DecoderChoice::kBilinear, EmbedMethod::kLine},
    {Role::kAttributes, DecoderChoice::kAuto, EmbedMethod::kNone, false, Predicts::kEmbedding},
    {Role::kLabels, DecoderChoice::kMlp, EmbedMethod::kLine},
    {Role::kLabelsAndAttributes, DecoderChoice::kMlp, EmbedMethod::kNone, true}};

void expect_same_metrics(const Objective& objective, const Scores& found, const Scores& expected) {
  EXPECT_EQ(found.nodes, expected.nodes);
  const auto a = objective.metrics(found);
  const auto b = objective.metrics(expected);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i].value, b[i].value, 1e-6) << a[i].key;
}

class LinkPredictorTest : public FolderTest {};

TEST_F(LinkPredictorTest, RepeatsTheScoresOfTraining) {
  for (const LinkCase& task : kLinkCases) {
    const Graph graph = task.graph();
    const TrainResult result = task.train(graph);
    save_model(result.trained, path("model"));
    for (const TrainedModel& trained : {result.trained, load_model(path("model"))}) {
      const LinkPredictor predictor(trained, graph, "g");
      for (const Split split : {Split::kVal, Split::kTest}) {
        const Scores& expected = split == Split::kVal ? result.val : result.test;
        const auto links = predictor.links_of(split);
        EXPECT_GT(links.size(), 20);
        const Objective& objective = predictor.objective();
        expect_same_metrics(objective, objective.score(predictor.evaluate(links, split), links),
                            expected);
      }
    }
  }
}

// The random split of training is that of the training graph alone.
TEST_F(LinkPredictorTest, DoesNotSplitOtherGraphs) {
  for (const LinkCase& task : {kLinkCases[0], kLinkCases[5]}) {
    const TrainResult result = task.train(task.graph());
    Graph other = task.graph();
    other.nodes.names = numbered_names("other", other.node_count());
    const LinkPredictor predictor(result.trained, other, "other.graph");
    expect_error([&] { predictor.score(Split::kTest); },
                 {"other.graph: has no target links", "no split of links", "use split none"});
    const Scores scores = predictor.score(Split::kNone);
    EXPECT_GT(scores.nodes, 100);
    EXPECT_EQ(predictor.predict(all_targets(other)).size(0), other.targets.size());
    // The split of an import is that of the graph.
    other.targets.split = std::vector<uint8_t>(static_cast<size_t>(other.targets.size()),
                                               static_cast<uint8_t>(Split::kTest));
    EXPECT_GT(LinkPredictor(result.trained, other, "g").score(Split::kTest).nodes, 100);
  }
}

TEST_F(LinkPredictorTest, RejectsOtherAttributesOfTargets) {
  const LinkCase task{Role::kRelations, DecoderChoice::kBilinear};
  Graph graph = task.graph();
  const TrainResult result = task.train(graph);
  graph.targets.attribute_names = numbered_names("d", 3);
  expect_error([&] { const LinkPredictor predictor(result.trained, graph, "g"); },
               {"g: column 1 of the attributes of target links is 'd0'", "trained on 'c0'"});
}

TEST_F(LinkPredictorTest, RejectsAGraphWithoutLabelsToEvaluateAgainst) {
  const LinkCase task{Role::kLabels, DecoderChoice::kMlp};
  Graph graph = task.graph();
  const TrainResult result = task.train(graph);
  graph.targets.labels = {};
  const LinkPredictor predictor(result.trained, graph, "g");
  expect_error([&] { predictor.score(Split::kTest); }, {"g: its links have no labels"});
  EXPECT_EQ(predictor.predict(all_targets(graph)).size(0), graph.targets.size());
}

TEST_F(LinkPredictorTest, PredictsEveryTarget) {
  for (const LinkCase& task : kLinkCases) {
    const Graph graph = task.graph();
    const TrainResult result = task.train(graph);
    const LinkPredictor predictor(result.trained, graph, "g");
    const bool labels = result.trained.predicts == Predicts::kLinks;
    const auto links = all_targets(graph);
    const Tensor all = predictor.predict(links);
    EXPECT_EQ(all.sizes(), (std::vector<int64_t>{graph.targets.size(), labels ? 3 : 1}));
    EXPECT_TRUE(all.isfinite().all().item<bool>());
    // As they are evaluated.
    const auto test = predictor.links_of(Split::kTest);
    Tensor expected = predictor.evaluate(test, Split::kTest);
    if (!labels) expected = expected.narrow(1, 2, 1);
    expect_close(all.index_select(0, index_tensor(test)), expected, 1e-6, "test targets");
    write_link_predictions(predictor, {}, path("links.csv"));
    const std::string text = read_file(path("links.csv"));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + graph.targets.size());
    EXPECT_EQ(text.substr(0, text.find('\n')),
              labels ? "source,target,label,probability" : "source,target,score");
    // By default, a layer concatenates two states of width 8.
    const Tensor embedding = predictor.embedding();
    EXPECT_EQ(embedding.sizes(), (std::vector<int64_t>{graph.node_count(), 16}));
    EXPECT_TRUE(embedding.isfinite().all().item<bool>());
  }
}

// A training target is scored without its own link: other attributes of that link do not matter.
TEST_F(LinkPredictorTest, HidesTrainingTargetsWhileTheyAreScored) {
  const LinkCase task{Role::kAttributes, DecoderChoice::kDot};
  Graph graph = task.graph();
  prepare_links(graph, Predicts::kLinkPrediction, {}, 1);
  const TrainResult result = task.train(graph);
  const LinkPredictor predictor(result.trained, graph, "g");
  const std::vector<int64_t> target = {predictor.links_of(Split::kTrain).front()};
  const auto score_with = [&](const std::function<bool(int64_t u, int64_t v)>& changed) {
    Graph other = graph;
    Floats values(graph.link_attributes.values.begin(), graph.link_attributes.values.end());
    for (int64_t u = 0; u < graph.node_count(); ++u) {
      for (int64_t arc = graph.row_ptr[u]; arc < graph.row_ptr[u + 1]; ++arc) {
        if (changed(u, graph.neighbor[arc])) values[static_cast<size_t>(graph.link[arc] * 3)] = 9;
      }
    }
    other.link_attributes.values = std::move(values);
    return LinkPredictor(result.trained, other, "g").predict(target).item<float>();
  };
  const int64_t from = graph.targets.source[target[0]];
  const int64_t to = graph.targets.target[target[0]];
  const float score = predictor.predict(target).item<float>();
  EXPECT_EQ(
      score_with([&](int64_t u, int64_t v) { return std::minmax(u, v) == std::minmax(from, to); }),
      score);
  EXPECT_NE(score_with([&](int64_t u, int64_t v) { return u == from && v != to; }), score);
}

// Also in a graph of fewer links than fit into a batch.
TEST_F(LinkPredictorTest, ScoresTrainingTargetsByTheOtherLinks) {
  const LinkCase task{Role::kAttributes, DecoderChoice::kDot};
  const Graph graph = task.graph();
  const LinkPredictor predictor(task.train(graph).trained, graph, "g");
  const Tensor scores = predictor.predict(predictor.links_of(Split::kTrain));
  EXPECT_GT(scores.std().item<float>(), 0.001);
}

TEST_F(LinkPredictorTest, FindsTheBestPartnersThatAreNotLinked) {
  for (const LinkCase& task : kLinkCases) {
    const Graph given = task.graph();
    const TrainResult result = task.train(given);
    const TrainedModel& trained = result.trained;
    const LinkPredictor predictor(trained, given, "g");
    constexpr int64_t kCount = 5;
    const std::vector<int64_t> nodes = {0, 7, 31};
    if (trained.predicts != Predicts::kLinkPrediction) {
      expect_error([&] { predictor.partners(nodes, kCount); }, {"does not predict links"});
      continue;
    }
    const Graph& graph = predictor.graph();
    const bool relations = graph.targets.relations;
    const bool symmetric = is_symmetric(graph, trained.predicts);
    const auto found = predictor.partners(nodes, kCount, relations ? "c1" : "");
    ASSERT_EQ(found.size(), nodes.size() * kCount);
    const KnownLinks known(graph, symmetric, KnownLinks::Splits::kAll);
    int64_t example = 0;
    while (relations && known.relation(example) != 1) ++example;
    const c10::NoGradGuard no_grad;
    const Inputs inputs(prepare_graph(trained, graph, "g"), trained.scaling);
    const Tensor h = predictor.embedding();
    const auto score = [&](int64_t u, int64_t v) {
      Pairs pair;
      pair.source = index_tensor({u});
      pair.target = index_tensor({v});
      if (relations) pair.link = index_tensor({example});
      if (trained.model->decoder()->reads_statistics()) {
        pair.statistics = pair_statistics({graph}, std::vector<int32_t>{static_cast<int32_t>(u)},
                                          std::vector<int32_t>{static_cast<int32_t>(v)}, symmetric);
      }
      return trained.model->outputs(inputs, h, &pair, {}).item<float>();
    };
    for (size_t i = 0; i < nodes.size(); ++i) {
      const int64_t u = nodes[i];
      std::vector<float> expected;
      for (int64_t v = 0; v < graph.node_count(); ++v) {
        if (v != u && !known.linked(u, v, relations ? 1 : 0)) expected.push_back(score(u, v));
      }
      std::sort(expected.begin(), expected.end(), std::greater());
      std::set<int64_t> distinct;
      for (size_t j = 0; j < kCount; ++j) {
        const auto& partner = found[i * kCount + j];
        EXPECT_EQ(partner.source, u);
        EXPECT_NE(partner.target, u);
        EXPECT_FALSE(known.linked(u, partner.target, relations ? 1 : 0));
        EXPECT_NEAR(partner.score, score(u, partner.target), 1e-4);
        EXPECT_NEAR(partner.score, expected[j], 1e-4);
        distinct.insert(partner.target);
      }
      EXPECT_EQ(distinct.size(), kCount);
    }
    expect_error([&] { predictor.partners(nodes, kCount, relations ? "no such" : "c1"); },
                 {"relation"});
  }
}

TEST_F(LinkPredictorTest, RejectsGraphsAndModelsThatDoNotFit) {
  const LinkCase task{Role::kLabelsAndAttributes, DecoderChoice::kMlp};
  const TrainResult result = task.train(task.graph());
  const LinkCase other{Role::kLabels, DecoderChoice::kMlp};
  expect_error([&] { LinkPredictor(result.trained, other.graph(), "g.graph"); },
               {"g.graph", "attributes", "like"});
  TrainOptions nodes;
  nodes.model.widths = {4};
  nodes.epochs = 1;
  const Graph toy = toy_graph({.split = true});
  expect_error([&] { LinkPredictor(train(toy, nodes).trained, toy, "g"); }, {"labels of nodes"});
}

}  // namespace
}  // namespace lase
