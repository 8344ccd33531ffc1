#include "lase/inference/objectives/classes.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "lase/base/error.h"

namespace lase {

at::Tensor ClassObjective::predictions(const at::Tensor& outputs) const {
  const double temperature = decision().temperature;
  return temperature == 1 ? outputs : outputs / temperature;
}

// With two classes, the average precision is that of one of them.
std::string ClassObjective::precision_title() const {
  const bool binary = outputs() == 2 && decision().positive >= 0;
  if (!binary) return "average precision";
  return join("average precision of ", labels().names[decision().positive]);
}

std::vector<Metric> ClassObjective::all_metrics(const Scores& scores) const {
  std::vector<Metric> all = {
      {"micro_f1", "micro-F1", scores.micro_f1},
      {"macro_f1", "macro-F1", scores.macro_f1},
      {"accuracy", "accuracy", scores.accuracy},
      {"roc_auc", "ROC-AUC", scores.roc_auc},
      {"average_precision", precision_title(), scores.average_precision},
      {"log_loss", "log loss", scores.log_loss, true},
      {"calibration_error", "calibration error", scores.calibration_error, true}};
  const std::string& selected = decision().metric;
  const auto c = static_cast<size_t>(std::max<int64_t>(0, decision().positive));
  if (selected.starts_with("f1=")) {
    all.push_back({selected, "F1 of " + selected.substr(3),
                   c < scores.classes.size() ? scores.classes[c].f1() : 0});
  }
  return all;
}

std::vector<std::string> ClassObjective::columns(const PredictionColumns& wanted) const {
  std::vector<std::string> names = {"label", "probability"};
  for (int64_t i = 2; i <= std::min(wanted.top_k, outputs()); ++i) {
    names.push_back(join("label", i));
    names.push_back(join("probability", i));
  }
  for (int64_t c = 0; wanted.probabilities && c < outputs(); ++c) {
    names.push_back(join("probability_", labels().names[c]));
  }
  return names;
}

void ClassObjective::write_row(TextWriter& out, std::span<const float> row,
                               const PredictionColumns& wanted) const {
  const int64_t shown = std::clamp<int64_t>(wanted.top_k, 1, outputs());
  // In the order of decisions: by odds, relative to those at the threshold.
  std::vector<float> merit(row.size());
  for (size_t c = 0; c < row.size(); ++c) {
    const float odds = row[c] / std::max(1 - row[c], std::numeric_limits<float>::min());
    merit[c] = decision().offset.empty()
                   ? row[c]
                   : odds * std::exp(-decision().offset_of(static_cast<int64_t>(c)));
  }
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::partial_sort(order.begin(), order.begin() + shown, order.end(),
                    [&](size_t a, size_t b) { return merit[a] > merit[b]; });
  for (int64_t i = 0; i < shown; ++i) {
    const size_t c = order[static_cast<size_t>(i)];
    (out << ',').field(labels().names[static_cast<int64_t>(c)]) << ',' << row[c];
  }
  for (size_t c = 0; wanted.probabilities && c < row.size(); ++c) out << ',' << row[c];
}

bool ClassObjective::wants_ranks(Detail detail, const at::Tensor& predictions) const {
  constexpr int64_t kMost = 100'000'000;  // scores to sort
  const std::string& metric = decision().metric;
  return predictions.numel() <= kMost &&
         (detail == Detail::kAll || metric == "roc_auc" || metric == "average_precision" ||
          metric == "log_loss" || metric == "calibration_error");
}

void ClassObjective::add_ranks(Scores& scores, const at::Tensor& predictions,
                               std::span<const int64_t> nodes) const {
  const int64_t known = predictions.size(1);
  const bool binary = known == 2 && decision().positive >= 0;
  const int64_t first = binary ? decision().positive : 0;
  const int64_t last = binary ? first + 1 : known;
  double roc_auc = 0;
  double average_precision = 0;
  int64_t count = 0;
  for (int64_t c = first; c < last; ++c) {
    auto scored = ranked(predictions, nodes, c);
    const RankScores of_class = rank_scores(scored);
    if (std::isnan(of_class.roc_auc)) continue;
    roc_auc += of_class.roc_auc;
    average_precision += of_class.average_precision;
    ++count;
  }
  if (count == 0) return;
  scores.roc_auc = roc_auc / static_cast<double>(count);
  scores.average_precision = average_precision / static_cast<double>(count);
}

Scores ClassObjective::no_scores(int64_t outputs, size_t nodes) const {
  Scores scores;
  scores.nodes = static_cast<int64_t>(nodes);
  scores.classes.resize(static_cast<size_t>(std::max(outputs, labels().classes())));
  return scores;
}

void ClassObjective::sum_up(Scores& scores, int64_t correct) {
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
  scores.accuracy = ratio(static_cast<double>(correct), static_cast<double>(scores.nodes));
}

}  // namespace lase
