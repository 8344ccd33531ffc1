#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/option_table.h"
#include "lase/embed/features.h"
#include "lase/inference/link_options.h"
#include "lase/model/description.h"
#include "lase/model/options.h"
#include "lase/ops/device_options.h"
#include "lase/sampler/probabilities.h"

namespace lase {

// How the sums s(u) = Σ x_i over neighborhoods are estimated from sampled arcs.
//
//   kUniform    all arcs of a row with equal probability
//   kGate       in proportion to λ
//   kMinVar     in proportion to ‖x_i‖, which minimizes the variance of independent samples
//   kSnapshot   uniform, for the change since exact sums were computed: s̃(u) + Σ (x_i − x̃_i) / π_i
//   kAuto       whole neighborhoods if there are at most 65,536 training arcs, or at most 500
//   million
//               training arcs times training nodes; otherwise kSnapshot, or kUniform if the terms
//               change randomly from batch to batch or are not summed
enum class Strategy : uint8_t { kAuto, kUniform, kGate, kMinVar, kSnapshot };

// Whether a snapshot is refreshed in one pass over the graph (eager), or only for the nodes that
// batches touch (lazy). kAuto chooses the cheaper one.
enum class Refresh : uint8_t { kAuto, kEager, kLazy };

struct SamplingOptions {
  // One per layer, or one for all. Empty: 10; with a snapshot 10 in the last layer and 1 in others.
  std::vector<int64_t> fanout = {};
  Strategy strategy = Strategy::kAuto;
  Replacement replacement = Replacement::kWithout;
  // Empty: 0.3 for whole neighborhoods unless node features are projected, otherwise 0
  std::optional<double> link_dropout = {};
  int64_t refresh_every = 20;  // batches between refreshes
  Refresh refresh = Refresh::kAuto;
};

struct AdamOptions {
  // Coefficient of the penalty w² / 2. Empty: 0.0005 if node features are projected, otherwise 0
  std::optional<double> weight_decay = {};
  double clip = 0;  // clip every entry of a gradient to ±clip; 0: off
};

// Whether known labels of training nodes are features; see add_label_inputs(). kAuto: if short runs
// show a clearly better validation score.
enum class LabelInputs : uint8_t { kAuto, kOn, kOff };

// Whether the number of common neighbors of the nodes of a link is a link attribute; see
// add_common_neighbors(). kAuto: if short runs show a clearly better validation score.
enum class CommonNeighbors : uint8_t { kAuto, kOn, kOff };

enum class Schedule : uint8_t { kConstant, kCosine, kPlateau };

struct EpochReport;
struct BatchReport;

struct TrainOptions {
  Predicts predicts = Predicts::kAuto;
  ModelOptions model;
  // Learned from links with the training seed, in addition to the features of the graph. Unless
  // training is transductive, from the links that training may use first (FeatureOptions::online).
  FeatureOptions features{.embed = {.method = EmbedMethod::kAuto}};
  LabelInputs label_inputs = LabelInputs::kAuto;
  CommonNeighbors common_neighbors = CommonNeighbors::kAuto;
  NodeScaling node_scaling = NodeScaling::kAuto;
  int64_t epochs = 200;
  int64_t patience = 50;  // epochs without a better validation score; 0: train all epochs
  int64_t batch = 256;    // seed nodes per step; 0: all
  int64_t chunks = 0;     // of a batch, divided among processes; 0: 16 in a group, otherwise 1
  SamplingOptions sampling;
  LinkTaskOptions links;  // if links are predicted
  DeviceOptions device;
  bool transductive = false;      // train on all links
  bool strict_inductive = false;  // train only on links between training nodes
  double learning_rate = 0.01;
  Schedule schedule = Schedule::kConstant;
  AdamOptions adam{.clip = 5};
  bool balance = false;  // weight classes by their inverse frequency
  double average = 0.98;  // EMA of the weights over steps: w̄ ← average w̄ + (1 − average) w; 0: off
  // Metric of the best epoch on validation nodes; see Objective::select. "loss": the lowest loss.
  std::string select = "auto";
  bool calibrate = false;  // fit a temperature on validation seeds; see Objective::calibrate
  int64_t eval_every = 0;  // epochs between validations; 0: so many that they take little time
  uint64_t seed = 1;

  std::string checkpoint;  // file; empty: none
  int64_t checkpoint_every = 10;
  bool resume = false;  // resume from the checkpoint if there is one

  // Called after every epoch and after every batch (on a GPU, every 16 batches), from the training
  // thread.
  std::function<void(const EpochReport&)> progress;
  std::function<void(const BatchReport&)> batch_progress;
  std::function<void(double fraction)> feature_progress;  // while features are learned
  const std::atomic<bool>* stop = nullptr;                // stop after the current batch
};

const OptionTable<SamplingOptions>& sampling_option_table();
const OptionTable<AdamOptions>& adam_option_table();
// Options that determine the model; stored with it.
const OptionTable<TrainOptions>& train_option_table();
// Options for checkpoints.
const OptionTable<TrainOptions>& checkpoint_option_table();

// Options that differ from their defaults but have no effect on the task, and why.
struct UnusedOption {
  std::string name;
  std::string reason;
};
// `split`: whether the links of the graph have a split.
std::vector<UnusedOption> unused_task_options(const TrainOptions& options, Predicts predicts,
                                              bool split);

nlohmann::json to_json(const TrainOptions& options);
TaskOptions task_options(const TrainOptions& options);
// Throws Error if an option is out of range or contradicts another.
void check(const TrainOptions& options);

template <>
inline constexpr std::array<std::string_view, 5> kEnumNames<Strategy> = {"auto", "uniform", "gate",
                                                                         "min_var", "snapshot"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Refresh> = {"auto", "eager", "lazy"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<LabelInputs> = {"auto", "on", "off"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<CommonNeighbors> = {"auto", "on",
                                                                                "off"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Schedule> = {"constant", "cosine",
                                                                         "plateau"};

}  // namespace lase
