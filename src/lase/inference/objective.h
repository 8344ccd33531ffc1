#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lase/base/file.h"
#include "lase/graph/graph.h"
#include "lase/inference/metrics.h"
#include "lase/model/model_file.h"

namespace lase {

// The loss of some nodes as a sum and the weight of its terms. Both add up over the parts of a
// batch, however unequal they are.
struct LossSum {
  at::Tensor sum;    // scalar, with gradient
  at::Tensor count;  // scalar

  at::Tensor mean() const;  // 0 where nothing is known
};

// Standardization of regression targets: output = (target − mean) · scale.
struct TargetScale {
  at::Tensor mean;   // [targets]
  at::Tensor scale;  // [targets]
};

// One task: what is asked about nodes, and what the outputs of a model mean. Everything else in
// training and inference is the same for all tasks. A new task is one file in objectives/ and one
// line in objective.cpp.
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

  // The nodes of a split that can be learned from or compared with; without splits all nodes are
  // training nodes.
  virtual std::vector<int64_t> seeds(const Graph& graph, Split split) const;
  // Throws Error if there is nothing to learn from these nodes.
  virtual void check(std::span<const int64_t> training) const;
  // Fits what the loss depends on to the training nodes: the scale of targets, and the weights of
  // classes if they are to count alike.
  virtual void fit(std::span<const int64_t> /*training*/, bool /*balance*/) {}
  // Of `outputs` [n, outputs()] for these nodes. Unknown entries do not count.
  virtual LossSum loss(const at::Tensor& outputs, std::span<const int64_t> nodes) const = 0;

  // ---- Predictions

  virtual TargetScale target_scale() const { return {}; }
  virtual void set_target_scale(const TargetScale& /*scale*/) {}
  // Outputs [n, outputs()] in the units of the labels.
  virtual at::Tensor predictions(const at::Tensor& outputs) const { return outputs; }
  // Undefined for tasks without classes.
  virtual at::Tensor probabilities(const at::Tensor& /*outputs*/) const { return {}; }
  // The output that is explained if nobody asks for one, of `logits` [outputs()].
  virtual int64_t explained_output(const at::Tensor& logits) const;

  // ---- Metrics

  // Of `predictions` [all nodes, outputs()] on some nodes. Labels are numbered like the classes of
  // the model: a label ≥ outputs() is one that the model does not know, and counts as missed.
  virtual Scores score(const at::Tensor& predictions, std::span<const int64_t> nodes) const = 0;
  // The first is the headline, which early stopping looks at: higher is better.
  virtual std::vector<Metric> metrics(const Scores& scores) const = 0;
  Metric headline(const Scores& scores) const { return metrics(scores).front(); }

  // ---- The table of predictions

  // Names of the columns after the node, with the `top_k` best classes.
  virtual std::vector<std::string> columns(int64_t top_k) const = 0;
  // Cells of one node, each after a comma, from its row of the probabilities, or of the predictions
  // if there are none.
  virtual void write_row(TextWriter& out, std::span<const float> row, int64_t top_k) const = 0;

 protected:
  // Targets of the nodes [n, outputs()], NaN where unknown.
  at::Tensor targets_of(std::span<const int64_t> nodes) const;

 private:
  Labels labels_;
};

// The objective of the labels of a graph. Throws Error if it has none.
std::unique_ptr<Objective> make_objective(const Labels& labels);
// That of a trained model, with the scale of its targets and without labels to compare with.
std::unique_ptr<Objective> make_objective(const TrainedModel& trained);

}  // namespace lase
