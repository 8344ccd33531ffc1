#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "lase/base/random.h"
#include "lase/base/shuffle.h"

#include "report/page_parts.h"

namespace lase::page {
namespace {

// Classes that occur in labels or predictions.
std::vector<int64_t> occurring_classes(const Scores& scores) {
  std::vector<int64_t> classes;
  for (int64_t c = 0; c < std::ssize(scores.classes); ++c) {
    const auto& of_class = scores.classes[static_cast<size_t>(c)];
    if (of_class.support() + of_class.false_positives > 0) classes.push_back(c);
  }
  return classes;
}

// Keeps the classes with the most seeds, in order, if there are too many.
std::vector<int64_t> largest_classes(std::vector<int64_t> classes, const Scores& scores,
                                     size_t most) {
  if (classes.size() <= most) return classes;
  const auto support = [&](int64_t c) { return scores.classes[static_cast<size_t>(c)].support(); };
  std::stable_sort(classes.begin(), classes.end(),
                   [&](int64_t a, int64_t b) { return support(a) > support(b); });
  classes.resize(most);
  std::sort(classes.begin(), classes.end());
  return classes;
}

json class_scores(const Scores& scores, const StringTable& names) {
  json classes = json::array();
  for (const int64_t c : occurring_classes(scores)) {
    const auto& of_class = scores.classes[static_cast<size_t>(c)];
    classes.push_back({{"name", std::string(names[c])},
                       {"precision", rounded(of_class.precision())},
                       {"recall", rounded(of_class.recall())},
                       {"f1", rounded(of_class.f1())},
                       {"support", of_class.support()}});
  }
  return classes;
}

json confusion_matrix(const Scores& scores, const StringTable& names) {
  constexpr size_t kMost = 200;
  const auto shown = largest_classes(occurring_classes(scores), scores, kMost);
  json shown_names = json::array();
  json rows = json::array();
  for (const int64_t label : shown) {
    shown_names.push_back(std::string(names[label]));
    json row = json::array();
    for (const int64_t predicted : shown) row.push_back(scores.confused(label, predicted));
    rows.push_back(row);
  }
  return {{"names", shown_names}, {"rows", rows}};
}

json reliability(const Scores& scores) {
  json bins = json::array();
  for (const auto& bin : scores.calibration) {
    bins.push_back({{"count", bin.count},
                    {"confidence", rounded(bin.confidence)},
                    {"accuracy", rounded(bin.accuracy)}});
  }
  return {{"error", rounded(scores.calibration_error)}, {"bins", bins}};
}

// A curve without points that are very close to the previous one.
class ThinCurve {
 public:
  void add(double x, double y, bool last) {
    constexpr double kClose = 1.0 / 200;
    const bool close =
        !x_.empty() && std::abs(x - x_.back()) < kClose && std::abs(y - y_.back()) < kClose;
    if (close && !last) return;
    x_.push_back(x);
    y_.push_back(y);
  }
  json data() const { return {{"x", rounded(x_)}, {"y", rounded(y_)}}; }

 private:
  std::vector<double> x_;
  std::vector<double> y_;
};

// Curves of the positive class of two, or else of all classes together and of the largest ones.
json curves_of_classes(const Objective& objective, const Evaluated& evaluated) {
  json curves = json::array();
  const auto add = [&](const std::string& name, std::vector<Ranked> ranked) {
    json curve = threshold_curves(name, std::move(ranked));
    if (!curve.is_null()) curves.push_back(std::move(curve));
  };
  const auto ranked = [&](int64_t c) {
    return objective.ranked(evaluated.outputs, evaluated.seeds, c);
  };
  const int64_t classes = evaluated.outputs.size(1);
  const StringTable& names = objective.labels().names;
  const int64_t positive = objective.decision().positive;
  if (classes == 2 && positive >= 0) {
    add(std::string(names[positive]), ranked(positive));
    return curves;
  }
  constexpr int64_t kMostScores = 10'000'000;
  if (evaluated.outputs.numel() <= kMostScores) {
    std::vector<Ranked> all;
    for (int64_t c = 0; c < classes; ++c) {
      const auto of_class = ranked(c);
      all.insert(all.end(), of_class.begin(), of_class.end());
    }
    add("", std::move(all));
  }
  std::vector<int64_t> known(static_cast<size_t>(classes));
  std::iota(known.begin(), known.end(), int64_t{0});
  constexpr size_t kMostClasses = 30;
  for (const int64_t c : largest_classes(known, evaluated.scores, kMostClasses)) {
    add(std::string(names[c]), ranked(c));
  }
  return curves;
}

// Predicted against actual numbers of a random sample of seeds, for each target.
json actual_and_predicted(const Objective& objective, const Evaluated& evaluated,
                          const std::function<std::string(int64_t)>& name) {
  constexpr size_t kMost = 2000;
  std::vector<int64_t> rows(evaluated.seeds.size());
  std::iota(rows.begin(), rows.end(), int64_t{0});
  Random random(1);
  subsample(rows, kMost, random);
  const Labels& labels = objective.labels();
  const at::Tensor outputs = evaluated.outputs.contiguous();
  const int64_t columns = outputs.size(1);
  json targets = json::array();
  for (int64_t c = 0; c < columns; ++c) {
    std::vector<double> actual;
    std::vector<double> predicted;
    json names = json::array();
    for (const int64_t row : rows) {
      const int64_t seed = evaluated.seeds[static_cast<size_t>(row)];
      const float truth = labels.target[seed * columns + c];
      if (std::isnan(truth)) continue;
      actual.push_back(double{truth});
      predicted.push_back(double{outputs.data_ptr<float>()[row * columns + c]});
      names.push_back(name(seed));
    }
    targets.push_back({{"name", std::string(labels.names[c])},
                       {"actual", rounded(actual)},
                       {"predicted", rounded(predicted)},
                       {"names", names}});
  }
  return {{"of", evaluated.seeds.size()}, {"targets", targets}};
}

}  // namespace

json threshold_curves(const std::string& name, std::vector<Ranked> ranked) {
  const RankScores scores = rank_scores(ranked);
  if (std::isnan(scores.roc_auc)) return nullptr;
  const auto counts = threshold_counts(ranked);
  const ThresholdCounts& all = counts.back();
  ThinCurve roc;
  ThinCurve precision;
  roc.add(0, 0, true);
  for (size_t i = 0; i < counts.size(); ++i) {
    const auto [true_positives, false_positives] = counts[i];
    const double found = true_positives / (true_positives + false_positives);
    const double recall = true_positives / all.true_positives;
    const bool last = i + 1 == counts.size();
    roc.add(false_positives / all.false_positives, recall, last);
    if (i == 0) precision.add(0, found, true);
    precision.add(recall, found, last);
  }
  return {{"name", name},
          {"positives", all.true_positives},
          {"negatives", all.false_positives},
          {"roc_auc", rounded(scores.roc_auc)},
          {"average_precision", rounded(scores.average_precision)},
          {"roc", roc.data()},
          {"precision", precision.data()}};
}

void add_predictions(json& page, const Objective& objective, const Evaluated& evaluated,
                     const std::function<std::string(int64_t)>& name) {
  const Scores& scores = evaluated.scores;
  const StringTable& names = objective.labels().names;
  page["split"] = std::string(split_name(evaluated.split));
  if (!scores.classes.empty()) {
    page["classes"] = class_scores(scores, names);
    page["thresholds"] = curves_of_classes(objective, evaluated);
  }
  if (!scores.confusion.empty()) page["confusion"] = confusion_matrix(scores, names);
  if (!scores.calibration.empty()) page["calibration"] = reliability(scores);
  if (objective.labels().task == Task::kRegression) {
    page["numbers"] = actual_and_predicted(objective, evaluated, name);
  }
}

}  // namespace lase::page
