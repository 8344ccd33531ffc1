#include "experiments/compare.h"

#include "lase/graph/random_graph.h"

#include "torch_support.h"

namespace lase {
namespace {

// Few epochs of a small model.
CompareOptions small_comparison() {
  CompareOptions options;
  options.models = {"sage", "raw"};
  options.seeds = 2;
  options.train.epochs = 2;
  options.train.model.widths = {4};
  options.train.features.embed.method = EmbedMethod::kNone;
  return options;
}

Graph labeled_graph() { return toy_graph({.nodes = 120, .links = 400, .split = true}); }

TEST(CandidateFrom, AcceptsModelsAndVariants) {
  const TrainOptions base;
  EXPECT_EQ(candidate_from("graphsage", base).options.model.model, "graphsage");
  const auto variant = candidate_from("sage: gate=none,  widths=8,4", base);
  EXPECT_EQ(variant.name, "sage: gate=none widths=8,4");
  EXPECT_EQ(variant.options.model.model, "sage");
  EXPECT_FALSE(variant.options.model.gate);
  EXPECT_EQ(variant.options.model.widths, (std::vector<int64_t>{8, 4}));
  expect_error([&] { candidate_from("gat", base); }, {"'gat'", "model"});
  expect_error([&] { candidate_from("sage: color=1", base); }, {"color"});
  expect_error([&] { candidate_from("raw: model=sage", base); }, {"model is set twice"});
  expect_error([&] { candidate_from("sage: gate=none gate=scalar", base); }, {"gate is set twice"});
  expect_error([&] { candidate_from("graphsage: gate=none", base); },
               {"gate has no effect on the model graphsage"});
  expect_error([&] { candidate_from("sage: gate", base); }, {"NAME=VALUE"});
  expect_error([&] { candidate_from("sage: seed=2", base); }, {"seed"});
}

TEST(Compare, RunsEveryModelOnTheSameSplitsAndSeeds) {
  CompareOptions options = small_comparison();
  options.splits = 3;
  options.split = "50/20/30";
  const auto comparison = compare(labeled_graph(), "", options, {});
  ASSERT_EQ(comparison.models.size(), 2);
  EXPECT_TRUE(comparison.corrected);
  for (const auto& model : comparison.models) {
    ASSERT_EQ(model.runs.size(), 6);
    EXPECT_EQ(model.runs[0].split, 1);
    EXPECT_EQ(model.runs[5].split, 3);
    EXPECT_EQ(model.runs[5].seed, 2);
    EXPECT_EQ(model.test.count, 3);  // splits
    double sum = 0;
    for (const auto& run : model.runs) sum += run.test;
    EXPECT_NEAR(model.test.mean, sum / 6, 1e-12);
  }
  const auto& first = comparison.models[0];
  const auto& second = comparison.models[1];
  EXPECT_NEAR(second.to_first.difference.mean, second.test.mean - first.test.mean, 1e-12);
  const auto json = comparison.json();
  EXPECT_EQ(json.at("models").size(), 2);
  EXPECT_FALSE(json.at("models")[0].contains("p"));
  EXPECT_TRUE(json.at("models")[1].contains("p"));
}

TEST(Compare, RedrawsOnlyTrainingAndValidationNodesIfTestNodesAreKept) {
  CompareOptions options = small_comparison();
  options.models = {"raw"};
  options.splits = 2;
  options.seeds = 1;
  options.keep_test = true;
  const Graph graph = labeled_graph();
  const auto graphs = compared_graphs(graph, options);
  ASSERT_EQ(graphs.size(), 2);
  bool differ = false;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    const auto is_test = [&](const Graph& of) {
      return of.nodes.split[u] == static_cast<uint8_t>(Split::kTest);
    };
    EXPECT_EQ(is_test(graphs[0]), is_test(graph));
    EXPECT_EQ(is_test(graphs[1]), is_test(graph));
    differ = differ || graphs[0].nodes.split[u] != graphs[1].nodes.split[u];
  }
  EXPECT_TRUE(differ);
  const auto comparison = compare(graph, "", options, {});
  EXPECT_FALSE(comparison.corrected);
  EXPECT_EQ(comparison.models[0].test.count, 2);
}

TEST(Compare, UsesTheSplitOfTheGraphByDefault) {
  const auto comparison = compare(labeled_graph(), "", small_comparison(), {});
  EXPECT_EQ(comparison.models[0].runs.size(), 2);
  EXPECT_EQ(comparison.models[0].runs[0].split, 0);
  EXPECT_EQ(comparison.models[0].test.count, 2);  // seeds
}

TEST(Compare, RejectsOptionsThatContradictEachOther) {
  const auto rejects = [](const Graph& graph, const CompareOptions& options,
                          std::initializer_list<std::string> parts) {
    expect_error([&] { compare(graph, "", options, {}); }, parts);
  };
  CompareOptions options = small_comparison();
  options.split = "60/20/20";
  rejects(labeled_graph(), options, {"split", "requires splits"});
  options.splits = 2;
  options.keep_test = true;
  rejects(labeled_graph(), options, {"mutually exclusive"});
  options = small_comparison();
  options.variants = {"sage"};
  rejects(labeled_graph(), options, {"'sage'", "twice"});
  options = small_comparison();
  rejects(toy_graph({.nodes = 120, .links = 400}), options, {"no val node has a label"});
  options.splits = 2;
  rejects(toy_graph({.nodes = 120, .links = 400}), options, {"no split"});
}

}  // namespace
}  // namespace lase
