// Several processes compute the same bits as one.
#include <ATen/ATen.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/thread_processes.h"
#include "lase/base/workspace.h"
#include "lase/inference/inference.h"
#include "lase/inference/predict.h"
#include "lase/ops/divided_rows.h"
#include "lase/train/chunk_sum.h"
#include "lase/train/trainer.h"
#include "lase/train/validation.h"

#include "link_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

// Numbers of very different sizes, whose sum depends on the order of the additions.
Tensor chunk_vector(int64_t chunk, int64_t size) {
  Random random(5, chunk);
  Tensor x = random_floats(random, {size});
  return x * (chunk % 2 == 0 ? 1e6 : 1);
}

TEST(ChunkSum, HasTheSameBitsForAnyNumberOfProcessesAndThreads) {
  constexpr int64_t kSize = 11;
  for (const int64_t chunks : {1, 2, 5, 16}) {
    const auto total = [&](bool concurrent) {
      const auto take = [&](int64_t c) -> ChunkTask {
        return [c] { return chunk_vector(c, kSize); };
      };
      return sum_over_chunks(chunks, kSize, take, concurrent);
    };
    const Tensor expected = total(false);
    Tensor exact = at::zeros({kSize}, at::kDouble);
    for (int64_t c = 0; c < chunks; ++c) exact += chunk_vector(c, kSize);
    expect_close(expected.to(at::kDouble), exact, 1e-6, "sum");
    for (const int threads : {1, 2, 5, 20}) {
      const ThreadLimit limit(threads);
      expect_same_bits(total(true), expected, "sum of chunks in threads");
    }
    for (const int64_t processes : {1, 2, 3, 4, 7}) {
      run_processes(processes, [&](int64_t) {
        const ThreadLimit limit(2);
        for (const bool concurrent : {false, true}) {
          expect_same_bits(total(concurrent), expected, "sum of chunks");
        }
      });
    }
  }
}

TEST(ChunkSum, CallsForTheOwnChunksInOrder) {
  run_processes(3, [](int64_t) {
    const ThreadLimit limit(2);
    std::vector<int64_t> called;
    const auto take = [&](int64_t c) -> ChunkTask {
      called.push_back(c);
      return [] { return at::ones({1}); };
    };
    sum_over_chunks(8, 1, take, true);
    const Part own = own_chunks(8);
    ASSERT_EQ(std::ssize(called), own.size());
    for (int64_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(called[static_cast<size_t>(i)], own.first + i);
    }
  });
}

TEST(ChunkSum, RunsTasksInTheContextOfTheCaller) {
  run_processes(2, [](int64_t) {
    const std::atomic<bool> stop = false;
    const ContextScope context({.threads = 6, .stop = &stop});
    const Workspace workspace;
    const auto pool = Workspace::share();
    const ProcessGroup* group = current_processes();
    const auto take = [&](int64_t) -> ChunkTask {
      return [&] {
        EXPECT_EQ(current_processes(), group);
        EXPECT_EQ(Workspace::share(), pool);
        EXPECT_EQ(thread_count(), 6);  // those without a chunk help with the others
        EXPECT_EQ(Context::current().stop, &stop);
        return at::ones({1});
      };
    };
    sum_over_chunks(6, 1, take, true);
  });
}

TEST(ChunkSum, RunsTasksAtOnce) {
  const ThreadLimit limit(3);
  std::mutex mutex;
  std::condition_variable started;
  int running = 0;
  const auto take = [&](int64_t) -> ChunkTask {
    return [&] {
      std::unique_lock lock(mutex);
      ++running;
      started.notify_all();
      EXPECT_TRUE(started.wait_for(lock, std::chrono::minutes(1), [&] { return running == 3; }));
      return at::ones({1});
    };
  };
  sum_over_chunks(3, 1, take, true);
}

TEST(ChunkSum, TakesNoMoreChunksAfterAnError) {
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    for (const bool in_task : {false, true}) {
      int64_t taken = 0;
      const auto take = [&](int64_t c) -> ChunkTask {
        ++taken;
        if (c == 4 && !in_task) throw Error("no chunk");
        return [=] {
          if (c == 4) throw Error("no sum");
          return at::ones({1});
        };
      };
      EXPECT_THROW(sum_over_chunks(1000, 1, take, true), Error);
      if (in_task && threads > 1) {
        EXPECT_LT(taken, 1000);
      } else {
        EXPECT_EQ(taken, 5);
      }
    }
  }
}

TEST(DividedRows, AreCompletedFromAllProcesses) {
  const Tensor whole = at::arange(30, at::kLong).reshape({10, 3});
  run_processes(4, [&](int64_t rank) {
    const ops::DividedRows even(10);
    expect_same_bits(even.all(whole.slice(0, even.own().first, even.own().last)), whole, "rows");
    const ops::DividedRows uneven(10, {0, 0, 7, 8, 10});
    EXPECT_EQ(uneven.own().size(), (std::vector<int64_t>{0, 7, 1, 2}[static_cast<size_t>(rank)]));
    expect_same_bits(uneven.all(whole.slice(0, uneven.own().first, uneven.own().last)), whole,
                     "rows");
    // Fewer rows than processes are not divided.
    EXPECT_EQ(ops::DividedRows(3).own(), (Part{0, 3}));
    EXPECT_FALSE(even.all(Tensor()).defined());
  });
}

TEST(DividedRows, AreSentToTheProcessesThatReadThem) {
  const Tensor whole = at::arange(30, at::kFloat).reshape({10, 3});
  run_processes(4, [&](int64_t rank) {
    const ops::DividedRows divided(10, {0, 0, 7, 8, 10});
    std::vector<int64_t> read;  // own ones among them
    for (int64_t row = rank; row < 10; row += 2 + rank) read.push_back(row);
    const ops::RequestedRows requested(divided, read);
    const auto own = divided.own();
    const int64_t before = current_processes()->bytes_sent();
    const Tensor found = requested.from(whole.slice(0, own.first, own.last));
    int64_t given = 0;  // to others
    for (int64_t other = 0; other < 4; ++other) {
      for (int64_t row = other; row < 10; row += 2 + other) {
        if (other != rank && own.first <= row && row < own.last) ++given;
      }
    }
    EXPECT_EQ(current_processes()->bytes_sent() - before, given * 3 * 4);
    for (int64_t row = 0; row < 10; ++row) {
      const bool has = (own.first <= row && row < own.last) ||
                       std::find(read.begin(), read.end(), row) != read.end();
      expect_same_bits(found[row], has ? whole[row] : at::zeros({3}), join("row ", row));
    }
    // All rows of a matrix that is not divided.
    const ops::DividedRows same(3);
    expect_same_bits(ops::RequestedRows(same, {}).from(whole), whole, "rows");
  });
}

TrainOptions options_for(const std::string& model, const SamplingOptions& sampling) {
  TrainOptions options;
  options.model.model = model;
  options.model.widths = {4, 4};
  options.features.embed.method = EmbedMethod::kNone;
  options.epochs = 3;
  options.batch = 37;
  options.chunks = 5;
  options.sampling = sampling;
  return options;
}

// Trains in one process, then in several.
void expect_same_training(const Graph& graph, const TrainOptions& options,
                          const std::string& what) {
  SCOPED_TRACE(what);
  const TrainResult one = train(graph, options);
  EXPECT_EQ(one.bytes_per_step, 0);
  for (const int64_t processes : {2, 3, 4}) {
    std::mutex mutex;
    run_processes(processes, [&](int64_t) {
      const TrainResult several = train(graph, options);
      const std::lock_guard lock(mutex);
      SCOPED_TRACE(join(what, " in ", processes, " processes"));
      expect_same_weights(*several.trained.model, *one.trained.model);
      EXPECT_EQ(several.best_epoch, one.best_epoch);
      EXPECT_EQ(several.val.micro_f1, one.val.micro_f1);
      EXPECT_EQ(several.test.micro_f1, one.test.micro_f1);
      EXPECT_EQ(several.trained.training.at("options"), one.trained.training.at("options"));
      EXPECT_EQ(several.processes, processes);
      EXPECT_GT(several.bytes_per_step, 0);
    });
  }
}

TEST(Processes, TrainTheSameWeightsWithAnySampling) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  using S = SamplingOptions;
  for (const S& sampling :
       {S{}, S{.fanout = {3}, .strategy = Strategy::kUniform},
        S{.fanout = {3}, .strategy = Strategy::kGate, .refresh_every = 2},
        S{.fanout = {3}, .strategy = Strategy::kMinVar, .refresh_every = 2},
        S{.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh_every = 2},
        S{.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh = Refresh::kLazy}}) {
    expect_same_training(graph, options_for("lase", sampling),
                         std::string(name_of(sampling.strategy)));
  }
}

TEST(Processes, TrainTheSameWeightsWithLabelInputs) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  using S = SamplingOptions;
  for (const S& sampling :
       {S{}, S{.fanout = {3}, .strategy = Strategy::kMinVar, .refresh_every = 2},
        S{.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh_every = 2},
        S{.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh = Refresh::kLazy}}) {
    TrainOptions options = options_for("lase", sampling);
    options.label_inputs = LabelInputs::kOn;
    expect_same_training(graph, options, std::string(name_of(sampling.strategy)));
  }
}

TEST(Processes, TrainTheSameWeightsOfAnyModel) {
  const Graph graph = toy_graph({.nodes = 120, .links = 500, .split = true});
  for (const auto* model : {"sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"}) {
    expect_same_training(graph, options_for(model, {}), model);
  }
  TrainOptions options = options_for("lase", {});
  options.model.dropout = 0.3;
  options.chunks = 16;  // some of them empty
  options.batch = 10;
  options.balance = true;
  expect_same_training(graph, options, "dropout and empty chunks");
}

TEST(Processes, TrainTheSameWeightsOnLinks) {
  for (const auto predicts : {Predicts::kLinkPrediction, Predicts::kLinks}) {
    const bool labels = predicts == Predicts::kLinks;
    const Graph graph = random_links(
        {.nodes = 200,
         .links = 600,
         .categories = 3,
         .repeated = true,
         .role = labels ? RandomLinks::Role::kLabels : RandomLinks::Role::kAttributes});
    for (const SamplingOptions& sampling :
         {SamplingOptions{},
          SamplingOptions{.fanout = {2}, .strategy = Strategy::kSnapshot, .refresh_every = 2}}) {
      TrainOptions options = options_for("lase", sampling);
      options.predicts = predicts;
      options.links.prediction.negatives = 4;
      options.epochs = 2;
      expect_same_training(graph, options, "links");
    }
  }
}

TEST(Processes, ChooseInputsTogether) {
  Graph graph = toy_graph({.nodes = 60, .links = 240, .split = true});
  graph.nodes.features = {};
  graph.nodes.feature_names = {};
  TrainOptions options = options_for("lase", {});
  options.features.embed.method = EmbedMethod::kAuto;
  options.features.embed.width = 4;
  expect_same_training(graph, options, "learned features");
}

TEST(Processes, ComputeTheSameOutputs) {
  const Graph graph = toy_graph({.nodes = 90, .links = 300});
  const Inputs inputs(graph, no_scaling(graph));
  for (const auto* name : {"lase", "sage", "rw", "wl", "gcn", "raw"}) {
    const Model model = toy_model(graph, name);
    const bool layers = model.block_count() > 0;
    const std::vector<int64_t> fanouts(static_cast<size_t>(model.block_count()), 2);
    const Outputs exact = infer(model, inputs, graph);
    const Outputs sampled = infer_sampled(model, inputs, graph, fanouts, 1, 16);
    const auto passes =
        layers ? exact_pass(model, inputs, graph, ops::Score::kNorm) : std::vector<LayerPass>();
    for (const int64_t processes : {2, 3, 5}) {
      run_processes(processes, [&](int64_t) {
        for (const int64_t arcs : {0, 20}) {
          const Outputs found = infer(model, inputs, graph, Keep::kAll, arcs);
          expect_same_bits(found.embedding, exact.embedding, name);
          expect_same_bits(found.logits, exact.logits, name);
        }
        expect_same_bits(infer_sampled(model, inputs, graph, fanouts, 1, 16).logits, sampled.logits,
                         name);
        if (!layers) return;
        const auto found = exact_pass(model, inputs, graph, ops::Score::kNorm);
        for (size_t l = 0; l < passes.size(); ++l) {
          expect_same_bits(found[l].score, passes[l].score, name);
          for (size_t i = 0; i < passes[l].baseline.sums.size(); ++i) {
            expect_same_bits(found[l].baseline.sums[i], passes[l].baseline.sums[i], name);
          }
        }
      });
    }
  }
}

TEST(Processes, ComputeGraphsWithFewerNodesThanProcesses) {
  const Graph graph = toy_graph({.nodes = 3, .links = 2});
  const Inputs inputs(graph, no_scaling(graph));
  const Model model({.widths = {4}},
                    {.node_features = graph.nodes.features.columns,
                     .link_attributes = graph.link_attributes.columns,
                     .outputs = 3},
                    1);
  const Tensor expected = infer(model, inputs, graph).logits;
  run_processes(4, [&](int64_t) {
    expect_same_bits(infer(model, inputs, graph).logits, expected, "logits");
  });
}

class ProcessesFolder : public FolderTest {};

TEST_F(ProcessesFolder, ResumeInAnyNumber) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  TrainOptions options =
      options_for("lase", {.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh_every = 3});
  options.epochs = 6;
  const TrainResult expected = train(graph, options);
  options.checkpoint = path("checkpoint");
  options.checkpoint_every = 1;
  options.epochs = 2;
  run_processes(3, [&](int64_t) { train(graph, options); });
  EXPECT_EQ(files(), Strings{"checkpoint"});
  options.resume = true;
  options.epochs = 4;
  run_processes(2, [&](int64_t) { train(graph, options); });
  options.epochs = 6;
  expect_same_weights(*train(graph, options).trained.model, *expected.trained.model);
}

TEST(Processes, StopTogether) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  std::mutex mutex;
  std::vector<TrainResult> results;
  run_processes(3, [&](int64_t rank) {
    TrainOptions options = options_for("lase", {});
    options.epochs = 1000;
    options.patience = 0;
    std::atomic<bool> stop = false;
    options.stop = &stop;
    options.progress = [&](const EpochReport& report) {
      if (rank == 1 && report.epoch == 2) stop = true;
    };
    TrainResult result = train(graph, options);
    const std::lock_guard lock(mutex);
    results.push_back(std::move(result));
  });
  for (const TrainResult& result : results) {
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.epochs, 2);
    expect_same_weights(*result.trained.model, *results[0].trained.model);
  }
}

TEST(Processes, RefuseToTrainOnDifferentGraphsOrWithDifferentOptions) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .split = true});
  const Graph other = toy_graph({.nodes = 60, .links = 200, .split = true, .seed = 2});
  const auto expect_refused = [&](const std::function<void(int64_t, TrainOptions&)>& change,
                                  std::initializer_list<std::string> parts) {
    expect_error(
        [&] {
          run_processes(2, [&](int64_t rank) {
            TrainOptions options = options_for("lase", {});
            change(rank, options);
            train(rank == 1 && options.seed == 9 ? other : graph, options);
          });
        },
        parts);
  };
  expect_refused([](int64_t rank, TrainOptions& options) { options.epochs = 3 + rank; },
                 {"cannot train together: the option epochs is 3 in process 0 and 4 in process 1"});
  expect_refused([](int64_t, TrainOptions& options) { options.seed = 9; },
                 {"cannot train together: the graph is"});
  expect_refused([](int64_t, TrainOptions& options) { options.chunks = 1; },
                 {"chunks 1: too few for 2 processes; set chunks to at least 2"});
}

}  // namespace
}  // namespace lase
