// `lase train` on the command line.

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "lase/base/file.h"
#include "lase/graph/generate.h"
#include "lase/inference/inference.h"
#include "lase/inference/metrics.h"
#include "lase/model/model_file.h"

#include "gpu_support.h"
#include "torch_support.h"

namespace lase {
namespace {

class TrainCli : public FolderTest {
 protected:
  TrainCli() { generate_graph({.nodes = 200, .links = 1000}, path("g.graph")); }

  CliResult train(const Strings& more) const {
    Strings arguments = {"train", path("g.graph"), "--widths", "4,4", "--epochs", "3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_cli(arguments);
  }
};

TEST_F(TrainCli, WritesAModelScoresAndALog) {
  const CliResult result = train({"--json", "--log", path("log"), "--tensorboard", path("events")});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  for (const auto* key :
       {"micro_f1", "macro_f1", "epochs", "best_epoch", "seconds", "links_per_second"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  EXPECT_EQ(json.at("epochs"), 3);
  const std::string log = read_file(path("log"));
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3);
  EXPECT_EQ(nlohmann::json::parse(log.substr(0, log.find('\n'))).at("epoch"), 1);
  EXPECT_FALSE(std::filesystem::is_empty(path("events")));
  // The model is named after the graph, and its test score is the reported one.
  const TrainedModel model = load_model(path("g.model"));
  const Graph graph = prepare_graph(model, open_graph(path("g.graph")), "g.graph");
  const auto logits = infer(*model.model, Inputs(graph, model.scaling), graph).logits;
  std::vector<int64_t> test;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (graph.nodes.split[u] == static_cast<uint8_t>(Split::kTest)) test.push_back(u);
  }
  EXPECT_EQ(score(logits, graph.nodes.labels, test).micro_f1, json.at("micro_f1"));
}

TEST_F(TrainCli, KnownLabelsAreInputsOfEveryCommand) {
  const CliResult result =
      run_cli({"train", path("g.graph"), "--label-inputs", "on", "--widths", "4", "--epochs", "2",
               "--report", path("page.html"), "--out", path("m"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json().at("label_inputs"), true);
  EXPECT_TRUE(load_model(path("m")).label_inputs);
  EXPECT_NE(run_cli({"info", path("m")}).out.find("with known labels"), std::string::npos);
  const CliResult evaluated = run_cli({"evaluate", path("m"), path("g.graph"), "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.json().at("micro_f1"), result.json().at("micro_f1"));
  const auto succeeds = [&](const Strings& arguments) {
    const CliResult found = run_cli(arguments);
    EXPECT_EQ(found.code, 0) << arguments[0] << ": " << found.err;
  };
  const std::string node(open_graph(path("g.graph")).nodes.names[0]);
  succeeds({"predict", path("m"), path("g.graph"), "--fanout", "3", "--out", path("p.csv")});
  succeeds({"embed", path("m"), path("g.graph"), "--out", path("e.npy")});
  succeeds({"explain", path("m"), path("g.graph"), "--node", node});
  succeeds({"explain", path("m"), path("g.graph"), "--summary"});
  succeeds({"check", path("m")});
}

TEST_F(TrainCli, WarnsAboutInputsThatAreForNodes) {
  const CliResult result =
      run_cli({"train", path("g.graph"), "--task", "link-prediction", "--features", "none",
               "--label-inputs", "on", "--common-neighbors", "on", "--widths", "4", "--epochs", "1",
               "--out", path("m")});
  ASSERT_EQ(result.code, 0) << result.err;
  for (const std::string flag : {"--label-inputs", "--common-neighbors"}) {
    EXPECT_NE(result.err.find(flag + " has no effect"), std::string::npos) << result.err;
  }
}

TEST_F(TrainCli, CommonNeighborsAreInputsOfEveryCommand) {
  const Strings train = {"train",
                         path("g.graph"),
                         "--common-neighbors",
                         "on",
                         "--label-inputs",
                         "off",
                         "--widths",
                         "4",
                         "--epochs",
                         "2",
                         "--report",
                         path("page.html"),
                         "--out",
                         path("m"),
                         "--json"};
  const CliResult result = run_cli(train);
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json().at("common_neighbors"), true);
  EXPECT_TRUE(load_model(path("m")).common_neighbors);
  EXPECT_NE(run_cli({"info", path("m")}).out.find("with common neighbors"), std::string::npos);
  const CliResult evaluated = run_cli({"evaluate", path("m"), path("g.graph"), "--json"});
  ASSERT_EQ(evaluated.code, 0) << evaluated.err;
  EXPECT_EQ(evaluated.json().at("micro_f1"), result.json().at("micro_f1"));
  const auto run = [&](const Strings& arguments) {
    const CliResult found = run_cli(arguments);
    EXPECT_EQ(found.code, 0) << arguments[0] << ": " << found.err;
    return found.out;
  };
  const std::string node(open_graph(path("g.graph")).nodes.names[0]);
  run({"predict", path("m"), path("g.graph"), "--fanout", "3", "--out", path("p.csv")});
  run({"embed", path("m"), path("g.graph"), "--out", path("e.npy")});
  run({"explain", path("m"), path("g.graph"), "--node", node});
  const std::string summary = run({"explain", path("m"), path("g.graph"), "--summary"});
  EXPECT_NE(summary.find("common neighbors"), std::string::npos) << summary;
  run({"neighbors", path("m"), path("g.graph"), "--node", node});
  run({"check", path("m")});
  expect_bad_usage(run_cli({"train", path("g.graph"), "--model", "graphsage", "--common-neighbors",
                            "on", "--out", path("m")}),
                   {"--common-neighbors on: has no effect on a model that does not read link "
                    "attributes"});
}

TEST_F(TrainCli, ReportsTheChoiceOfCommonNeighbors) {
  const CliResult result =
      run_cli({"train", path("g.graph"), "--features", "none", "--label-inputs", "off", "--widths",
               "4", "--epochs", "2", "--out", path("m")});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("\ncommon neighbors "), std::string::npos) << result.out;
}

TEST_F(TrainCli, ListsMayBeSeparatedByCommasOrSpaces) {
  const auto widths = [&](const Strings& arguments) {
    const CliResult result = run_cli(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return load_model(path("g.model")).model->options().widths;
  };
  const std::vector<int64_t> expected = {5, 6};
  EXPECT_EQ(widths({"train", path("g.graph"), "--widths", "5", "6", "--epochs", "1"}), expected);
  EXPECT_EQ(widths({"train", "--widths", "5", "6", path("g.graph"), "--epochs", "1"}), expected);
  EXPECT_EQ(widths({"train", "--epochs", "1", "--widths", "5,6", path("g.graph")}), expected);
  const CliResult result = run_cli({"train", path("g.graph"), "x", "--widths", "5"});
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("unexpected argument 'x'"), std::string::npos) << result.err;
}

TEST_F(TrainCli, SaysWhichMetricSelectedTheBestEpochAndWhereTimeWent) {
  const CliResult result = train({"--select", "macro_f1"});
  EXPECT_NE(result.out.find(" by macro-F1 on validation nodes"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("s: setup "), std::string::npos) << result.out;
  const CliResult bad = train({"--select", "f1"});
  EXPECT_EQ(bad.code, 2);
  EXPECT_NE(bad.err.find("--select 'f1': must be one of auto, loss, micro_f1"), std::string::npos);
}

TEST_F(TrainCli, CalibratesProbabilities) {
  const auto plain = train({"--json"}).json();
  const CliResult result = train({"--json", "--calibrate"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  EXPECT_NE(result.err.find("temperature      "), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("(validation log loss "), std::string::npos) << result.err;
  EXPECT_NE(json.at("temperature"), 1);
  EXPECT_EQ(load_model(path("g.model")).decision.temperature, json.at("temperature"));
  EXPECT_EQ(json.at("micro_f1"), plain.at("micro_f1"));
  EXPECT_EQ(json.at("val_log_loss_before"), plain.at("val_log_loss"));
  EXPECT_LT(json.at("val_log_loss"), plain.at("val_log_loss"));
  const auto evaluated = run_cli({"evaluate", path("g.model"), path("g.graph"), "--json"}).json();
  for (const auto* key : {"log_loss", "calibration_error"}) {
    EXPECT_NEAR(evaluated.at(key), json.at(key), 1e-6) << key;
  }
}

TEST_F(TrainCli, CalibrationRequiresClassesAndValidationNodes) {
  expect_bad_usage(train({"--task", "link-prediction", "--calibrate"}),
                   {"--calibrate: the task has no classes"});
  const auto links = write("links.csv", "source,target\na,b\nb,c\nc,a\n");
  const auto nodes = write("nodes.csv", "id,kind,size\na,x,1\nb,y,2\nc,x,3\n");
  for (const auto& [flag, column, message] :
       {std::tuple("--label", "kind", "--calibrate: the graph has no validation nodes"),
        std::tuple("--regress", "size", "--calibrate: the task has no classes")}) {
    ASSERT_EQ(run_cli({"import", "links", links, "--nodes", nodes, flag, column, "--out",
                       path("small.graph")})
                  .code,
              0);
    expect_bad_usage(run_cli({"train", path("small.graph"), "--calibrate"}), {message});
  }
}

TEST_F(TrainCli, SaysWhyThereIsNoGpu) {
  if (ops::cuda::is_built() && at::hasCUDA()) GTEST_SKIP() << "there is a GPU";
  expect_rejected(train({"--device", "cuda"}), {"--device cuda: ", "use cpu"});
  expect_rejected(train({"--precision", "tf32"}), {"--precision tf32: requires a GPU"});
  ASSERT_EQ(train({"--device", "cpu"}).code, 0);
  for (const std::string command : {"evaluate", "predict", "embed"}) {
    Strings words = {command, path("g.model"), path("g.graph"), "--device", "cuda"};
    if (command != "evaluate") words.insert(words.end(), {"--out", path("out.csv")});
    expect_rejected(run_cli(words), {"--device cuda: "});
  }
}

TEST_F(TrainCli, SavesTheLastGoodWeightsIfTheLossDiverges) {
  const CliResult result = train({"--learning-rate", "1000", "--widths", "4,4,4,4,4,4",
                                  "--amplifier", "linear", "--aggregate", "sum", "--no-normalize"});
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("epoch"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("last good weights"), std::string::npos) << result.err;
  const TrainedModel model = load_model(path("g.model"));
  for (const auto& [name, value] : model.model->parameters().all()) {
    EXPECT_TRUE(value.isfinite().all().item<bool>()) << name;
  }
}

TEST_F(TrainCli, RejectsInvalidOptions) {
  expect_bad_usage(train({"--fanout", "0"}), {"--fanout", "'0'"});
  expect_bad_usage(train({"--fanout", "5,5,5"}), {"--fanout", "3 numbers", "2 layers"});
  expect_bad_usage(train({"--fanout", "all,x"}), {"--fanout", "'all,x'"});
  expect_bad_usage(train({"--dropout", "1"}), {"--dropout 1"});
  expect_bad_usage(train({"--model", "rw", "--widths", "4,3"}), {"--widths", "rw"});
  expect_bad_usage(train({"--model", "gat"}),
                   {"--model 'gat': must be one of lase, sage, rw, wl, "});
  expect_bad_usage(train({"--dropout", "abc"}), {"--dropout 'abc': must be a number"});
  expect_bad_usage(train({"--dropout", "1.5"}),
                   {"--dropout 1.5: must be at least 0 and below 1\n"});
  EXPECT_EQ(files(), Strings{"g.graph"});
  const std::string config = write("c.toml", "no_normalize = 99999999999999999999\n");
  expect_bad_usage(train({"--config", config}), {config, "--no-normalize", "true or false"});
}

// Each error is one sentence by lase, never one by torch.
TEST_F(TrainCli, RejectsNumbersOutOfRange) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"--weight-decay", "nan"}, {"--clip-value", "-1"},       {"--patience", "-4"},
      {"--seed", "-1"},          {"--learning-rate", "1e+38"}, {"--learning-rate", "inf"},
      {"--ema-decay", "1"},      {"--features-width", "0"}};
  for (const auto& [flag, value] : bad) {
    expect_bad_usage(train({flag, value}), {flag + " " + value + ": must be "});
  }
  expect_rejected(run_cli({"train", path("g.graph"), "--widths", "65536,65536"}),
                  {"--widths: a matrix of 65536 × 131072 is too large"});
  EXPECT_EQ(train({"--epochs", "many"}).code, 2);
  EXPECT_EQ(files(), Strings{"g.graph"});
}

// Options on the command line, in TOML and in JSON are equivalent.
TEST_F(TrainCli, TunesIntoAConfigurationThatTrains) {
  const auto tuned = run_cli({"tune", path("g.graph"), "--trials", "2", "--epochs", "2", "--fanout",
                              "all,3", "--widths", "4,4", "--no-normalize", "--vary",
                              "gate=scalar:none", "--out", path("best.toml"), "--json"});
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_NE(read_file(path("best.toml")).find("fanout = \"all,3\"\n"), std::string::npos);
  const auto with = [&](const Strings& more) {
    Strings all = {"train", path("g.graph"), "--config", path("best.toml"), "--json"};
    all.insert(all.end(), more.begin(), more.end());
    const auto result = run_cli(all);
    EXPECT_EQ(result.code, 0) << result.err;
    return load_model(path("g.model")).training.at("options");
  };
  const auto options = with({});
  EXPECT_EQ(options.at("fanout"), nlohmann::json({"all", 3}));
  EXPECT_EQ(options.at("normalize"), false);
  EXPECT_EQ(options.at("widths"), nlohmann::json({4, 4}));
  EXPECT_EQ(with({"--normalize", "--fanout", "2"}).at("normalize"), true);
}

// stderr contains only messages of lase itself.
TEST_F(TrainCli, SuppressesWarningsOfLibraries) {
  const CliResult result = train({"--model", "sage", "--aggregate", "max"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(TrainCli, TrainsWithEveryStrategy) {
  for (const std::string strategy : {"auto", "uniform", "gate", "min_var", "snapshot"}) {
    for (const std::string replacement : {"with", "without"}) {
      const CliResult result =
          train({"--strategy", strategy, "--replacement", replacement, "--fanout", "2,all",
                 "--refresh-every", "3", "--batch-size", "30", "--json"});
      ASSERT_EQ(result.code, 0) << result.err;
      const auto json = result.json();
      EXPECT_EQ(json["refreshes"] > 2, strategy != "uniform");
      const std::string named = strategy == "auto" ? "snapshot" : strategy;
      EXPECT_EQ(json["sampling"].get<std::string>().find(named + ", fan-out 2,all"), 0U);
    }
  }
  const CliResult lazy = train({"--strategy", "snapshot", "--refresh", "lazy", "--json"});
  EXPECT_NE(lazy.json()["sampling"].get<std::string>().find("lazily"), std::string::npos);
  expect_bad_usage(train({"--model", "sage", "--strategy", "gate", "--aggregate", "max"}),
                   {"--strategy gate", "--aggregate max"});
  expect_bad_usage(train({"--refresh-every", "0"}), {"--refresh-every 0"});
  expect_bad_usage(train({"--strategy", "gate", "--refresh", "lazy"}),
                   {"--refresh lazy", "--strategy gate"});
  EXPECT_EQ(train({"--strategy", "best"}).code, 2);
}

TEST_F(TrainCli, BenchmarksSampling) {
  ASSERT_EQ(train({}).code, 0);
  const Strings measure = {"bench",         "sampling",  path("g.graph"),
                           path("g.model"), "--repeats", "40"};
  const auto with = [&](const Strings& more) {
    Strings all = measure;
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all);
  };
  const CliResult result = with({"--samples", "3", "--stale", "4", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = result.json();
  for (const char* strategy : {"uniform", "gate", "min_var", "snapshot"}) {
    for (const char* replacement : {"with", "without"}) {
      for (const char* key :
           {"relative_variance", "relative_variance_fresh", "relative_variance_stale"}) {
        ASSERT_EQ(json[key][strategy][replacement].size(), 2U)
            << key << " " << strategy << " " << replacement;
      }
      EXPECT_GT(json["sample_nanoseconds"][strategy][replacement].get<double>(), 0);
      for (const auto& number : json["relative_variance_fresh"][strategy][replacement]) {
        EXPECT_EQ(number.get<double>() > 1e-9, std::string(strategy) != "snapshot");
      }
    }
  }
  EXPECT_EQ(json["relative_variance"]["uniform"]["with"], nlohmann::json({1.0, 1.0}));
  EXPECT_LT(json["relative_variance"]["uniform"]["without"][0].get<double>(), 0.95);
  EXPECT_LT(json["relative_variance"]["snapshot"]["without"][1].get<double>(), 0.5);
  // The bias of a ratio is smaller than its standard deviation.
  for (size_t layer = 0; layer < 2; ++layer) {
    const auto error = [&](const char* key, const char* strategy) {
      return json["ratio_error"][key][strategy]["without"][layer].get<double>();
    };
    EXPECT_GT(error("deviation", "uniform"), 0);
    EXPECT_LT(error("bias", "uniform"), error("deviation", "uniform"));
    EXPECT_LT(error("deviation", "snapshot"), error("deviation", "uniform"));
  }
  expect_rejected(with({"--samples", "5000"}), {"g.graph", "5000"});
  expect_bad_usage(with({"--samples", "0"}), {"--samples 0"});
}

TEST_F(TrainCli, BenchmarksAStep) {
  for (const std::string layout : {"dense", "sparse", "dictionary"}) {
    const auto result =
        run_cli({"bench",        "step", "--nodes",     "200",         "--links",  "900",
                 "--node-dim",   "9",    "--link-dim",  "5",           "--layout", layout,
                 "--batch-size", "16",   "--fanout",    "4,4",         "--widths", "6,5",
                 "--steps",      "2",    "--reference", "--inference", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto json = result.json();
    for (const char* key :
         {"seconds_per_step", "reference_seconds_per_step", "ratio", "links_first_layer",
          "links_per_second", "peak_rss_bytes", "gflops", "sample_seconds", "forward_seconds",
          "backward_seconds", "optimizer_seconds", "inference_seconds", "norms_seconds"}) {
      ASSERT_TRUE(json.contains(key)) << key;
      EXPECT_GT(json[key].get<double>(), 0) << key;
    }
  }
  EXPECT_EQ(run_cli({"bench", "step", "--nodes", "0"}).code, 2);
  EXPECT_EQ(run_cli({"bench", "step", "--nodes", "20", "--links", "5", "--fanout", "1,2,3"}).code,
            2);
  EXPECT_EQ(run_cli({"bench", "step", "--layout", "odd"}).code, 2);
}

}  // namespace
}  // namespace lase
