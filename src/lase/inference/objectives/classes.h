#pragma once

#include "lase/inference/objective.h"

namespace lase {

// Tasks whose outputs are logits of classes share their metrics (F1, accuracy) and their table (the
// most probable classes).
class ClassObjective : public Objective {
 public:
  using Objective::Objective;

  std::vector<Metric> metrics(const Scores& scores) const override;
  std::vector<std::string> columns(int64_t top_k) const override;
  void write_row(TextWriter& out, std::span<const float> row, int64_t top_k) const override;

 protected:
  // Empty scores with one entry per class of the model or of the labels.
  Scores no_scores(int64_t outputs, size_t nodes) const;
  // Micro- and macro-F1 from the classes; accuracy from the nodes with all labels correct.
  static void sum_up(Scores& scores, int64_t correct);
};

}  // namespace lase
