#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lase/graph/graph.h"
#include "lase/inference/metrics.h"
#include "lase/model/model_file.h"
#include "lase/train/adam.h"
#include "lase/train/estimator.h"

namespace lase {

enum class Schedule : uint8_t { kConstant, kCosine, kPlateau };

struct TrainOptions {
  ModelOptions model;
  std::optional<FeatureOptions> features;  // learned from links, beside those of the graph
  NodeScaling node_scaling = NodeScaling::kStandard;
  int64_t epochs = 200;
  int64_t patience = 50;  // epochs without a better validation score; 0: train all epochs
  int64_t batch = 512;    // seeds a step; 0: all of them
  SamplingOptions sampling;
  bool transductive = false;
  double learning_rate = 0.01;
  Schedule schedule = Schedule::kConstant;
  AdamOptions adam{.weight_decay = 0, .clip = 5};
  bool balance = false;  // weigh classes by the inverse of their number
  double average = 0.98;  // of the weights over steps: w̄ ← average w̄ + (1 − average) w; 0: none
  bool select_by_loss = false;  // the best epoch has the lowest loss, not the highest score
  int64_t eval_every = 1;
  uint64_t seed = 1;

  std::string checkpoint;  // file; empty: none
  int64_t checkpoint_every = 10;
  bool resume = false;  // go on from the checkpoint where there is one

  // Called after every epoch and after every batch, from the training thread.
  std::function<void(const struct EpochReport&)> progress;
  std::function<void(const struct BatchReport&)> batch_progress;
  const std::atomic<bool>* stop = nullptr;  // end after the batch in work
};

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
  double best = 0;  // best validation headline so far
  int64_t best_epoch = 0;
  double seconds = 0;        // since the start
  double train_seconds = 0;  // of them in steps and renewals, not in validation
  double links_per_second = 0;
};

struct TrainResult {
  TrainedModel trained;  // with the best weights
  int64_t epochs = 0;
  int64_t best_epoch = 0;
  double setup_seconds = 0;    // before the first step
  double seconds = 0;          // since then
  double train_seconds = 0;    // of them in steps and renewals
  double renewal_seconds = 0;  // of these in renewals, where training waits for them
  int64_t renewals = 0;
  std::string sampling;  // how neighbourhoods were drawn, for people
  double links_per_second = 0;
  bool stopped = false;  // by `stop`
  std::string diverged;  // where the loss ceased to be a number; the last good weights are kept
  std::string checkpoint_error;  // why a checkpoint could not be written; empty: all were
  double val_loss = 0;           // of the best weights
  Scores val;
  Scores test;
};

// Trains a model on a graph. The paper's protocol by default: training sees only links between
// training nodes, and training nodes without such a link are left out; validation and test nodes
// see all their links. The same seed gives the same weights for any number of threads, and from any
// checkpoint on.
TrainResult train(const Graph& graph, const TrainOptions& options);

std::string_view name_of(Schedule value);
Schedule schedule_from(std::string_view name);
std::string_view name_of(NodeScaling value);
NodeScaling node_scaling_from(std::string_view name);
nlohmann::json to_json(const TrainOptions& options);
// The options with those that the object names, under the names of to_json, changed.
TrainOptions changed_options(TrainOptions options, const nlohmann::json& changes);

}  // namespace lase
