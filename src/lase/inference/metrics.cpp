#include "lase/inference/metrics.h"

#include <algorithm>
#include <cmath>

namespace lase {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

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

namespace {

// Calls visit(true_positives, false_positives, last) after each group of equal scores, in
// descending order; `last` is the index of the last element of the group.
template <class Visit>
void for_each_threshold(std::vector<Ranked>& ranked, const Visit& visit) {
  std::sort(ranked.begin(), ranked.end(),
            [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  double true_positives = 0;
  double false_positives = 0;
  for (size_t i = 0; i < ranked.size(); ++i) {
    (ranked[i].positive ? true_positives : false_positives) += 1;
    const bool last = i + 1 == ranked.size() || ranked[i + 1].score != ranked[i].score;
    if (last) visit(true_positives, false_positives, i);
  }
}

double count_positives(const std::vector<Ranked>& ranked) {
  return static_cast<double>(std::count_if(ranked.begin(), ranked.end(),
                                           [](const Ranked& node) { return node.positive; }));
}

}  // namespace

RankScores rank_scores(std::vector<Ranked>& ranked) {
  const double positives = count_positives(ranked);
  const double negatives = static_cast<double>(ranked.size()) - positives;
  if (positives == 0 || negatives == 0) return {};
  RankScores scores{0, 0};
  double before_true = 0;
  double before_false = 0;
  for_each_threshold(ranked, [&](double true_positives, double false_positives, size_t) {
    const double found = true_positives - before_true;
    // Trapezoid: ties count half.
    scores.roc_auc += (false_positives - before_false) * (before_true + found / 2);
    scores.average_precision += found * true_positives / (true_positives + false_positives);
    before_true = true_positives;
    before_false = false_positives;
  });
  scores.roc_auc /= positives * negatives;
  scores.average_precision /= positives;
  return scores;
}

std::vector<ThresholdCounts> threshold_counts(std::vector<Ranked>& ranked) {
  std::vector<ThresholdCounts> counts;
  for_each_threshold(ranked, [&](double true_positives, double false_positives, size_t) {
    counts.push_back({true_positives, false_positives});
  });
  return counts;
}

float best_offset(std::vector<Ranked>& ranked) {
  const double positives = count_positives(ranked);
  if (positives == 0) return 0;
  double best = 0;
  float offset = 0;
  for_each_threshold(ranked, [&](double true_positives, double false_positives, size_t last) {
    const double f1 = 2 * true_positives / (true_positives + false_positives + positives);
    const float next = last + 1 < ranked.size() ? ranked[last + 1].score : ranked[last].score - 1;
    const float here = ranked[last].score;
    const float middle = here > 0 && next < 0 ? 0 : next + (here - next) / 2;
    if (f1 < best || (f1 == best && std::abs(middle) >= std::abs(offset))) return;
    best = f1;
    offset = middle;
  });
  return offset;
}

int64_t Scores::confused(int64_t label, int64_t predicted) const {
  const auto found = confusion.find({label, predicted});
  return found == confusion.end() ? 0 : found->second;
}

}  // namespace lase
