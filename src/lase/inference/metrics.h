#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <span>
#include <string>
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
};

// One number of the scores of a task.
struct Metric {
  std::string key;    // in JSON: "micro_f1"
  std::string title;  // "micro-F1"
  double value = 0;
};

// a / b, and 0 for b = 0.
double ratio(double a, double b);

// Scores by the objective of the labels; see Objective::score.
Scores score(const at::Tensor& predictions, const Labels& labels, std::span<const int64_t> nodes);

}  // namespace lase
