// A run that is broken off, wherever, and resumed ends with the weights of one that never was.

#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "lase/base/file.h"
#include "lase/graph/generate.h"
#include "lase/model/model.h"
#include "lase/train/checkpoint.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

class Resume : public FolderTest {};

TrainOptions long_options() {
  TrainOptions options;
  options.model.widths = {4, 4};
  options.epochs = 9;
  options.patience = 8;  // the plateau schedule acts after two, and no run ends early
  options.batch = 16;
  options.sampling.fanout = {3};
  options.schedule = Schedule::kPlateau;
  options.adam.weight_decay = 0.01;
  options.checkpoint_every = 2;
  return options;
}

TEST_F(Resume, AfterAStopGivesTheSameWeights) {
  for (const bool validated : {true, false}) {
    Graph graph = toy_graph({.nodes = 80, .links = 240, .split = true});
    if (!validated) graph.nodes.split = {};
    const TrainResult whole = train(graph, long_options());
    for (int64_t last = 1; last < 9; ++last) {
      TrainOptions options = long_options();
      options.checkpoint = path("run.checkpoint");
      std::filesystem::remove(options.checkpoint);
      std::atomic<bool> stop = false;
      options.stop = &stop;
      options.progress = [&](const EpochReport& report) { stop = report.epoch == last; };
      const TrainResult broken = train(graph, options);
      EXPECT_TRUE(broken.stopped);
      EXPECT_EQ(broken.epochs, last);
      EXPECT_EQ(std::filesystem::exists(options.checkpoint), last >= 2);
      stop = false;
      options.resume = true;
      int64_t first = 0;
      options.progress = [&](const EpochReport& report) {
        if (first == 0) first = report.epoch;
      };
      const TrainResult resumed = train(graph, options);
      EXPECT_EQ(first, last / 2 * 2 + 1);
      expect_same_weights(*resumed.trained.model, *whole.trained.model);
      EXPECT_EQ(resumed.best_epoch, whole.best_epoch);
      EXPECT_EQ(resumed.epochs, whole.epochs);
      EXPECT_EQ(resumed.trained.training.at("curve"), whole.trained.training.at("curve"));
    }
  }
}

// What a strategy knows is not kept, but found out again from the weights of that moment.
TEST_F(Resume, GivesTheSameWeightsWithEveryStrategy) {
  const Graph graph = toy_graph({.nodes = 80, .links = 400, .split = true});
  for (const Renewal renewal : {Renewal::kEager, Renewal::kLazy}) {
    for (const Strategy strategy : {Strategy::kGate, Strategy::kMinVar, Strategy::kSnapshot}) {
      if (renewal == Renewal::kLazy && strategy != Strategy::kSnapshot) continue;
      TrainOptions options = long_options();
      options.sampling.strategy = strategy;
      options.sampling.renewal = renewal;
      options.sampling.renew = 7;  // which no epoch is a multiple of
      const TrainResult whole = train(graph, options);
      EXPECT_GT(whole.renewals, 3);
      options.checkpoint = path("run.checkpoint");
      std::filesystem::remove(options.checkpoint);
      std::atomic<bool> stop = false;
      options.stop = &stop;
      options.progress = [&](const EpochReport& report) { stop = report.epoch == 5; };
      EXPECT_TRUE(train(graph, options).stopped);
      stop = false;
      options.progress = nullptr;
      options.resume = true;
      expect_same_weights(*train(graph, options).trained.model, *whole.trained.model);
      if (strategy == Strategy::kSnapshot && renewal == Renewal::kLazy) {
        options.checkpoint_every = 3;
        expect_error([&] { train(graph, options); }, {"different options"});
      }
    }
  }
}

TEST_F(Resume, RefusesTheCheckpointOfAnotherRun) {
  const Graph graph = toy_graph({.nodes = 80, .links = 240, .split = true});
  TrainOptions options = long_options();
  options.checkpoint = path("run.checkpoint");
  train(graph, options);
  ASSERT_TRUE(std::filesystem::exists(options.checkpoint));
  options.resume = true;
  const std::string text = read_file(options.checkpoint);
  TrainOptions other = options;
  other.seed = 2;
  expect_error([&] { train(graph, other); }, {options.checkpoint, "different options"});
  // A graph of the same shape, with one other attribute.
  Graph similar = graph;
  std::vector<float> values(graph.link_attributes.values.begin(),
                            graph.link_attributes.values.end());
  values.back() += 1;
  similar.link_attributes.values = std::move(values);
  expect_error([&] { train(similar, options); }, {options.checkpoint, "another graph"});
  other = options;
  other.model.widths = {5, 5};
  expect_error([&] { train(graph, other); }, {options.checkpoint});
  for (const size_t size : {text.size() - 1, size_t{50}, size_t{0}}) {
    write("run.checkpoint", text.substr(0, size));
    expect_error([&] { train(graph, options); }, {options.checkpoint});
  }
  save_graph(graph, options.checkpoint);
  expect_error([&] { train(graph, options); }, {options.checkpoint, "not a checkpoint"});
}

TEST_F(Resume, StartsAnewWhereThereIsNoCheckpoint) {
  const Graph graph = toy_graph({.nodes = 80, .links = 240, .split = true});
  TrainOptions options = long_options();
  const TrainResult whole = train(graph, options);
  options.checkpoint = path("none");
  options.resume = true;
  expect_same_weights(*train(graph, options).trained.model, *whole.trained.model);
}

pid_t start_cli(Strings words) {
  words.insert(words.begin(), LASE_CLI);
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, LASE_CLI, &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0);
  return child;
}

TEST_F(Resume, AfterKillsAtRandomMomentsGivesTheSameWeights) {
  const std::string graph = path("g.graph");
  generate_graph({.nodes = 300, .links = 2000}, graph);
  const auto arguments = [&](const std::string& out) {
    return Strings{"train",    graph,        "--out",   out,        "--epochs",
                   "120",      "--patience", "0",       "--widths", "8,8",
                   "--fanout", "5",          "--batch", "64",       "--checkpoint-every",
                   "1",        "--threads",  "1",       "--quiet"};
  };
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const CliResult whole = run_cli(arguments(path("whole.model")));
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto length = std::chrono::duration<double>(Clock::now() - begin);
  Strings resumed = arguments(path("killed.model"));
  resumed.emplace_back("--resume");
  Random random(static_cast<uint64_t>(begin.time_since_epoch().count()));
  int killed = 0;
  int in_work = 0;  // killed while there was something to resume
  for (int i = 0; i < 20; ++i) {
    const pid_t child = start_cli(resumed);
    std::this_thread::sleep_for(length * random.uniform());
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    // Some are done before the blow falls; the next begins from nothing.
    if (WIFEXITED(status)) {
      ASSERT_EQ(WEXITSTATUS(status), 0);
      continue;
    }
    ++killed;
    in_work += std::filesystem::exists(path("killed.model.checkpoint")) ? 1 : 0;
  }
  EXPECT_GE(killed, 5);
  EXPECT_GE(in_work, 3);
  const CliResult last = run_cli(resumed);
  ASSERT_EQ(last.code, 0) << last.err;
  expect_same_weights(*load_model(path("killed.model")).model,
                      *load_model(path("whole.model")).model);
  EXPECT_FALSE(std::filesystem::exists(path("killed.model.checkpoint")));
  // Nothing half written is left beside the files.
  EXPECT_EQ(files(), (Strings{"g.graph", "killed.model", "whole.model"}));
}

}  // namespace
}  // namespace lase
