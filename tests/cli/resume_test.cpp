// A run that is interrupted at any point and resumed ends with the weights of an uninterrupted run.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <thread>

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
  options.patience = 8;  // the plateau schedule acts after 2 epochs, and no run stops early
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
      const TrainResult interrupted = train(graph, options);
      EXPECT_TRUE(interrupted.stopped);
      EXPECT_EQ(interrupted.epochs, last);
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

// Checkpoints do not contain the state of a strategy: it is recomputed from the weights.
TEST_F(Resume, GivesTheSameWeightsWithEveryStrategy) {
  const Graph graph = toy_graph({.nodes = 80, .links = 400, .split = true});
  for (const Refresh refresh : {Refresh::kEager, Refresh::kLazy}) {
    for (const Strategy strategy : {Strategy::kGate, Strategy::kMinVar, Strategy::kSnapshot}) {
      if (refresh == Refresh::kLazy && strategy != Strategy::kSnapshot) continue;
      TrainOptions options = long_options();
      options.sampling.strategy = strategy;
      options.sampling.refresh = refresh;
      options.sampling.refresh_every = 7;  // batches; checkpoints fall between two refreshes
      const TrainResult whole = train(graph, options);
      EXPECT_GT(whole.refreshes, 3);
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
      if (strategy == Strategy::kSnapshot && refresh == Refresh::kLazy) {
        options.checkpoint_every = 3;
        expect_error([&] { train(graph, options); }, {"different options"});
      }
    }
  }
}

TEST_F(Resume, WithMoreEpochsContinuesTheRun) {
  const Graph graph = toy_graph({.nodes = 80, .links = 240, .split = true});
  TrainOptions options = long_options();
  const TrainResult whole = train(graph, options);
  options.checkpoint = path("run.checkpoint");
  options.epochs = 5;
  train(graph, options);
  options.epochs = 9;
  options.resume = true;
  const TrainResult resumed = train(graph, options);
  EXPECT_EQ(resumed.epochs, 9);
  expect_same_weights(*resumed.trained.model, *whole.trained.model);
  // With cosine, the learning rate of every epoch depends on their number.
  options = long_options();
  options.checkpoint = path("cosine.checkpoint");
  options.schedule = Schedule::kCosine;
  options.epochs = 5;
  train(graph, options);
  options.epochs = 9;
  options.resume = true;
  expect_error([&] { train(graph, options); }, {"different options (epochs 5 → 9)"});
}

TEST_F(Resume, RejectsTheCheckpointOfAnotherRun) {
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
  // A graph of the same shape that differs in one attribute value.
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
  expect_error([&] { train(graph, options); },
               {options.checkpoint, "is a lase graph, not a checkpoint"});
}

TEST_F(Resume, StartsOverIfThereIsNoCheckpoint) {
  const Graph graph = toy_graph({.nodes = 80, .links = 240, .split = true});
  TrainOptions options = long_options();
  const TrainResult whole = train(graph, options);
  options.checkpoint = path("none");
  options.resume = true;
  expect_same_weights(*train(graph, options).trained.model, *whole.trained.model);
}

// `lase train`, which writes a checkpoint after every epoch.
class Training {
 public:
  Training(const Strings& words, std::string checkpoint)
      : program_(words), checkpoint_(std::move(checkpoint)) {}

  // Waits until the process has written `count` checkpoints; false if it exits before.
  bool writes_checkpoints(int count) {
    struct timespec seen = modified();
    while (count > 0) {
      if (!program_.running()) return false;
      const struct timespec now = modified();
      if (now.tv_nsec != seen.tv_nsec || now.tv_sec != seen.tv_sec) --count;
      seen = now;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  CliResult end(int signal) { return program_.end(signal); }

 private:
  struct timespec modified() const {
    struct stat status {};
    return ::stat(checkpoint_.c_str(), &status) == 0 ? status.st_mtim : timespec{};
  }

  RunningCli program_;
  std::string checkpoint_;
};

class Interrupted : public Resume {
 protected:
  Interrupted() { generate_graph({.nodes = 300, .links = 2000}, graph_); }

  Strings arguments(const std::string& out) const {
    return {"train",
            graph_,
            "--out",
            path(out),
            "--epochs",
            "120",
            "--patience",
            "0",
            "--widths",
            "8,8",
            "--fanout",
            "5",
            "--batch-size",
            "64",
            "--threads",
            "1",
            "--quiet",
            "--checkpoint-every",
            "1",
            "--resume"};
  }
  Training start() const {
    return {arguments("interrupted.model"), path("interrupted.model.checkpoint")};
  }
  // Resumes the interrupted run and expects the weights of an uninterrupted one.
  void expect_same_weights_when_resumed() const {
    for (const char* name : {"interrupted.model", "whole.model"}) {
      const CliResult run = run_cli(arguments(name));
      ASSERT_EQ(run.code, 0) << run.err;
    }
    expect_same_weights(*load_model(path("interrupted.model")).model,
                        *load_model(path("whole.model")).model);
    // No partially written files are left behind.
    EXPECT_EQ(files(), (Strings{"g.graph", "interrupted.model", "whole.model"}));
  }

  static void expect_changed_graph(const CliResult& result) {
    EXPECT_EQ(result.code, 1);
    EXPECT_NE(result.err.find("g.graph: was changed while lase was reading it"), std::string::npos)
        << result.err;
  }

  std::string graph_ = path("g.graph");
};

TEST_F(Interrupted, ByKillsResumesToTheSameWeights) {
  for (const int checkpoints : {1, 7, 1, 16, 3, 2}) {
    Training training = start();
    ASSERT_TRUE(training.writes_checkpoints(checkpoints)) << training.end(SIGKILL).err;
    EXPECT_EQ(training.end(SIGKILL).code, 128 + SIGKILL);
  }
  expect_same_weights_when_resumed();
}

// Reading a page beyond the end of the file raises SIGBUS.
TEST_F(Interrupted, ByATruncatedGraphNamesTheFileAndKeepsTheCheckpoint) {
  const std::string whole = read_file(graph_);
  Training training = start();
  ASSERT_TRUE(training.writes_checkpoints(2)) << training.end(SIGKILL).err;
  std::filesystem::resize_file(graph_, 0);
  expect_changed_graph(training.end(0));
  write("g.graph", whole);
  expect_same_weights_when_resumed();
}

// Out-of-range node numbers raise SIGSEGV.
TEST_F(Interrupted, ByAnOverwrittenGraphNamesTheFile) {
  const std::string whole = read_file(graph_);
  Training training = start();
  ASSERT_TRUE(training.writes_checkpoints(1)) << training.end(SIGKILL).err;
  {
    std::fstream file(graph_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096);
    file << std::string(whole.size() - 4096, '\x3f');
  }
  expect_changed_graph(training.end(0));
}

// A fault that is not caused by a changed file ends the program as if there were no handler.
TEST_F(Interrupted, ByAnotherFaultDiesOfTheSignal) {
  for (const int signal : {SIGSEGV, SIGBUS}) {
    Training training = start();
    ASSERT_TRUE(training.writes_checkpoints(1)) << training.end(SIGKILL).err;
    EXPECT_EQ(training.end(signal).code, 128 + signal);
  }
}

TEST_F(Interrupted, InTheFirstEpochKeepsTheOldModel) {
  write("broken.model", "an older model");
  Strings slow = arguments("broken.model");
  std::replace(slow.begin(), slow.end(), std::string("120"), std::string("1000000"));
  slow.insert(slow.end(), {"--eval-every", "1000000"});
  Training training(slow, path("broken.model.checkpoint"));
  ASSERT_TRUE(training.writes_checkpoints(1)) << training.end(SIGKILL).err;
  const CliResult result = training.end(SIGINT);
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(read_file(path("broken.model")), "an older model");
  EXPECT_NE(result.err.find("interrupted"), std::string::npos) << result.err;
}

TEST_F(Interrupted, KeepsTheBestWeightsAndResumesItsLog) {
  Strings words = arguments("broken.model");
  words.insert(words.end(), {"--log", path("log"), "--report", path("page.html")});
  {
    Training training(words, path("broken.model.checkpoint"));
    ASSERT_TRUE(training.writes_checkpoints(5)) << training.end(SIGKILL).err;
    EXPECT_EQ(training.end(SIGINT).code, 130);
  }
  EXPECT_NO_THROW(load_model(path("broken.model")));
  const CliResult resumed = run_cli(words);
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  std::istringstream log(read_file(path("log")));
  int64_t epoch = 0;
  for (std::string line; std::getline(log, line);) {
    EXPECT_EQ(nlohmann::json::parse(line).at("epoch"), ++epoch);
  }
  EXPECT_EQ(epoch, 120);
}

TEST_F(Interrupted, NotByALogThatCannotBeWritten) {
  Strings words = arguments("broken.model");
  words.insert(words.end(), {"--log", "/dev/full"});
  const CliResult result = run_cli(words);
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("/dev/full: cannot be written"), std::string::npos) << result.err;
  EXPECT_NO_THROW(load_model(path("broken.model")));
}

}  // namespace
}  // namespace lase
