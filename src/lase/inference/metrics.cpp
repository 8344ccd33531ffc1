#include "lase/inference/metrics.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>

namespace lase {

namespace {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

Scores score_regression(const float* outputs, int64_t columns, const Labels& labels,
                        std::span<const int64_t> nodes) {
  Scores scores;
  double error = 0;
  double squares = 0;
  double sum = 0;
  double sum_squares = 0;
  int64_t count = 0;
  for (const int64_t node : nodes) {
    for (int64_t c = 0; c < columns; ++c) {
      const auto truth = static_cast<double>(labels.target[node * columns + c]);
      if (std::isnan(truth)) continue;
      const double difference = static_cast<double>(outputs[node * columns + c]) - truth;
      error += std::abs(difference);
      squares += difference * difference;
      sum += truth;
      sum_squares += truth * truth;
      ++count;
    }
  }
  const auto n = static_cast<double>(count);
  scores.nodes = static_cast<int64_t>(nodes.size());
  scores.absolute_error = ratio(error, n);
  const double variation = sum_squares - ratio(sum * sum, n);
  // Numbers that never vary leave nothing to explain.
  scores.r2 = variation > 0 ? 1 - squares / variation : squares == 0 ? 1 : 0;
  return scores;
}

}  // namespace

double ClassScore::precision() const {
  return ratio(static_cast<double>(true_positives),
               static_cast<double>(true_positives + false_positives));
}
double ClassScore::recall() const {
  return ratio(static_cast<double>(true_positives), static_cast<double>(support()));
}
double ClassScore::f1() const {
  return ratio(2 * static_cast<double>(true_positives),
               static_cast<double>(2 * true_positives + false_positives + false_negatives));
}

Scores score(const at::Tensor& outputs, const Labels& labels, std::span<const int64_t> nodes) {
  const at::Tensor values = outputs.contiguous();
  const auto* data = values.data_ptr<float>();
  const int64_t known = values.size(1);  // classes of the model
  if (labels.task == Task::kRegression) return score_regression(data, known, labels, nodes);

  Scores scores;
  scores.nodes = static_cast<int64_t>(nodes.size());
  const auto classes = static_cast<size_t>(std::max(known, labels.classes()));
  scores.classes.resize(classes);
  int64_t right = 0;
  if (labels.task == Task::kSingleLabel) {
    scores.confusion.assign(classes, std::vector<int64_t>(classes));
  }
  for (const int64_t node : nodes) {
    const float* row = data + node * known;
    if (labels.task == Task::kSingleLabel) {
      const auto truth = static_cast<size_t>(labels.label[node]);
      const auto predicted = static_cast<size_t>(std::max_element(row, row + known) - row);
      ++scores.confusion[truth][predicted];
      right += truth == predicted ? 1 : 0;
      if (truth == predicted) {
        ++scores.classes[truth].true_positives;
      } else {
        ++scores.classes[truth].false_negatives;
        ++scores.classes[predicted].false_positives;
      }
      continue;
    }
    bool all_right = true;
    for (int64_t c = 0; c < static_cast<int64_t>(classes); ++c) {
      const float target = c < labels.classes() ? labels.target[node * labels.classes() + c] : 0;
      if (std::isnan(target)) continue;
      const bool truth = target == 1;
      const bool predicted = c < known && row[c] > 0;
      auto& of_class = scores.classes[static_cast<size_t>(c)];
      of_class.true_positives += truth && predicted ? 1 : 0;
      of_class.false_positives += !truth && predicted ? 1 : 0;
      of_class.false_negatives += truth && !predicted ? 1 : 0;
      all_right = all_right && truth == predicted;
    }
    right += all_right ? 1 : 0;
  }
  ClassScore total;
  double sum = 0;
  int64_t occurring = 0;
  for (const auto& of_class : scores.classes) {
    total.true_positives += of_class.true_positives;
    total.false_positives += of_class.false_positives;
    total.false_negatives += of_class.false_negatives;
    if (of_class.support() + of_class.false_positives == 0) continue;
    sum += of_class.f1();
    ++occurring;
  }
  scores.micro_f1 = total.f1();
  scores.macro_f1 = ratio(sum, static_cast<double>(occurring));
  scores.accuracy = ratio(static_cast<double>(right), static_cast<double>(nodes.size()));
  return scores;
}

}  // namespace lase
