// Training on a partitioned graph gives the same bits as on the whole graph.
#include <ATen/ATen.h>
#include <mutex>
#include <string>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/thread_processes.h"
#include "lase/graph/divided_graph.h"
#include "lase/graph/graph_parts.h"
#include "lase/inference/divided_pass.h"
#include "lase/inference/divided_predictor.h"
#include "lase/inference/predict.h"
#include "lase/ops/fetched_rows.h"
#include "lase/sampler/divided_sampler.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

// Parts that have nothing to do with the links.
Partition random_partition(const Graph& graph, int64_t parts) {
  Partition partition{parts, {}};
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    Random random(17, u);
    const auto part = u < parts ? u : static_cast<int64_t>(random.below(parts));
    partition.part.push_back(static_cast<uint16_t>(part));
  }
  return partition;
}

class Parts : public FolderTest {
 protected:
  // Writes the parts of a graph and returns their folder.
  std::string parts_of(const Graph& graph, int64_t parts) {
    std::string folder = path("parts" + std::to_string(number_++));
    save_parts(graph, random_partition(graph, parts), folder);
    return folder;
  }

 private:
  int number_ = 0;
};

TEST_F(Parts, AreFetchedByRow) {
  const Graph graph = toy_graph({.nodes = 50, .links = 80});
  const std::string folder = parts_of(graph, 5);
  for (const int64_t processes : {1, 2, 5}) {
    run_processes(processes, [&](int64_t rank) {
      const DividedGraph divided(folder);
      Tensor own = at::empty({divided.own_nodes().size(), 2});
      for (int64_t row = 0; row < own.size(0); ++row) own[row].fill_(divided.own_nodes()[row]);
      std::vector<int64_t> nodes;  // some of them twice
      for (int64_t i = 0; i < 40 + rank; ++i) nodes.push_back((7 * i + rank) % 50);
      const ops::FetchedRows rows(*current_processes(), divided.places(nodes));
      const Tensor found = rows.from(own);
      const Attributes features = rows.from(divided.own().nodes.features);
      for (size_t i = 0; i < nodes.size(); ++i) {
        EXPECT_EQ(found[static_cast<int64_t>(i)][1].item<float>(), static_cast<float>(nodes[i]));
        EXPECT_EQ(to_rows(features)[i],
                  to_rows(graph.nodes.features)[static_cast<size_t>(nodes[i])]);
      }
    });
  }
}

// A row of a block: the neighbors and link attributes of a target, in order.
std::vector<Doubles> arcs_of(const Block& block, const Tensor& nodes, const Attributes& links,
                             int64_t target) {
  std::vector<Doubles> arcs;
  const Matrix rows = to_rows(links);
  for (int64_t i = block.row_ptr[target].item<int64_t>();
       i < block.row_ptr[target + 1].item<int64_t>(); ++i) {
    Doubles arc = rows[static_cast<size_t>(block.link[i].item<int64_t>())];
    arc.push_back(nodes[block.source[i].item<int64_t>()].item<double>());
    arc.push_back(block.weight[i].item<double>());
    arcs.push_back(std::move(arc));
  }
  return arcs;
}

TEST_F(Parts, AreSampledLikeTheWholeGraph) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.nodes = 60, .links = 400, .layout = layout});
    const std::string folder = parts_of(graph, 3);
    const Sampling sampling{.fanouts = {3, 2}, .link_dropout = 0.2};
    run_processes(3, [&](int64_t rank) {
      const DividedGraph divided(folder);
      const DividedSampler sampler(divided, divided.own(), sampling);
      std::vector<DividedSampler::Seeds> seeds;
      for (int64_t batch = 0; batch < rank + 1; ++batch) {  // as many batches as the rank, plus one
        seeds.push_back({{batch, 20 + batch, 59 - rank}, batch});
      }
      const auto sampled = sampler.sample(*current_processes(), seeds, {5, 2, 0});
      ASSERT_EQ(sampled.batches.size(), seeds.size());
      for (size_t i = 0; i < seeds.size(); ++i) {
        BatchBuilder builder = sampled.batches[i];
        const Tensor nodes = index_tensor(builder.nodes());
        const Batch expected =
            sample_batch(graph, seeds[i].nodes, sampling, {5, 2, seeds[i].batch});
        const Batch found = builder.finish(expected.blocks[0].degree);
        EXPECT_TRUE(at::equal(nodes, expected.nodes));
        for (size_t l = 0; l < 2; ++l) {
          const Block& block = expected.blocks[l];
          ASSERT_EQ(found.blocks[l].targets(), block.targets());
          for (int64_t target = 0; target < block.targets(); ++target) {
            EXPECT_EQ(arcs_of(found.blocks[l], nodes, sampled.links, target),
                      arcs_of(block, nodes, graph.link_attributes, target));
          }
        }
      }
    });
  }
}

TrainOptions options_for(const std::string& model, const SamplingOptions& sampling) {
  TrainOptions options;
  options.model.model = model;
  options.model.widths = {4, 4};
  options.features.embed.method = EmbedMethod::kNone;
  options.label_inputs = LabelInputs::kOff;
  options.common_neighbors = CommonNeighbors::kOff;
  options.epochs = 3;
  options.batch = 37;
  options.chunks = 5;
  options.sampling = sampling;
  if (sampling.strategy == Strategy::kSnapshot) options.sampling.refresh = Refresh::kEager;
  return options;
}

void expect_same_results(const TrainResult& found, const TrainResult& expected) {
  expect_same_weights(*found.trained.model, *expected.trained.model);
  EXPECT_EQ(found.best_epoch, expected.best_epoch);
  EXPECT_EQ(found.eval_every, expected.eval_every);
  EXPECT_EQ(found.val.micro_f1, expected.val.micro_f1);
  EXPECT_EQ(found.test.micro_f1, expected.test.micro_f1);
  EXPECT_EQ(found.training_links, expected.training_links);
  EXPECT_EQ(found.sampling, expected.sampling);
  EXPECT_EQ(found.refreshes, expected.refreshes);
}

// Trains on the whole graph in one process, then on 4 parts in several.
void expect_same_training(const Graph& graph, const std::string& folder,
                          const TrainOptions& options, const std::string& what) {
  SCOPED_TRACE(what);
  const TrainResult expected = train(graph, options);
  expect_same_results(train(DividedGraph(folder), options), expected);
  for (const int64_t processes : {2, 3, 4}) {
    std::mutex mutex;
    run_processes(processes, [&](int64_t) {
      const DividedGraph divided(folder);
      const TrainResult found = train(divided, options);
      const std::lock_guard lock(mutex);
      SCOPED_TRACE(join(what, " in ", processes, " processes"));
      expect_same_results(found, expected);
      EXPECT_EQ(found.processes, processes);
    });
  }
}

TEST_F(Parts, TrainTheSameWeightsWithAnySampling) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  const std::string folder = parts_of(graph, 4);
  using S = SamplingOptions;
  for (const S& sampling :
       {S{}, S{.fanout = {3}, .strategy = Strategy::kUniform},
        S{.fanout = {3}, .strategy = Strategy::kUniform, .link_dropout = 0.3},
        S{.fanout = {3}, .strategy = Strategy::kGate, .refresh_every = 2},
        S{.fanout = {3}, .strategy = Strategy::kMinVar, .refresh_every = 2},
        S{.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh_every = 2}}) {
    expect_same_training(graph, folder, options_for("lase", sampling),
                         std::string(name_of(sampling.strategy)));
  }
}

TEST_F(Parts, TrainTheSameWeightsOfAnyModel) {
  const Graph graph = toy_graph({.nodes = 120, .links = 500, .split = true});
  const std::string folder = parts_of(graph, 4);
  for (const auto* model : {"sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"}) {
    expect_same_training(graph, folder, options_for(model, {}), model);
    if (std::string(model) == "raw") continue;
    expect_same_training(
        graph, folder,
        options_for(model, {.fanout = {2}, .strategy = Strategy::kSnapshot, .refresh_every = 2}),
        std::string(model) + " with a snapshot");
  }
  TrainOptions options = options_for("lase", {});
  options.model.dropout = 0.3;
  options.chunks = 16;  // some of them empty
  options.batch = 10;
  options.balance = true;
  options.transductive = true;
  expect_same_training(graph, folder, options, "dropout, empty chunks, all links");
}

TEST_F(Parts, TrainTheSameWeightsInEveryLayout) {
  for (const Layout layout : kLayouts) {
    for (const bool directed : {false, true}) {
      Graph graph = toy_graph({.nodes = 120,
                               .links = 500,
                               .layout = layout,
                               .feature_layout = layout,
                               .directed = directed,
                               .split = true});
      if (directed) graph.nodes.features = {};  // degrees in their place
      if (directed) graph.nodes.feature_names = {};
      TrainOptions options =
          options_for("lase", {.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh_every = 2});
      if (layout == Layout::kSparse) options.model.project = 4;
      expect_same_training(graph, parts_of(graph, 4), options,
                           join(layout_name(layout), directed ? ", directed" : ""));
    }
  }
}

// All nodes are visible, but training is not transductive: nodes without links are left out.
TEST_F(Parts, TrainTheSameWeightsWithoutASplit) {
  const Graph graph = toy_graph({.nodes = 120, .links = 90});
  expect_same_training(graph, parts_of(graph, 4), options_for("lase", {}), "without a split");
}

TEST_F(Parts, RefuseDifferentPartitions) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .split = true});
  const std::string a = parts_of(graph, 2);
  const std::string b = parts_of(graph, 3);
  expect_error([&] { run_processes(2, [&](int64_t rank) { DividedGraph{rank == 0 ? a : b}; }); },
               {"cannot read a partitioned graph together: the partition is"});
}

TEST_F(Parts, ResumeInAnyNumberOfProcesses) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  const std::string folder = parts_of(graph, 4);
  TrainOptions options =
      options_for("lase", {.fanout = {3}, .strategy = Strategy::kSnapshot, .refresh_every = 3});
  options.epochs = 6;
  const TrainResult expected = train(graph, options);
  options.checkpoint = path("checkpoint");
  options.checkpoint_every = 1;
  options.epochs = 2;
  run_processes(3, [&](int64_t) { train(DividedGraph(folder), options); });
  options.resume = true;
  options.epochs = 4;
  run_processes(2, [&](int64_t) { train(graph, options); });  // the whole graph
  options.epochs = 6;
  run_processes(4, [&](int64_t) {
    expect_same_weights(*train(DividedGraph(folder), options).trained.model,
                        *expected.trained.model);
  });
}

TEST_F(Parts, StopTogether) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  const std::string folder = parts_of(graph, 3);
  run_processes(3, [&](int64_t rank) {
    TrainOptions options = options_for("lase", {});
    options.epochs = 1000;
    options.patience = 0;
    std::atomic<bool> stop = false;
    options.stop = &stop;
    options.batch_progress = [&](const BatchReport& report) {
      if (rank == 1 && report.epoch == 2 && report.batch == 2) stop = true;
    };
    const TrainResult result = train(DividedGraph(folder), options);
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.epochs, 1);
  });
}

TEST_F(Parts, FailTogether) {
  const Graph graph = toy_graph({.nodes = 300, .links = 1500, .split = true});
  const std::string folder = parts_of(graph, 3);
  expect_error(
      [&] {
        run_processes(3, [&](int64_t rank) {
          TrainOptions options = options_for("lase", {});
          options.epochs = 1000;
          options.batch_progress = [&](const BatchReport& report) {
            require(rank != 1 || report.epoch < 2, "the disk is full");
          };
          train(DividedGraph(folder), options);
        });
      },
      {"the disk is full"});
}

TEST_F(Parts, GiveThePredictionsOfTheWholeGraph) {
  const Graph graph = toy_graph({.nodes = 150, .links = 600, .split = true});
  const std::string folder = parts_of(graph, 3);
  const TrainResult result = train(graph, options_for("lase", {}));
  const Predictions expected = predict(result.trained, graph);
  write_predictions(result.trained, graph, expected, {.top_k = 2}, path("expected.csv"));
  write_embeddings(graph, expected.embedding, path("expected.npy"));
  write_embeddings(graph, expected.embedding, path("expected_rows.csv"));
  for (const int64_t processes : {1, 3}) {
    run_processes(processes, [&](int64_t rank) {
      const DividedGraph divided(folder);
      const DividedPredictor predictor(result.trained, divided);
      const std::vector<int64_t> nodes = {5, rank, 149};
      expect_same_bits(predictor.outputs(nodes),
                       expected.outputs.index_select(0, index_tensor(nodes)), "outputs");
      expect_same_bits(predictor.embedding(nodes),
                       expected.embedding.index_select(0, index_tensor(nodes)), "embedding");
      predictor.write({.top_k = 2}, path("found.csv"));
      predictor.write_embeddings(path("found.npy"));
      predictor.write_embeddings(path("found_rows.csv"));
    });
    for (const std::string name : {".csv", ".npy", "_rows.csv"}) {
      EXPECT_EQ(read_file(path("found" + name)), read_file(path("expected" + name))) << name;
    }
  }
}

// Whether the states of neighbors in other processes are fetched at once or for a few rows at a
// time.
TEST_F(Parts, ComputeTheStatesOfTheWholeGraph) {
  const Graph graph = toy_graph({.nodes = 150, .links = 600});
  const std::string folder = parts_of(graph, 3);
  const Inputs inputs(graph, no_scaling(graph));
  for (const auto* name : {"lase", "wl", "gcn"}) {
    const Model model = toy_model(graph, name);
    const Outputs expected = infer(model, inputs, graph);
    const auto layers = exact_pass(model, inputs, graph, ops::Score::kNorm);
    for (const FetchLimits limits :
         {FetchLimits{}, FetchLimits{.few = 0}, FetchLimits{.few = 0, .bytes = 64},
          FetchLimits{.few = 0, .bytes = 0}}) {
      run_processes(3, [&](int64_t) {
        const DividedGraph divided(folder);
        const Inputs own(divided.own(), no_scaling(graph));
        const DividedPass pass(model, own, divided, divided.own(), limits);
        const std::vector<int64_t> nodes(divided.own_nodes().begin(), divided.own_nodes().end());
        const Tensor index = index_tensor(nodes);
        for (int repeat = 0; repeat < 2; ++repeat) {
          expect_same_bits(pass.infer().logits, expected.logits.index_select(0, index), name);
          const auto found = pass.exact_pass(ops::Score::kNorm);
          for (size_t l = 0; l < layers.size(); ++l) {
            for (size_t i = 0; i < layers[l].baseline.sums.size(); ++i) {
              expect_same_bits(found[l].baseline.sums[i],
                               layers[l].baseline.sums[i].index_select(0, index), name);
            }
            int64_t arc = 0;
            for (const int64_t node : nodes) {
              for (int64_t j = graph.row_ptr[node]; j < graph.row_ptr[node + 1]; ++j) {
                EXPECT_EQ(found[l].score[arc++].item<float>(), layers[l].score[j].item<float>());
              }
            }
          }
        }
      });
    }
  }
}

TEST_F(Parts, RejectWhatTheyDoNotSupport) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200, .split = true});
  const std::string folder = parts_of(graph, 2);
  const auto expect_rejected = [&](const std::function<void(TrainOptions&)>& change,
                                   std::initializer_list<std::string> words) {
    TrainOptions options = options_for("lase", {.fanout = {2}, .strategy = Strategy::kSnapshot});
    change(options);
    expect_error([&] { train(DividedGraph(folder), options); }, words);
  };
  expect_rejected(
      [](TrainOptions& o) { o.predicts = Predicts::kLinkPrediction; },
      {"task: not supported for partitioned graphs, which support only labels of nodes"});
  expect_rejected([](TrainOptions& o) { o.features.embed.method = EmbedMethod::kLine; },
                  {"features: not supported for partitioned graphs"});
  expect_rejected([](TrainOptions& o) { o.label_inputs = LabelInputs::kOn; }, {"label_inputs"});
  expect_rejected([](TrainOptions& o) { o.common_neighbors = CommonNeighbors::kOn; },
                  {"common_neighbors: not supported for partitioned graphs"});
  expect_rejected([](TrainOptions& o) { o.device.device = DeviceChoice::kCuda; }, {"device"});
  expect_rejected([](TrainOptions& o) { o.sampling.refresh = Refresh::kLazy; },
                  {"refresh lazy: not supported for partitioned graphs; use eager"});
  TrainOptions options = options_for("lase", {});
  options.common_neighbors = CommonNeighbors::kOn;
  const TrainedModel reads_common = train(graph, options).trained;
  expect_error([&] { DividedPredictor(reads_common, DividedGraph(folder)); },
               {"partitioned graphs do not support models that read common neighbors; train with "
                "common_neighbors off"});
  options.common_neighbors = CommonNeighbors::kAuto;
  EXPECT_FALSE(train(DividedGraph(folder), options).trained.common_neighbors);
  expect_error([&] { run_processes(3, [&](int64_t) { DividedGraph{folder}; }); },
               {"has 2 parts for 3 processes"});
}

}  // namespace
}  // namespace lase
