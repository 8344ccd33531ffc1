#include "report/link_examples.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "lase/base/error.h"

namespace lase::page {
namespace {

constexpr int64_t kExamples = 8;  // per group

// The attributes of a link that are not zero: the first few. A relation has no value.
json attributes_of(const LinkTargets& targets, int64_t link) {
  constexpr size_t kMost = 8;
  json attributes = json::array();
  if (targets.attributes.columns == 0) return attributes;
  targets.attributes.for_each(link, [&](int64_t column, float value) {
    if (value == 0 || attributes.size() >= kMost) return;
    json attribute = {{"name", std::string(targets.attribute_names[column])}};
    if (!targets.relations) attribute["value"] = rounded(double{value});
    attributes.push_back(std::move(attribute));
  });
  return attributes;
}

// One row of the table.
struct Example {
  size_t row = 0;     // of the outputs
  double merit = 0;   // rows with the largest ones come first
  int64_t group = 0;  // examples are taken from all groups, such as the predicted classes
  json cells = json::array();
};

// The examples with the largest merits, as evenly from the groups as possible.
std::vector<Example> best(std::vector<Example> examples) {
  std::stable_sort(examples.begin(), examples.end(),
                   [](const Example& a, const Example& b) { return a.merit > b.merit; });
  std::map<int64_t, int64_t> seen;
  std::vector<std::pair<int64_t, size_t>> order;  // number in its group, position
  for (size_t i = 0; i < examples.size(); ++i) order.emplace_back(seen[examples[i].group]++, i);
  const auto count = std::min<int64_t>(kExamples, std::ssize(order));
  std::partial_sort(order.begin(), order.begin() + count, order.end());
  order.resize(static_cast<size_t>(count));
  std::sort(order.begin(), order.end(),
            [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<Example> chosen;
  for (const auto& [number, i] : order) chosen.push_back(std::move(examples[i]));
  return chosen;
}

class Table {
 public:
  Table(const LinkPredictor& predictor, const Evaluated& evaluated)
      : graph_(predictor.graph()), objective_(predictor.objective()), evaluated_(evaluated) {
    outputs_ = evaluated.outputs.contiguous();
    values_ = outputs_.data_ptr<float>();
    columns_ = outputs_.size(1);
  }

  json data() {
    switch (objective_.labels().task) {
      case Task::kSingleLabel:
      case Task::kMultiLabel:
        add_decisions();
        break;
      case Task::kRegression:
        add_errors();
        break;
      case Task::kNone:
        add_ranks();
        break;
    }
    return {{"columns", heads_}, {"relations", graph_.targets.relations}, {"groups", groups_}};
  }

 private:
  int64_t link(size_t row) const { return evaluated_.seeds[row]; }
  float value(size_t row, int64_t column) const {
    return values_[static_cast<int64_t>(row) * columns_ + column];
  }
  std::string class_name(int64_t c) const { return std::string(objective_.labels().names[c]); }

  void add_group(const std::string& name, std::vector<Example> examples) {
    json rows = json::array();
    for (auto& example : best(std::move(examples))) {
      const int64_t i = link(example.row);
      rows.push_back({{"source", std::string(graph_.nodes.names[graph_.targets.source[i]])},
                      {"target", std::string(graph_.nodes.names[graph_.targets.target[i]])},
                      {"cells", std::move(example.cells)},
                      {"attributes", attributes_of(graph_.targets, i)}});
    }
    if (!rows.empty()) groups_.push_back({{"name", name}, {"rows", std::move(rows)}});
  }

  // A decision about one link: how far it is from another one, and with what probability.
  struct Decided {
    double margin = std::numeric_limits<double>::infinity();
    double probability = 1;
    int64_t predicted = 0;  // one of the classes
    bool correct = true;
    std::string label;
    std::string prediction;
  };

  // The margin is the distance to the second best class.
  Decided decide_class(size_t row, const float* merit, const float* probability) const {
    Decided decided;
    decided.predicted = std::max_element(merit, merit + columns_) - merit;
    for (int64_t c = 0; c < columns_; ++c) {
      if (c == decided.predicted) continue;
      decided.margin = std::min(decided.margin, double{merit[decided.predicted] - merit[c]});
    }
    const int32_t truth = objective_.labels().label[link(row)];
    decided.probability = double{probability[decided.predicted]};
    decided.correct = truth == decided.predicted;
    decided.label = class_name(truth);
    decided.prediction = class_name(decided.predicted);
    return decided;
  }

  // With several labels, margin and probability are those of the least certain one.
  Decided decide_labels(size_t row, const float* merit, const float* probability) const {
    Decided decided;
    const Labels& labels = objective_.labels();
    const auto add = [&](std::string& list, int64_t c) {
      list += join(list.empty() ? "" : ", ", class_name(c));
    };
    for (int64_t c = 0; c < labels.classes(); ++c) {
      const float truth = labels.target[link(row) * labels.classes() + c];
      const bool predicted = c < columns_ && merit[c] > 0;
      if (predicted) add(decided.prediction, c);
      if (truth == 1) add(decided.label, c);
      if (std::isnan(truth)) continue;
      decided.correct = decided.correct && predicted == (truth == 1);
      if (c >= columns_) continue;
      const double sure = predicted ? double{probability[c]} : 1 - double{probability[c]};
      decided.margin = std::min(decided.margin, double{std::abs(merit[c])});
      decided.probability = std::min(decided.probability, sure);
    }
    return decided;
  }

  void add_decisions() {
    const at::Tensor merits = objective_.decision_values(outputs_).contiguous();
    const at::Tensor probabilities = objective_.probabilities(outputs_).contiguous();
    const bool single = objective_.labels().task == Task::kSingleLabel;
    std::vector<Example> correct;
    std::vector<Example> wrong;
    std::vector<Example> borderline;
    for (size_t row = 0; row < evaluated_.seeds.size(); ++row) {
      const int64_t at = static_cast<int64_t>(row) * columns_;
      const auto* merit = merits.data_ptr<float>() + at;
      const auto* probability = probabilities.data_ptr<float>() + at;
      const Decided decided =
          single ? decide_class(row, merit, probability) : decide_labels(row, merit, probability);
      Example example{
          row, decided.margin, decided.predicted,
          json::array({decided.label, decided.prediction, rounded(decided.probability)})};
      (decided.correct ? correct : wrong).push_back(example);
      example.merit = -decided.margin;
      example.group = 0;
      borderline.push_back(std::move(example));
    }
    heads_ = {"Label", "Predicted", "Probability"};
    add_group("Most confident correct predictions", std::move(correct));
    add_group("Most confident wrong predictions", std::move(wrong));
    add_group("Borderline predictions", std::move(borderline));
  }

  // Relative to the spread of each target, if there are several.
  void add_errors() {
    const Labels& labels = objective_.labels();
    const at::Tensor scale = objective_.target_scale().scale.contiguous();
    std::vector<Example> errors;
    for (size_t row = 0; row < evaluated_.seeds.size(); ++row) {
      for (int64_t c = 0; c < columns_; ++c) {
        const auto truth = double{labels.target[link(row) * columns_ + c]};
        if (std::isnan(truth)) continue;
        const double error = double{value(row, c)} - truth;
        const double merit = std::abs(error) * double{scale.data_ptr<float>()[c]};
        json cells = {rounded(truth), rounded(double{value(row, c)}), rounded(error)};
        if (columns_ > 1) cells.insert(cells.begin(), class_name(c));
        errors.push_back({row, merit, 0, std::move(cells)});
      }
    }
    heads_ = {"Actual", "Predicted", "Error"};
    if (columns_ > 1) heads_.insert(heads_.begin(), "Value");
    add_group("Largest errors", std::move(errors));
  }

  // By the sum of reciprocal ranks, and by scores if these are equal. Each pair of nodes counts
  // once.
  void add_ranks() {
    std::vector<size_t> order(evaluated_.seeds.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto key = [&](size_t row) {
      const double merit =
          1 / double{value(row, kTargetRank)} + 1 / double{value(row, kSourceRank)};
      return std::pair(merit, value(row, kLinkScore));
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return key(a) > key(b); });
    std::vector<Example> top;
    std::vector<Example> bottom;
    std::set<std::pair<int32_t, int32_t>> seen;
    for (size_t i = 0; i < order.size(); ++i) {
      const size_t row = order[i];
      const auto pair =
          std::pair(graph_.targets.source[link(row)], graph_.targets.target[link(row)]);
      if (!seen.insert(pair).second) continue;
      json cells = {rounded(double{value(row, kTargetRank)}),
                    rounded(double{value(row, kSourceRank)}),
                    rounded(double{value(row, kLinkScore)})};
      const auto place = static_cast<double>(i);
      top.push_back({row, -place, 0, cells});
      bottom.push_back({row, place, 0, std::move(cells)});
    }
    heads_ = {"Rank of target", "Rank of source", "Score"};
    add_group("Best-ranked links", std::move(top));
    add_group("Worst-ranked links", std::move(bottom));
  }

  const Graph& graph_;
  const Objective& objective_;
  const Evaluated& evaluated_;
  at::Tensor outputs_;
  const float* values_ = nullptr;  // of outputs_
  int64_t columns_ = 0;
  json heads_ = json::array();
  json groups_ = json::array();
};

}  // namespace

std::string link_name(const Graph& graph, int64_t link) {
  const StringTable& names = graph.nodes.names;
  return join(names[graph.targets.source[link]], " → ", names[graph.targets.target[link]]);
}

json link_examples(const LinkPredictor& predictor, const Evaluated& evaluated) {
  return Table(predictor, evaluated).data();
}

}  // namespace lase::page
