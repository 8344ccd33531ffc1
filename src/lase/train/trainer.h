#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lase/graph/divided_graph.h"
#include "lase/graph/graph.h"
#include "lase/inference/calibration.h"
#include "lase/inference/metrics.h"
#include "lase/model/model_file.h"
#include "lase/train/options.h"

namespace lase {

struct BatchReport {
  int64_t epoch = 0;  // from 1
  int64_t epochs = 0;
  int64_t batch = 0;  // from 1
  int64_t batches = 0;
  double loss = 0;     // mean of the epoch so far
  double seconds = 0;  // since the start
};

struct EpochReport {
  int64_t epoch = 0;  // from 1
  int64_t epochs = 0;
  double loss = 0;
  double learning_rate = 0;
  bool validated = false;
  Scores val;
  Metric headline;  // of val, or without a value
  double best = 0;  // best validation score so far
  int64_t best_epoch = 0;
  double seconds = 0;        // since the start
  double train_seconds = 0;  // of these in steps and refreshes, not in validation
  double links_per_second = 0;
  int64_t bytes_sent = 0;  // to other processes, by this one, since the start, not for validation
};

struct TrainResult {
  TrainedModel trained;  // with the best weights
  int64_t epochs = 0;
  int64_t best_epoch = 0;
  double setup_seconds = 0;    // before the first step
  double seconds = 0;          // since the first step
  double train_seconds = 0;    // of these in steps and refreshes
  double refresh_seconds = 0;  // of these in refreshes that block training
  double val_seconds = 0;      // in validation
  int64_t eval_every = 0;      // epochs between validations
  int64_t refreshes = 0;
  int64_t training_links = 0;
  int64_t links = 0;         // of the graph
  std::string device;        // cpu or cuda
  std::string on_cpu;        // parts of the graph that a GPU reads from memory of the CPU
  std::string sampling;      // human-readable description of neighbor sampling
  std::string features;      // why features were learned or not, if that was chosen automatically
  std::string label_inputs;  // why known labels are inputs or not, if that was chosen automatically
  std::string common_neighbors;  // why they are a link attribute or not, if that was chosen
  double links_per_second = 0;
  int64_t processes = 1;
  int64_t bytes_per_step = 0;  // sent to other processes, by this one, not for validation
  bool stopped = false;        // by `stop`
  std::string diverged;  // why training diverged; empty: it did not. The last good weights are kept
  std::string checkpoint_error;  // why a checkpoint could not be written; empty: no failure
  double val_loss = 0;           // of the best weights
  std::optional<TemperatureFit> calibration;  // if requested
  Scores val;
  Scores test;
};

// Trains a model on a graph. By default, training is inductive: it uses only links between training
// nodes and nodes that belong to no split, and leaves out training nodes without such a link;
// validation and test use all links. The same seed gives the same weights for any number of
// threads, and after resuming from any checkpoint. Several processes (ProcessScope) train together:
// all of them call this function with the same graph and options, and get the same result.
TrainResult train(const Graph& graph, const TrainOptions& options);

// The same for the labels of nodes in a graph of which each process has some parts. The weights are
// those of training on the whole graph with the same options, without learned features, common
// neighbors and known labels as inputs.
TrainResult train(const DividedGraph& graph, const TrainOptions& options);
// Throws Error if the options are not supported for such graphs.
void check_partitioned(const TrainOptions& options);

}  // namespace lase
