#include "lase/inference/link_task.h"

#include <set>

#include "lase/train/trainer.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using Role = RandomLinks::Role;

Graph with_node_labels(Graph graph) {
  std::vector<int32_t> label(static_cast<size_t>(graph.node_count()));
  for (size_t u = 0; u < label.size(); ++u) label[u] = static_cast<int32_t>(u % 2);
  graph.nodes.labels = single_labels(std::move(label), 2);
  return graph;
}

TEST(LinkTask, FollowsFromTheLabelsOfTheGraph) {
  const Graph targets = random_links({});
  const Graph links = random_links({.targets = false});
  const Graph labels = random_links({.categories = 2, .role = Role::kLabels});
  EXPECT_EQ(what_to_predict(labels, Predicts::kAuto), Predicts::kLinks);
  EXPECT_EQ(what_to_predict(targets, Predicts::kAuto), Predicts::kLinkPrediction);
  EXPECT_EQ(what_to_predict(with_node_labels(links), Predicts::kAuto), Predicts::kNodes);
  EXPECT_EQ(what_to_predict(with_node_labels(labels), Predicts::kLinks), Predicts::kLinks);
  for (const auto predicts : {Predicts::kLinkPrediction, Predicts::kEmbedding}) {
    EXPECT_EQ(what_to_predict(with_node_labels(labels), predicts), predicts);
  }
  const auto rejects = [](const Graph& graph, Predicts predicts,
                          std::initializer_list<std::string> parts) {
    expect_error([&] { what_to_predict(graph, predicts); }, parts);
  };
  rejects(with_node_labels(labels), Predicts::kAuto, {"task auto", "nodes", "link-prediction"});
  rejects(links, Predicts::kAuto, {"no labels", "label", "link_label", "link-prediction"});
  rejects(links, Predicts::kNodes, {"task nodes", "no labels of nodes", "label"});
  rejects(targets, Predicts::kLinks, {"task links", "no labels of links", "link_label"});
  rejects(toy_graph({.links = 0}), Predicts::kLinkPrediction, {"task link-prediction", "no links"});
  rejects(toy_graph({.links = 0}), Predicts::kEmbedding, {"task embedding", "no links"});
}

TEST(LinkTask, RejectsOptionsThatDoNotFit) {
  TrainOptions options;
  options.model.widths = {4};
  options.epochs = 1;
  options.features.embed.method = EmbedMethod::kNone;
  const Graph labels = random_links({.categories = 2, .role = Role::kLabels});
  const Graph links = random_links({});
  const auto rejects = [](const Graph& graph, const TrainOptions& wanted,
                          std::initializer_list<std::string> parts) {
    expect_error([&] { train(graph, wanted); }, parts);
  };
  for (const auto strategy : {Strategy::kGate, Strategy::kMinVar}) {
    TrainOptions sampled = options;
    sampled.sampling = {.fanout = {1}, .strategy = strategy};
    for (const Graph& graph : {labels, links}) {
      rejects(graph, sampled,
              {"strategy " + std::string(name_of(strategy)), "links are predicted", "uniform"});
    }
  }
  for (const auto decoder : {DecoderChoice::kDot, DecoderChoice::kBilinear}) {
    TrainOptions scores = options;
    scores.model.decoder = decoder;
    rejects(labels, scores, {"decoder " + std::string(name_of(decoder)), "use mlp"});
  }
  TrainOptions filtered = options;
  filtered.model.decoder = DecoderChoice::kMlp;
  filtered.links.prediction.ranking = Ranking::kFiltered;
  rejects(links, filtered, {"ranking filtered", "decoder mlp", "sampled"});
  TrainOptions split = options;
  split.links.split = "80/30/10";
  rejects(links, split, {"link_split", "80/30/10"});
  split.links.split = "0/50/50";
  rejects(links, split, {"no training links"});
  TrainOptions negatives = options;
  negatives.links.prediction.negatives = 0;
  rejects(links, negatives, {"negatives"});
}

// ---- Targets and splits

TEST(LinkTask, AllLinksAreTargetsIfTheGraphHasNone) {
  for (const bool directed : {false, true}) {
    const Graph given =
        random_links({.directed = directed, .repeated = directed, .targets = false});
    Graph graph = given;
    prepare_links(graph, Predicts::kLinkPrediction, {}, 1);
    EXPECT_EQ(graph.targets.size(), given.links);
    EXPECT_EQ(graph.targets.attributes.columns, 0);
    std::set<std::pair<int32_t, int32_t>> pairs;
    for (int64_t i = 0; i < graph.targets.size(); ++i) {
      pairs.emplace(graph.targets.source[i], graph.targets.target[i]);
      EXPECT_TRUE(directed || graph.targets.source[i] < graph.targets.target[i]);
    }
    EXPECT_EQ(std::ssize(pairs), given.links);
  }
}

TEST(LinkTask, OneOfSeveralRowsBetweenTwoNodesIsATarget) {
  for (const bool directed : {false, true}) {
    const RandomLinks options{.links = 150, .directed = directed, .repeated = true};
    Graph graph = random_links(options);
    EXPECT_EQ(graph.targets.size(), 250);
    const PreparedTask task = prepare_task(graph, {.predicts = Predicts::kLinkPrediction});
    int64_t targets = 0;
    for (const Split split : {Split::kTrain, Split::kVal, Split::kTest}) {
      const auto seeds = task.seeds(split);
      EXPECT_TRUE(std::is_sorted(seeds.begin(), seeds.end()));
      targets += std::ssize(seeds);
    }
    EXPECT_EQ(targets, directed ? 200 : 150);
    EXPECT_TRUE(targets_in(task.graph, Split::kNone).empty());
  }
  // Rows with labels are targets of their own.
  Graph labels = random_links({.categories = 2, .repeated = true, .role = Role::kLabels});
  prepare_links(labels, Predicts::kLinks, {}, 1);
  EXPECT_TRUE(targets_in(labels, Split::kNone).empty());
}

TEST(LinkTask, RandomSplitsKeepBothDirectionsTogether) {
  for (const bool directed : {false, true}) {
    Graph graph = random_links(
        {.categories = 2, .directed = directed, .repeated = true, .role = Role::kLabels});
    prepare_links(graph, Predicts::kLinks, {.split = "50/25/25", .prediction = {}}, 1);
    std::map<std::pair<int32_t, int32_t>, std::set<uint8_t>> splits;
    for (int64_t i = 0; i < graph.targets.size(); ++i) {
      const auto pair = std::minmax({graph.targets.source[i], graph.targets.target[i]});
      splits[pair].insert(graph.targets.split[i]);
    }
    for (int64_t u = 0; u < graph.node_count(); ++u) {
      for (int64_t arc = graph.row_ptr[u]; arc < graph.row_ptr[u + 1]; ++arc) {
        const auto pair = std::minmax({static_cast<int32_t>(u), graph.neighbor[arc]});
        splits[pair].insert(graph.link_split[graph.link[arc]]);
      }
    }
    EXPECT_EQ(splits.size(), 150);
    for (const auto& [pair, of_pair] : splits) EXPECT_EQ(of_pair.size(), 1);
  }
}

TEST(LinkTask, TargetsSeeLinksOfEarlierSplits) {
  RandomLinks options{.links = 150, .repeated = true};
  options.splits = {Split::kTrain, Split::kVal, Split::kTrain, Split::kTest};
  Graph graph = random_links(options);
  prepare_links(graph, Predicts::kLinkPrediction, {}, 1);
  const auto splits_seen = [&](Split split) {
    const Adjacency visible = visible_links(graph, split);
    std::map<Split, int64_t> arcs;
    for (int64_t i = 0; i < visible.arc_count(); ++i) {
      ++arcs[static_cast<Split>(graph.link_split[visible.link[i]])];
    }
    return arcs;
  };
  const auto all = splits_seen(Split::kNone);
  ASSERT_EQ(all.size(), 3);
  using Seen = std::map<Split, int64_t>;
  const Seen train = {{Split::kTrain, all.at(Split::kTrain)}};
  EXPECT_EQ(splits_seen(Split::kTrain), train);
  EXPECT_EQ(splits_seen(Split::kVal), train);
  EXPECT_EQ(splits_seen(Split::kTest),
            (Seen{{Split::kTrain, all.at(Split::kTrain)}, {Split::kVal, all.at(Split::kVal)}}));
}

TEST(LinkTask, OnlyRelationsAreKnownOfLinksToPredict) {
  for (const Role role : {Role::kAttributes, Role::kRelations}) {
    for (const auto predicts : {Predicts::kLinkPrediction, Predicts::kEmbedding}) {
      Graph graph = random_links({.categories = 3, .role = role});
      prepare_links(graph, predicts, {}, 1);
      const bool kept = role == Role::kRelations && predicts == Predicts::kLinkPrediction;
      EXPECT_EQ(graph.targets.attributes.columns, kept ? 3 : 0);
      EXPECT_EQ(graph.targets.attributes.rows, graph.targets.size());
      EXPECT_EQ(graph.targets.relations, kept);
    }
  }
}

}  // namespace
}  // namespace lase
