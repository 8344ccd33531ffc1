#pragma once

#include "lase/inference/objective.h"

namespace lase {

// Tasks whose outputs are logits of classes share their metrics and their table of predictions.
class ClassObjective : public Objective {
 public:
  using Objective::Objective;

  // z / T
  at::Tensor predictions(const at::Tensor& outputs) const override;
  bool has_probabilities() const override { return true; }
  std::vector<std::string> columns(const PredictionColumns& wanted) const override;
  void write_row(TextWriter& out, std::span<const float> row,
                 const PredictionColumns& wanted) const override;

 protected:
  std::string precision_title() const;
  std::vector<Metric> all_metrics(const Scores& scores) const override;
  // Empty scores with one entry per class of the model or of the labels.
  Scores no_scores(int64_t outputs, size_t nodes) const;
  // Micro- and macro-F1 from the classes; accuracy from the nodes with all labels correct.
  static void sum_up(Scores& scores, int64_t correct);
  // Whether metrics that need sorted scores or probabilities are wanted, and not too expensive.
  bool wants_ranks(Detail detail, const at::Tensor& predictions) const;
  // Area under the ROC curve and average precision of the positive class, or means over classes.
  void add_ranks(Scores& scores, const at::Tensor& predictions,
                 std::span<const int64_t> nodes) const;
};

}  // namespace lase
