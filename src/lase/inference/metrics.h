#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <span>
#include <vector>

#include "lase/graph/labels.h"

namespace lase {

struct ClassScore {
  int64_t true_positives = 0;
  int64_t false_positives = 0;
  int64_t false_negatives = 0;

  int64_t support() const { return true_positives + false_negatives; }
  double precision() const;
  double recall() const;
  double f1() const;
};

// Scores of predictions on some nodes. Regression has r2 and mean absolute error, other tasks F1.
struct Scores {
  int64_t nodes = 0;
  double micro_f1 = 0;
  double macro_f1 = 0;  // over the classes that occur, as labels or as predictions
  double accuracy = 0;  // of whole nodes
  double r2 = 0;
  double absolute_error = 0;
  std::vector<ClassScore> classes;
  std::vector<std::vector<int64_t>> confusion;  // single label: [label][predicted]

  // What early stopping looks at: higher is better.
  double headline(Task task) const { return task == Task::kRegression ? r2 : micro_f1; }
};

// `outputs` [all nodes, classes] are logits, or predicted numbers for regression. Labels are those
// of the model's classes: a label ≥ classes is one that the model does not know, and counts as
// missed.
Scores score(const at::Tensor& outputs, const Labels& labels, std::span<const int64_t> nodes);

}  // namespace lase
