#include "lase/train/trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <chrono>
#include <cmath>
#include <optional>
#include <span>

#include "lase/base/checksum.h"
#include "lase/base/denormals.h"
#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/format.h"
#include "lase/base/process_group.h"
#include "lase/inference/inference.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/precision.h"
#include "lase/ops/recording.h"
#include "lase/ops/same_processes.h"
#include "lase/ops/workspace.h"
#include "lase/train/best_weights.h"
#include "lase/train/checkpoints.h"
#include "lase/train/choose_inputs.h"
#include "lase/train/epoch.h"
#include "lase/train/learning_rate.h"
#include "lase/train/training_data.h"
#include "lase/train/validation.h"

namespace lase {
namespace {

using at::Tensor;
using nlohmann::json;

const TrainOptions& checked(const TrainOptions& options) {
  check(options);
  return options;
}

// One training run.
class Trainer {
 public:
  Trainer(const Graph& graph, const TrainOptions& options, LearnedFeatures learned = {})
      : Trainer(options, options.checkpoint.empty() ? "" : fingerprint(graph),
                prepare_training(graph, options, std::move(learned))) {}
  Trainer(const DividedGraph& graph, const TrainOptions& options)
      : Trainer(options, fingerprint(graph.whole().graph), prepare_training(graph, options)) {}

  TrainResult run(double setup_seconds);

 private:
  Trainer(const TrainOptions& options, std::string graph, std::unique_ptr<TrainingData> data)
      : options_(checked(options)),
        graph_(std::move(graph)),
        checkpoints_({options.checkpoint, options.checkpoint_every, options.resume}),
        prepared_(std::move(data)),
        data_(*prepared_),
        model_(*data_.trained.model),
        epochs_(options_, data_),
        rate_(options),
        best_({.by_loss = options.select == "loss", .patience = options.patience}),
        eval_every_(options.eval_every) {
    if (!data_.protocol.val.empty()) {
      validation_ = exact_outputs(data_.protocol.val, data_.protocol.val_graph);
    }
  }

  std::unique_ptr<ExactOutputs> exact_outputs(const std::vector<int64_t>& seeds,
                                              const Adjacency& graph) const;
  void run_epochs();
  bool run_epoch();
  void validate(EpochReport& report);
  // Exact outputs for the seeds of the validation and test splits, or for training seeds if both
  // are empty.
  struct SplitOutputs {
    Tensor val;
    Tensor test;
    Tensor train;
    bool finite() const;
  };
  SplitOutputs outputs() const;
  void keep_best();
  void score_weights();
  json run_options() const;
  void save();
  void resume();

  const TrainOptions& options_;
  std::string graph_;  // fingerprint
  Checkpoints checkpoints_;
  std::unique_ptr<TrainingData> prepared_;
  TrainingData& data_;
  Model& model_;
  EpochRunner epochs_;
  LearningRate rate_;
  BestWeights best_;
  std::unique_ptr<ExactOutputs> validation_;
  int64_t eval_every_;  // 0: not known yet
  double val_seconds_ = 0;
  json curve_ = json::array();
  TrainResult result_;  // result_.epochs: completed epochs
};

std::unique_ptr<ExactOutputs> Trainer::exact_outputs(const std::vector<int64_t>& seeds,
                                                     const Adjacency& graph) const {
  if (data_.divided) return data_.divided->validation(model_, *data_.inputs, seeds);
  return std::make_unique<Validation>(model_, *data_.inputs, graph, seeds, *data_.seeds);
}

TrainResult Trainer::run(double setup_seconds) {
  result_.setup_seconds = setup_seconds;
  result_.training_links = data_.protocol.training_links;
  result_.links = data_.graph.links;
  resume();
  run_epochs();
  result_.stopped = epochs_.stopped();
  result_.diverged = epochs_.diverged();
  keep_best();
  result_.best_epoch = best_.epoch();
  if (best_.validated()) result_.val_loss = best_.loss();
  result_.seconds = epochs_.seconds();
  result_.train_seconds = epochs_.train_seconds();
  result_.refresh_seconds = epochs_.refresh_seconds();
  result_.val_seconds = val_seconds_;
  result_.eval_every = eval_every_;
  result_.refreshes = epochs_.estimator().refresh_count();
  result_.sampling = epochs_.estimator().describe();
  result_.links_per_second = epochs_.links_per_second();
  result_.processes = process_count();
  result_.bytes_per_step = epochs_.bytes_sent() / std::max<int64_t>(1, epochs_.steps());
  result_.checkpoint_error = checkpoints_.error();
  validation_.reset();
  score_weights();
  result_.device = data_.device.is_cpu() ? "cpu" : "cuda";
  result_.on_cpu = describe(data_.inputs->residence());
  data_.trained.model->parameters().to(at::kCPU);
  result_.trained = std::move(data_.trained);
  result_.trained.training = {{"options", to_json(options_)},
                              {"epochs", result_.epochs},
                              {"best_epoch", result_.best_epoch},
                              {"curve", curve_}};
  return std::move(result_);
}

void Trainer::run_epochs() {
  while (result_.epochs < options_.epochs) {
    if (!best_.should_continue(result_.epochs) || epochs_.stopped()) return;
    if (!run_epoch()) return;
    if (checkpoints_.due(result_.epochs, options_.epochs)) save();
  }
}

// Returns whether the loss was finite and the run was not stopped.
bool Trainer::run_epoch() {
  const double rate = rate_.at(result_.epochs);
  const int64_t links = epochs_.links();
  const auto loss = epochs_.run(result_.epochs, rate);
  if (!loss) return false;
  if (eval_every_ == 0) {
    eval_every_ = validation_ ? validation_->interval(epochs_.links() - links, options_.patience,
                                                      options_.epochs)
                              : 1;
  }
  ++result_.epochs;
  EpochReport report;
  report.epoch = result_.epochs;
  report.epochs = options_.epochs;
  report.loss = *loss;
  report.learning_rate = rate;
  const bool last = result_.epochs == options_.epochs;
  if (last || result_.epochs % eval_every_ == 0) validate(report);
  report.headline = data_.objective->headline(report.val);
  report.best = report.headline.lower_is_better ? -best_.score() : best_.score();
  report.best_epoch = best_.epoch();
  report.seconds = epochs_.seconds();
  report.train_seconds = epochs_.train_seconds();
  report.links_per_second = epochs_.links_per_second();
  report.bytes_sent = epochs_.bytes_sent();
  json point = {{"epoch", report.epoch}, {"loss", report.loss}};
  if (report.validated) point["val"] = data_.objective->headline(report.val).value;
  curve_.push_back(point);
  if (options_.progress) options_.progress(report);
  return true;
}

void Trainer::validate(EpochReport& report) {
  const NamedTensors& average = epochs_.average().values();
  const std::vector<int64_t>& nodes = data_.protocol.val;
  if (nodes.empty()) {
    best_.take(report.epoch, average);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  c10::NoGradGuard no_grad;
  const NamedTensors weights = model_.parameters().copy();
  model_.parameters().set(average);
  const Tensor outputs = validation_->outputs();
  model_.parameters().set(weights);
  Objective& objective = *data_.objective;
  const Tensor predictions = objective.predictions(outputs);
  objective.tune_decision(predictions, nodes);
  report.validated = true;
  report.val = objective.score(predictions, nodes, Objective::Detail::kDecisions);
  const Tensor loss = objective.validation_loss(outputs, nodes).mean();
  rate_.validated(best_.offer(report.epoch, objective.headline(report.val).merit(),
                              static_cast<double>(loss.item<float>()), average));
  val_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Sets the best weights: without validation the last ones, or the last good ones if training
// diverged.
void Trainer::keep_best() {
  if (!result_.diverged.empty() && !best_.validated()) {
    model_.parameters().set(epochs_.good_weights());
  } else if (best_.epoch() > 0) {
    model_.parameters().set(best_.weights());
  }
}

bool Trainer::SplitOutputs::finite() const {
  const auto all = [](const Tensor& x) { return !x.defined() || x.isfinite().all().item<bool>(); };
  return all(val) && all(test) && all(train);
}

Trainer::SplitOutputs Trainer::outputs() const {
  const Protocol& protocol = data_.protocol;
  const auto of = [&](const std::vector<int64_t>& seeds, const Adjacency& graph) {
    return seeds.empty() ? Tensor() : exact_outputs(seeds, graph)->outputs();
  };
  if (protocol.val.empty() && protocol.test.empty()) {
    return {{}, {}, of(protocol.train, protocol.test_graph)};
  }
  if (predicts_links(options_.predicts)) {
    return {of(protocol.val, protocol.val_graph), of(protocol.test, protocol.test_graph), {}};
  }
  // Both use the same graph: one pass.
  std::vector<int64_t> both = protocol.val;
  both.insert(both.end(), protocol.test.begin(), protocol.test.end());
  const Tensor rows = of(both, protocol.test_graph);
  const auto val = std::ssize(protocol.val);
  return {rows.slice(0, 0, val), rows.slice(0, val), {}};
}

void Trainer::score_weights() {
  Objective& objective = *data_.objective;
  SplitOutputs logits = outputs();
  if (!logits.finite() && result_.diverged.empty()) {
    // The last step diverged, after the last loss was computed.
    result_.diverged = join("the outputs are not finite after epoch ", result_.epochs,
                            "; try a lower learning rate");
    model_.parameters().set(epochs_.good_weights());
    logits = outputs();
  }
  const Protocol& protocol = data_.protocol;
  if (options_.calibrate) result_.calibration = objective.calibrate(logits.val, protocol.val);
  if (!protocol.val.empty()) {
    objective.tune_decision(objective.predictions(logits.val), protocol.val);
  }
  data_.trained.decision = objective.decision();
  const auto score = [&](const Tensor& rows, const std::vector<int64_t>& seeds) {
    return seeds.empty() ? Scores() : objective.score(objective.predictions(rows), seeds);
  };
  result_.val = score(logits.val, protocol.val);
  result_.test = score(logits.test, protocol.test);
}

// The options that determine the weights.
json Trainer::run_options() const {
  json all = to_json(options_);
  all["graph"] = graph_;
  all.erase("calibrate");
  // A run may be resumed on another device.
  for (const auto& option : device_option_table().options()) all.erase(option.info.name);
  // Otherwise more epochs continue the run.
  if (options_.schedule != Schedule::kCosine) all.erase("epochs");
  if (epochs_.estimator().lazy()) all["checkpoint_every"] = options_.checkpoint_every;
  return all;
}

void Trainer::save() {
  Checkpoint checkpoint;
  checkpoint.epoch = result_.epochs;
  checkpoint.progress.curve = curve_;
  checkpoint.progress.best = best_.state();
  checkpoint.progress.learning_rate = rate_.state();
  checkpoint.progress.eval_every = eval_every_;
  checkpoint.options = run_options();
  epochs_.save(checkpoint);
  checkpoint.best = best_.epoch() > 0 ? best_.weights() : checkpoint.average;
  checkpoints_.save(checkpoint);
}

void Trainer::resume() {
  auto checkpoint = checkpoints_.load(model_.parameters(), run_options());
  if (ProcessGroup* group = current_processes()) {
    const std::string contents = checkpoint ? read_file(options_.checkpoint) : "";
    require_agreement(*group,
                      {{"epoch of the checkpoint", checkpoint ? checkpoint->epoch : 0},
                       {"checkpoint", checksum_text(checksum(std::as_bytes(std::span(contents))))}},
                      "resume together");
  }
  if (!checkpoint) return;
  epochs_.restore(*checkpoint);
  best_.restore(checkpoint->progress.best, std::move(checkpoint->best));
  rate_.restore(checkpoint->progress.learning_rate);
  curve_ = std::move(checkpoint->progress.curve);
  result_.epochs = checkpoint->epoch;
  if (checkpoint->progress.eval_every > 0) eval_every_ = checkpoint->progress.eval_every;
}

// The number of chunks, with the default for this number of processes.
int64_t resolved_chunks(int64_t chunks) {
  constexpr int64_t kUsual = 16;
  const int64_t processes = process_count();
  if (chunks == 0) chunks = current_processes() == nullptr ? 1 : kUsual;
  require_option(chunks >= processes, OptionName{"chunks"}, " ", chunks, ": too few for ",
                 processes, " processes; set ", OptionName{"chunks"}, " to at least ", processes);
  return chunks;
}

// Processes give the same weights only if they compute the same on the same data.
void require_same_task(const Graph& graph, const TrainOptions& options, const at::Device& device) {
  if (current_processes() == nullptr) return;
  json about = {{"graph", fingerprint(graph)}, {"device", device.is_cpu() ? "cpu" : "cuda"}};
  const json values = to_json(options);
  for (const auto& [name, value] : values.items()) about["option " + name] = value;
  ops::require_same_processes(about, "train together");
}

TrainResult train_on_device(const Graph& graph, const TrainOptions& options) {
  const ops::OneThread one_thread;  // first, so that threads started later inherit it
  const FlushDenormals flush;
  const Workspace workspace;
  const auto start = std::chrono::steady_clock::now();
  TrainOptions resolved = checked(options);
  resolved.chunks = resolved_chunks(options.chunks);
  const at::Device device = choose_device(options.device, graph.links);  // before the long work
  require_same_task(graph, resolved, device);
  const PreparedTask task = prepare_task(graph, task_options(options));
  resolved.predicts = task.predicts;
  const ops::StreamScope stream(device);
  const ops::PrecisionScope precision(choose_precision(options.device, device, kTrainingPrecision));
  const Graph& prepared = task.graph;
  const auto run = [&](const TrainOptions& pilot, LearnedFeatures learned) {
    return Trainer(prepared, pilot, std::move(learned)).run(0);
  };
  InputChoice inputs = choose_inputs(prepared, resolved, run);
  resolved.features.embed.method = inputs.features;
  resolved.common_neighbors = inputs.common_neighbors;
  resolved.label_inputs = inputs.labels;
  Trainer trainer(prepared, resolved, std::move(inputs.learned));
  const std::chrono::duration<double> setup = std::chrono::steady_clock::now() - start;
  TrainResult result = trainer.run(setup.count());
  // A random split is repeated on the same graph, and not on others.
  if (predicts_links(task.predicts)) result.trained.link_task["graph"] = fingerprint(graph);
  result.features = std::move(inputs.features_reason);
  result.common_neighbors = std::move(inputs.common_neighbors_reason);
  result.label_inputs = std::move(inputs.labels_reason);
  return result;
}

}  // namespace

TrainResult train(const Graph& graph, const TrainOptions& options) {
  return ops::with_device_memory([&] { return train_on_device(graph, options); });
}

void check_partitioned(const TrainOptions& options) {
  const auto require_supported = [](bool supported, const std::string& option,
                                    const std::string& reason) {
    require_option(supported, OptionName{option}, ": not supported for partitioned graphs", reason);
  };
  require_supported(options.predicts == Predicts::kAuto || options.predicts == Predicts::kNodes,
                    "task", ", which support only labels of nodes");
  const EmbedMethod method = options.features.embed.method;
  require_supported(method == EmbedMethod::kAuto || method == EmbedMethod::kNone, "features",
                    "; learn features with lase line or lase deepwalk before partitioning");
  require_supported(options.common_neighbors != CommonNeighbors::kOn, "common_neighbors", "");
  require_supported(options.label_inputs != LabelInputs::kOn, "label_inputs", "");
  require_supported(options.device.device != DeviceChoice::kCuda, "device",
                    ", which are trained on the CPU");
}

TrainResult train(const DividedGraph& graph, const TrainOptions& options) {
  const ops::OneThread one_thread;
  const FlushDenormals flush;
  const Workspace workspace;
  const auto start = std::chrono::steady_clock::now();
  check_partitioned(options);
  TrainOptions resolved = checked(options);
  resolved.predicts = Predicts::kNodes;
  resolved.features.embed.method = EmbedMethod::kNone;
  resolved.common_neighbors = CommonNeighbors::kOff;
  resolved.label_inputs = LabelInputs::kOff;
  resolved.chunks = resolved_chunks(options.chunks);
  require_same_task(graph.whole().graph, resolved, at::kCPU);
  Trainer trainer(graph, resolved);
  const std::chrono::duration<double> setup = std::chrono::steady_clock::now() - start;
  return trainer.run(setup.count());
}

}  // namespace lase
