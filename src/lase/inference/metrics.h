#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <utility>
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

// Predictions with similar confidence: the probability of the most probable class, or with several
// labels, max(p, 1 − p) for each known label.
struct CalibrationBin {
  int64_t count = 0;
  double confidence = 0;  // mean
  double accuracy = 0;    // fraction that is correct
};

// Scores on some nodes: r2 and mean absolute error for regression, F1 and accuracy for other tasks.
struct Scores {
  int64_t nodes = 0;
  double micro_f1 = 0;
  double macro_f1 = 0;  // over the classes that occur in labels or predictions
  double accuracy = 0;  // fraction of nodes with all labels correct
  double r2 = 0;
  double absolute_error = 0;
  // Independent of decisions; NaN if they are not defined or not wanted. With two classes, those of
  // the positive one; otherwise means over the classes.
  double roc_auc = std::numeric_limits<double>::quiet_NaN();
  double average_precision = std::numeric_limits<double>::quiet_NaN();
  double log_loss = std::numeric_limits<double>::quiet_NaN();
  // The expected calibration error Σ_b n_b / n · |accuracy_b − confidence_b| over 15 bins of equal
  // width, and the bins in ascending order of confidence, without empty ones. A class that is
  // unknown to the model counts as an error of a single label, and is left out of several labels.
  double calibration_error = std::numeric_limits<double>::quiet_NaN();
  std::vector<CalibrationBin> calibration = {};
  // Link prediction: the mean reciprocal rank of links among candidates, and the fraction of links
  // with a rank of at most 1, 10 and 50.
  double mrr = std::numeric_limits<double>::quiet_NaN();
  double hits_at_1 = std::numeric_limits<double>::quiet_NaN();
  double hits_at_10 = std::numeric_limits<double>::quiet_NaN();
  double hits_at_50 = std::numeric_limits<double>::quiet_NaN();
  std::vector<ClassScore> classes;
  // Single label: the number of nodes by label and predicted class; zeros are not stored.
  std::map<std::pair<int64_t, int64_t>, int64_t> confusion;

  int64_t confused(int64_t label, int64_t predicted) const;
};

// One metric of a task.
struct Metric {
  std::string key;    // in JSON: "micro_f1"
  std::string title;  // "micro-F1"
  double value = 0;
  bool lower_is_better = false;

  // Higher is better.
  double merit() const { return lower_is_better ? -value : value; }
};

// A score and whether the node belongs to the class.
struct Ranked {
  float score = 0;
  bool positive = false;
};
// Sorts by descending score and computes the area under the ROC curve, and the average precision
// Σ (R_n − R_{n−1}) P_n over distinct scores. NaN unless there are positive and negative nodes.
struct RankScores {
  double roc_auc = std::numeric_limits<double>::quiet_NaN();
  double average_precision = std::numeric_limits<double>::quiet_NaN();
};
RankScores rank_scores(std::vector<Ranked>& ranked);
// Numbers of positive and negative nodes with at least this score.
struct ThresholdCounts {
  double true_positives = 0;
  double false_positives = 0;
};
// Sorts by descending score and counts at each distinct score.
std::vector<ThresholdCounts> threshold_counts(std::vector<Ranked>& ranked);
// The offset o for which the decision score > o has the highest F1, halfway between two scores; of
// equal ones, that closest to 0. 0 if there are no positive nodes.
float best_offset(std::vector<Ranked>& ranked);

// a / b, or 0 if b = 0.
double ratio(double a, double b);

// Scores of `predictions` [all nodes, outputs] on some nodes, by the objective for the labels; see
// Objective::score.
Scores score(const at::Tensor& predictions, const Labels& labels, std::span<const int64_t> nodes);

}  // namespace lase
