#include "lase/inference/objectives/classes.h"

#include <algorithm>
#include <numeric>

#include "lase/base/error.h"

namespace lase {

std::vector<Metric> ClassObjective::metrics(const Scores& scores) const {
  return {{"micro_f1", "micro-F1", scores.micro_f1},
          {"macro_f1", "macro-F1", scores.macro_f1},
          {"accuracy", "accuracy", scores.accuracy}};
}

std::vector<std::string> ClassObjective::columns(int64_t top_k) const {
  std::vector<std::string> names = {"label", "probability"};
  for (int64_t i = 2; i <= std::min(top_k, outputs()); ++i) {
    names.push_back(join("label", i));
    names.push_back(join("probability", i));
  }
  return names;
}

void ClassObjective::write_row(TextWriter& out, std::span<const float> row, int64_t top_k) const {
  const int64_t shown = std::clamp<int64_t>(top_k, 1, outputs());
  std::vector<size_t> order(row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::partial_sort(order.begin(), order.begin() + shown, order.end(),
                    [&](size_t a, size_t b) { return row[a] > row[b]; });
  for (int64_t i = 0; i < shown; ++i) {
    const size_t c = order[static_cast<size_t>(i)];
    (out << ',').field(labels().names[static_cast<int64_t>(c)]) << ',' << row[c];
  }
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
