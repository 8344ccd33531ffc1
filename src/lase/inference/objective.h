#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lase/base/file.h"
#include "lase/graph/graph.h"
#include "lase/inference/calibration.h"
#include "lase/inference/metrics.h"
#include "lase/inference/prediction_columns.h"
#include "lase/model/model_file.h"

namespace lase {

// The loss of some nodes as a sum, with the total weight of its terms. Both are additive over
// shards of a batch, of any size.
struct LossSum {
  at::Tensor sum;    // scalar, with gradient
  at::Tensor count;  // scalar

  at::Tensor mean() const;  // 0 if no label is known
};

// Standardization of regression targets: output = (target − mean) · scale.
struct TargetScale {
  at::Tensor mean;   // [targets]
  at::Tensor scale;  // [targets]
};

// One task: which nodes have targets, and what the outputs of a model mean. Everything else in
// training and inference is the same for all tasks. A new task requires one file in objectives/ and
// one line in objective.cpp.
class Objective {
 public:
  explicit Objective(Labels labels) : labels_(std::move(labels)) {}
  Objective(const Objective&) = delete;
  Objective& operator=(const Objective&) = delete;
  virtual ~Objective() = default;

  const Labels& labels() const { return labels_; }
  // Width of the head.
  virtual int64_t outputs() const { return labels_.classes(); }

  // ---- Training

  // The labeled nodes of a split; without splits all nodes are training nodes.
  virtual std::vector<int64_t> seeds(const Graph& graph, Split split) const;
  // Throws Error if nothing can be learned from these nodes.
  virtual void check(std::span<const int64_t> training) const;
  // Fits the loss to the training nodes: the scale of targets, and the class weights if `balance`.
  virtual void fit(std::span<const int64_t> /*training*/, bool /*balance*/) {}
  // What the outputs for these nodes are compared with, one row per node, on the CPU.
  virtual at::Tensor truth(std::span<const int64_t> nodes) const = 0;
  // Loss of `outputs` [n, outputs()], given the truth on the same device. Unknown entries are
  // ignored.
  virtual LossSum loss(const at::Tensor& outputs, const at::Tensor& truth) const = 0;
  LossSum loss(const at::Tensor& outputs, std::span<const int64_t> nodes) const;
  // Loss of exact outputs, as score() expects them.
  virtual LossSum validation_loss(const at::Tensor& outputs, std::span<const int64_t> nodes) const {
    return loss(outputs, nodes);
  }

  // ---- Predictions

  virtual TargetScale target_scale() const { return {}; }
  virtual void set_target_scale(const TargetScale& /*scale*/) {}
  // Converts outputs [n, outputs()] to the units of the labels, or to calibrated logits.
  virtual at::Tensor predictions(const at::Tensor& outputs) const { return outputs; }
  // The probabilities of the classes, given predictions; undefined for tasks without classes.
  virtual at::Tensor probabilities(const at::Tensor& /*predictions*/) const { return {}; }
  virtual bool has_probabilities() const { return false; }
  // The output to explain by default, given predictions [outputs()].
  virtual int64_t explained_output(const at::Tensor& predictions) const;

  // ---- Decisions

  const Decision& decision() const { return decision_; }
  void set_decision(Decision decision) { decision_ = std::move(decision); }
  // The metric for early stopping: `wanted` is one of metric_names(), or "auto" or "loss" for the
  // default of the task and the balance of the training labels. Throws Error if it is unknown.
  Decision select(const std::string& wanted, std::span<const int64_t> training) const;
  // Sets the temperature of probabilities to the one with the lowest log loss for these nodes and
  // their outputs [n, outputs()]. Requires has_probabilities().
  TemperatureFit calibrate(const at::Tensor& outputs, std::span<const int64_t> nodes);
  // Sets the offsets of decisions to the best ones for these nodes and their predictions [n,
  // outputs()], where the task and the metric call for it.
  void tune_decision(const at::Tensor& predictions, std::span<const int64_t> nodes);
  // Decisions compare these with zero, or with each other: the predictions minus the offsets.
  at::Tensor decision_values(const at::Tensor& predictions) const;

  // ---- Metrics

  // kDecisions: only what follows from decisions, which is faster, and the headline metric.
  enum class Detail : uint8_t { kDecisions, kAll };
  // Scores of `predictions` [n, outputs()], one row for each of n nodes. Labels are numbered like
  // the classes of the model: a label ≥ outputs() is unknown to the model and counts as a miss.
  virtual Scores score(const at::Tensor& predictions, std::span<const int64_t> nodes,
                       Detail detail = Detail::kAll) const = 0;
  // The known metrics, the headline first, which is used for early stopping.
  std::vector<Metric> metrics(const Scores& scores) const;
  Metric headline(const Scores& scores) const;
  std::vector<std::string> metric_names() const;
  // Scores of class c with the truth, for those of the nodes for which it is known. None for tasks
  // without classes.
  virtual std::vector<Ranked> ranked(const at::Tensor& /*predictions*/,
                                     std::span<const int64_t> /*nodes*/, int64_t /*c*/) const {
    return {};
  }

  // ---- The table of predictions

  // Names of the columns after the node.
  virtual std::vector<std::string> columns(const PredictionColumns& wanted) const = 0;
  // Writes the cells of one node, each preceded by a comma, from its row of the probabilities, or
  // of the predictions if there are none.
  virtual void write_row(TextWriter& out, std::span<const float> row,
                         const PredictionColumns& wanted) const = 0;

 protected:
  // All metrics, NaN if unknown.
  virtual std::vector<Metric> all_metrics(const Scores& scores) const = 0;
  virtual Decision default_decision(std::span<const int64_t> training) const;
  // Mean of −log p of the labels that the model knows, with p from the logits β z, for contiguous
  // `logits` z [n, outputs()] on the CPU.
  virtual double log_loss(const at::Tensor& /*logits*/, std::span<const int64_t> /*nodes*/,
                          double /*beta*/) const {
    return std::numeric_limits<double>::quiet_NaN();
  }
  // Best offsets of decisions; empty if decisions are not tuned.
  virtual std::vector<float> tuned_offsets(const at::Tensor& /*predictions*/,
                                           std::span<const int64_t> /*nodes*/) const {
    return {};
  }

  // Targets of the nodes [n, outputs()], NaN if unknown.
  at::Tensor targets_of(std::span<const int64_t> nodes) const;

 private:
  Labels labels_;
  Decision decision_;
};

// The objective for the labels of a graph. Throws Error if there are none.
std::unique_ptr<Objective> make_objective(const Labels& labels);
// The objective of a trained model, with the scale of its targets and its decisions, for labels
// with the class numbers of the model (see labels_as_trained), or without labels.
std::unique_ptr<Objective> make_objective(const TrainedModel& trained, const Labels& labels);
std::unique_ptr<Objective> make_objective(const TrainedModel& trained);

}  // namespace lase
