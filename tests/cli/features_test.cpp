// Node features learned from links: in training, in the model file, and for new nodes.

#include "lase/embed/features.h"

#include <algorithm>
#include <filesystem>

#include "lase/base/file.h"
#include "lase/graph/generate.h"
#include "lase/inference/predict.h"
#include "lase/model/model.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

EmbedOptions small() {
  EmbedOptions options;
  options.width = 8;
  options.epochs = 50;
  options.order = Order::kBoth;
  return options;
}

class LearnedFeaturesTest : public FolderTest {
 protected:
  LearnedFeaturesTest() {
    generate_graph({.nodes = 200, .links = 1000}, path("g.graph"));
    graph = open_graph(path("g.graph"));
  }
  Graph bare() const {
    Graph without = graph;
    without.nodes.features = {};
    without.nodes.feature_names = {};
    return without;
  }
  TrainResult trained(const Graph& on) const {
    TrainOptions options;
    options.epochs = 2;
    options.model.widths = {4, 4};
    options.features.embed = small();
    options.transductive = true;
    return train(on, options);
  }
  Graph graph;
};

TEST_F(LearnedFeaturesTest, AreAppendedToThoseOfTheGraph) {
  Graph more = graph;
  const int64_t before = graph.nodes.features.columns;
  add_features(learn_features(graph, {}, {.embed = small(), .online = false}), more);
  EXPECT_EQ(more.nodes.features.columns, before + 8);
  EXPECT_EQ(more.nodes.feature_names[before], "line0");
  EXPECT_EQ(row(more.nodes.features, 3)[0], row(graph.nodes.features, 3)[0]);
}

TEST_F(LearnedFeaturesTest, AreSavedInTheModelFile) {
  const Graph without = bare();
  const TrainResult result = trained(without);
  EXPECT_EQ(result.trained.model->shape().node_features, 8);
  save_model(result.trained, path("m"));
  const TrainedModel loaded = load_model(path("m"));
  ASSERT_TRUE(loaded.learned.present());
  EXPECT_EQ(loaded.learned.embedding.rows(), result.trained.learned.embedding.rows());
  ASSERT_EQ(loaded.learned.embedding.tables.size(), 2);
  EXPECT_TRUE(loaded.learned.embedding.tables[0].context.empty());
  const Graph fitted = prepare_graph(loaded, without, "g");
  const Predictions predictions = predict(loaded, fitted);
  std::vector<int64_t> test;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (graph.nodes.split[u] == static_cast<uint8_t>(Split::kTest)) test.push_back(u);
  }
  EXPECT_EQ(score(predictions.outputs, graph.nodes.labels, test).micro_f1, result.test.micro_f1);
}

TEST_F(LearnedFeaturesTest, NewNodesAreEmbeddedWhileTheOthersStayFixed) {
  const TrainResult result = trained(bare());
  Graph renamed = bare();
  StringTableBuilder names;
  for (int64_t u = 0; u < renamed.node_count(); ++u) {
    names.add(u < 5 ? "new" + std::to_string(u) : std::string(graph.nodes.names[u]));
  }
  renamed.nodes.names = names.finish();
  const Graph fitted = prepare_graph(result.trained, renamed, "g");
  const auto rows = result.trained.learned.embedding.rows();
  for (int64_t u = 0; u < 20; ++u) {
    const Floats expected(rows.begin() + u * 8, rows.begin() + (u + 1) * 8);
    if (u < 5) {
      EXPECT_NE(row(fitted.nodes.features, u), expected);
      EXPECT_NE(row(fitted.nodes.features, u), Floats(8));
    } else {
      EXPECT_EQ(row(fitted.nodes.features, u), expected);
    }
  }
}

class EmbeddingCli : public FolderTest {
 protected:
  EmbeddingCli() { generate_graph({.nodes = 100, .links = 400}, path("g.graph")); }
};

TEST_F(EmbeddingCli, WritesEmbeddings) {
  for (const char* command : {"line", "deepwalk"}) {
    const auto result =
        run_cli({command, path("g.graph"), "--width", "6", "--out", path("e.npy"), "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(result.json().at("width"), 6);
    EXPECT_EQ(result.json().at("nodes"), 100);
    EXPECT_GT(result.json().at("samples").get<double>(), 0);
  }
}

TEST_F(EmbeddingCli, WritesAGraphWithTheEmbeddingsAsFeatures) {
  const auto result =
      run_cli({"line", path("g.graph"), "--width", "6", "--online", "--out", path("with.graph")});
  ASSERT_EQ(result.code, 0) << result.err;
  const Graph graph = open_graph(path("with.graph"));
  EXPECT_EQ(graph.nodes.features.columns, 6);
  EXPECT_EQ(graph.nodes.feature_names[5], "line5");
  expect_rejected(run_cli({"line", path("g.graph"), "--out", path("g.graph")}), {"g.graph"});
}

TEST_F(EmbeddingCli, RejectsInvalidOptions) {
  expect_bad_usage(run_cli({"line", path("g.graph"), "--out", path("e.npy"), "--width", "0"}),
                   {"--width 0"});
  expect_bad_usage(run_cli({"deepwalk", path("g.graph"), "--out", path("e.npy"), "--length", "1"}),
                   {"--length 1"});
  expect_rejected(run_cli({"line", path("g.graph"), "--out", path("no/e.npy")}), {"no/e.npy"});
  EXPECT_EQ(files(), Strings{"g.graph"});
}

TEST_F(EmbeddingCli, TrainsWithLearnedFeatures) {
  const auto result =
      run_cli({"train", path("g.graph"), "--features", "line", "--features-width", "4",
               "--features-epochs", "20", "--widths", "4", "--epochs", "2", "--model", "sage",
               "--report", path("page.html"), "--out", path("m")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(run_cli({"evaluate", path("m"), path("g.graph")}).code, 0);
  EXPECT_NE(read_file(path("page.html")).find("LASE-SAGE"), std::string::npos);
}

TEST_F(EmbeddingCli, TunesAndTrainsWithTheBestConfiguration) {
  const auto result = run_cli({"tune", path("g.graph"), "--trials", "3", "--epochs", "2", "--vary",
                               "widths=4,4:8", "--vary", "learning-rate=0.01..0.1", "--keep",
                               path("kept"), "--out", path("best.toml"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json().at("trials").size(), 3);
  const auto again =
      run_cli({"train", path("g.graph"), "--epochs", "2", "--config", path("best.toml"), "--json"});
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.json().at("val_micro_f1"), result.json().at("val"));
  expect_bad_usage(run_cli({"tune", path("g.graph"), "--vary", "color=1:2"}), {"color"});
}

TEST_F(EmbeddingCli, WritesTheWholeConfiguration) {
  const auto result = run_cli({"tune",
                               path("g.graph"),
                               "--trials",
                               "1",
                               "--epochs",
                               "2",
                               "--dropout",
                               "0.1",
                               "--features",
                               "line",
                               "--features-width",
                               "4",
                               "--features-epochs",
                               "9",
                               "--fanout",
                               "all",
                               "--gate",
                               "none",
                               "--no-normalize",
                               "--out",
                               path("best.toml")});
  ASSERT_EQ(result.code, 0) << result.err;
  const std::string text = read_file(path("best.toml"));
  for (const char* line :
       {"dropout = 0.1\n", "features = \"line\"\n", "features_width = 4\n", "features_epochs = 9\n",
        "fanout = \"all\"\n", "gate = \"none\"\n", "normalize = false\n", "epochs = 2\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << " in " << text;
  }
  EXPECT_EQ(run_cli({"train", path("g.graph"), "--config", path("best.toml")}).code, 0);
}

TEST_F(EmbeddingCli, KeepsRunsOfTheSameGraphOnly) {
  const Strings command = {"tune", path("g.graph"), "--trials", "1",      "--epochs",
                           "1",    "--widths",      "4",        "--keep", path("kept")};
  ASSERT_EQ(run_cli(command).code, 0);
  EXPECT_NE(run_cli(command).err.find("already done"), std::string::npos);
  generate_graph({.nodes = 100, .links = 400, .seed = 2}, path("g.graph"));
  EXPECT_EQ(run_cli(command).err.find("already done"), std::string::npos);
}

TEST_F(EmbeddingCli, ComparesModelsAndContinues) {
  const Strings command = {"compare",   path("g.graph"),
                           "--models",  "lase,raw",
                           "--variant", "sage: gate=none widths=4",
                           "--splits",  "2",
                           "--seeds",   "1",
                           "--epochs",  "1",
                           "--widths",  "4",
                           "--out",     path("out"),
                           "--json"};
  const auto result = run_cli(command);
  ASSERT_EQ(result.code, 0) << result.err;
  const auto models = result.json().at("models");
  ASSERT_EQ(models.size(), 3);
  EXPECT_EQ(models[2].at("name"), "sage: gate=none widths=4");
  EXPECT_EQ(models[2].at("runs").size(), 2);
  for (const char* name : {"compare.md", "compare.csv", "compare.svg"}) {
    EXPECT_TRUE(std::filesystem::exists(path("out/") + name)) << name;
  }
  const auto again = run_cli(command);
  EXPECT_NE(again.err.find("6 of 6 runs were already done"), std::string::npos) << again.err;
  EXPECT_EQ(again.json(), result.json());
  expect_bad_usage(run_cli({"compare", path("g.graph"), "--models", "gat"}), {"'gat'"});
  expect_bad_usage(run_cli({"compare", path("g.graph"), "--variant", "sage: color=1"}), {"color"});
  expect_bad_usage(run_cli({"compare", path("g.graph"), "--keep-test"}),
                   {"--keep-test", "requires --splits"});
}

TEST_F(EmbeddingCli, SummarizesLinkAttributes) {
  const std::string g = path("g.graph");
  const std::string m = path("m.model");
  ASSERT_EQ(run_cli({"train", g, "--epochs", "1", "--widths", "4", "--out", m}).code, 0);
  const auto result = run_cli({"explain", m, g, "--summary", "--examine", "2", "--csv",
                               path("a.csv"), "--svg", path("a.svg"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json().at("attributes").size(), 2);
  EXPECT_EQ(read_file(path("a.csv")).find("attribute,links,effect"), 0U);
  EXPECT_NE(read_file(path("a.svg")).find("<svg"), std::string::npos);
  expect_bad_usage(run_cli({"explain", m, g}), {"--node or --summary"});
  expect_bad_usage(run_cli({"explain", m, g, "--source", "0", "--target", "1"}), {"use --node"});
  expect_bad_usage(run_cli({"explain", m, g, "--summary", "--node", "0"}), {"--summary"});
  expect_bad_usage(run_cli({"explain", m, g, "--summary", "--neighbors", "3"}), {"--neighbors"});
  expect_bad_usage(run_cli({"explain", m, g, "--node", "0", "--csv", path("b.csv")}), {"--csv"});
  expect_bad_usage(run_cli({"explain", m, g, "--node", "0", "--examine", "2"}), {"--examine"});
  expect_rejected(run_cli({"explain", m, g, "--summary", "--csv", path("no/a.csv")}), {"no/a.csv"});
}

TEST_F(EmbeddingCli, ReportsErrorsBeforeTheSearch) {
  const std::string g = path("g.graph");
  expect_bad_usage(run_cli({"tune", g, "--vary", "combine=add:foo", "--trials", "1"}), {"foo"});
  expect_bad_usage(run_cli({"tune", g, "--vary", "seed=1:2"}), {"seed"});
  expect_rejected(run_cli({"tune", g, "--out", path("no/best.toml")}), {"no/best.toml"});
  expect_rejected(run_cli({"tune", g, "--keep", g + "/x"}), {"cannot be created"});
  expect_rejected(run_cli({"reproduce", "theorem1", "--out", g}), {"cannot be created"});
  expect_bad_usage(run_cli({"line", g, "--out", path("e.npy"), "--epochs", "9223372036854775807"}),
                   {"--epochs"});
  expect_bad_usage(run_cli({"train", g, "--features", "line", "--features-width", "0"}),
                   {"--features-width 0"});
  expect_bad_usage(run_cli({"kernel", g, "--length", "100000000"}), {"--length"});
  EXPECT_EQ(files(), Strings{"g.graph"});
}

TEST_F(EmbeddingCli, NeverOverwritesItsInputs) {
  const std::string g = path("g.graph");
  const std::string m = path("m.model");
  ASSERT_EQ(run_cli({"train", g, "--epochs", "1", "--widths", "4", "--out", m}).code, 0);
  const std::string graph = read_file(g);
  const std::string model = read_file(m);
  for (const Strings& command : std::vector<Strings>{{"train", g, "--out", g},
                                                     {"train", g, "--out", m, "--log", g},
                                                     {"train", g, "--out", m, "--checkpoint", g},
                                                     {"train", g, "--out", m, "--checkpoint", m},
                                                     {"train", g, "--out", m, "--report", g},
                                                     {"train", g, "--out", m, "--report", m},
                                                     {"tune", g, "--out", g},
                                                     {"line", g, "--out", path("./g.graph")},
                                                     {"predict", m, g, "--out", g},
                                                     {"embed", m, g, "--out", m},
                                                     {"explain", m, g, "--node", "0", "--svg", m},
                                                     {"evaluate", m, g, "--confusion", m},
                                                     {"import", "links", g, "--out", g}}) {
    const auto result = run_cli(command);
    expect_rejected(result, {"this command"});
    EXPECT_TRUE(read_file(g) == graph && read_file(m) == model) << command[0];
  }
}

TEST_F(EmbeddingCli, ComparesGraphs) {
  const auto one = run_cli({"kernel", path("g.graph"), path("g.graph"), "--normalize", "--json"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_NEAR(one.json().at("kernel").get<double>(), 1, 1e-12);
  const auto many = run_cli({"kernel", path("g.graph"), path("g.graph"), path("g.graph"), "--kind",
                             "wl", "--length", "2", "--out", path("gram.csv"), "--json"});
  ASSERT_EQ(many.code, 0) << many.err;
  EXPECT_EQ(many.json().at("gram").size(), 3);
  EXPECT_TRUE(read_file(path("gram.csv")).starts_with("graph,"));
}

TEST_F(EmbeddingCli, ReproducesTheTheorem) {
  const auto result = run_cli({"reproduce", "theorem1", "--quick", "--out", path("out"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(result.json().contains("theorem1"));
  expect_bad_usage(run_cli({"reproduce", "table9"}), {"what 'table9': must be one of table2, "});
  expect_bad_usage(run_cli({"reproduce", "table3", "--data-sets", "email,foo"}),
                   {"--data-sets 'foo': must be one or more of ", "workplace"});
}

}  // namespace
}  // namespace lase
