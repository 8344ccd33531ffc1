#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/inference/objectives/classes.h"
#include "lase/inference/objectives/objectives.h"
#include "lase/ops/device.h"

namespace lase {
namespace {

using at::Tensor;

// log Σ_c exp β z_c
double log_sum_exp(std::span<const float> z, double beta) {
  const double most = double{*std::max_element(z.begin(), z.end())};
  double sum = 0;
  for (const float each : z) sum += std::exp(beta * (double{each} - most));
  return beta * most + std::log(sum);
}

// Every node has exactly one class y(u):
//
//   loss = Σ w_y(u) (log Σ_c exp z_c(u) − z_y(u)(u)) / Σ w_y(u)
//
// with weights w_c = 1, or if balanced n / (classes · n_c), where n_c of the n training nodes have
// class c.
class SingleLabel : public ClassObjective {
 public:
  explicit SingleLabel(const Labels& labels)
      : ClassObjective(labels), weight_(at::ones({labels.classes()}, at::kFloat)) {}

  void check(std::span<const int64_t> training) const override {
    require(labels().classes() >= 2, "the graph has ", labels().classes(),
            " class; expected at least two");
    Objective::check(training);
    const int32_t first = labels().label[training[0]];
    const bool several = std::any_of(training.begin(), training.end(),
                                     [&](int64_t u) { return labels().label[u] != first; });
    require(several, "all training nodes have the label ", quote(labels().names[first]),
            "; expected at least two different labels");
  }

  void fit(std::span<const int64_t> training, bool balance) override {
    Tensor weight = at::ones({labels().classes()}, at::kFloat);
    if (balance) balance_classes(training, weight);
    weight_ = ops::Replicated(weight);
  }
  // The class of each node.
  Tensor truth(std::span<const int64_t> nodes) const override {
    std::vector<int64_t> label;
    for (const int64_t node : nodes) label.push_back(labels().label[node]);
    return at::tensor(at::ArrayRef<int64_t>(label), at::kLong);
  }
  using Objective::loss;
  LossSum loss(const Tensor& outputs, const Tensor& truth) const override {
    constexpr int64_t kIgnoreNone = -100;
    const auto [sum, count] =
        at::nll_loss_forward(outputs.log_softmax(1), truth, weight_.on(outputs.device()),
                             at::Reduction::Sum, kIgnoreNone);
    return {sum, count};
  }

  Tensor probabilities(const Tensor& outputs) const override { return outputs.softmax(1); }

  Scores score(const Tensor& predictions, std::span<const int64_t> nodes,
               Detail detail) const override {
    const Tensor values = predictions.cpu().contiguous();
    const int64_t known = values.size(1);  // classes of the model
    Scores scores = no_scores(known, nodes.size());
    int64_t correct = 0;
    const float* row = values.data_ptr<float>();
    std::vector<float> merit(static_cast<size_t>(known));
    for (const int64_t node : nodes) {
      for (int64_t c = 0; c < known; ++c) {
        merit[static_cast<size_t>(c)] = row[c] - decision().offset_of(c);
      }
      row += known;
      const auto truth = static_cast<size_t>(labels().label[node]);
      const auto predicted =
          static_cast<size_t>(std::max_element(merit.begin(), merit.end()) - merit.begin());
      ++scores.confusion[{truth, predicted}];
      if (truth == predicted) {
        ++correct;
        ++scores.classes[truth].true_positives;
      } else {
        ++scores.classes[truth].false_negatives;
        ++scores.classes[predicted].false_positives;
      }
    }
    sum_up(scores, correct);
    if (wants_ranks(detail, values)) {
      add_ranks(scores, values, nodes);
      scores.log_loss = log_loss(values, nodes, 1);
      add_calibration(scores, values, nodes);
    }
    return scores;
  }

 protected:
  // With two classes of which one is rare, micro-F1 is highest if the rare one is never predicted.
  Decision default_decision(std::span<const int64_t> training) const override {
    std::vector<int64_t> count(static_cast<size_t>(labels().classes()));
    for (const int64_t node : training) ++count[static_cast<size_t>(labels().label[node])];
    constexpr double kMajority = 0.8;
    const auto largest = count.empty() ? 0 : *std::max_element(count.begin(), count.end());
    const bool balanced =
        static_cast<double>(largest) <= kMajority * static_cast<double>(training.size());
    const bool binary = count.size() == 2;
    return {.metric = balanced ? "micro_f1"
                      : binary ? "average_precision"
                               : "macro_f1",
            .positive = binary ? (count[0] < count[1] ? 0 : 1) : -1};
  }

  std::vector<Ranked> ranked(const Tensor& predictions, std::span<const int64_t> nodes,
                             int64_t c) const override {
    // The log odds of class c against the others, which order nodes by its probability.
    const Tensor all = predictions.logsumexp(1);
    const Tensor own = predictions.select(1, c);
    Tensor odds;
    if (predictions.size(1) == 2) {
      odds = own - predictions.select(1, 1 - c);
    } else {
      odds = own - all;
    }
    odds = odds.contiguous();
    const auto* score = odds.data_ptr<float>();
    std::vector<Ranked> nodes_of_class;
    nodes_of_class.reserve(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      nodes_of_class.push_back({score[i], labels().label[nodes[i]] == c});
    }
    return nodes_of_class;
  }

  double log_loss(const Tensor& logits, std::span<const int64_t> nodes,
                  double beta) const override {
    double sum = 0;
    double count = 0;
    for_each_node(logits, nodes, [&](std::span<const float> z, size_t y) {
      if (y >= z.size()) return;
      sum += log_sum_exp(z, beta) - beta * double{z[y]};
      count += 1;
    });
    return ratio(sum, count);
  }

  // Two classes: the threshold of the rarer class with the highest F1, unless micro-F1 or accuracy
  // is to be high.
  std::vector<float> tuned_offsets(const Tensor& outputs,
                                   std::span<const int64_t> nodes) const override {
    const std::string& metric = decision().metric;
    const int64_t positive = decision().positive;
    const bool any_threshold = metric == "micro_f1" || metric == "accuracy" || metric.empty();
    if (labels().classes() != 2 || positive < 0 || any_threshold) return {};
    auto scored = ranked(outputs.cpu(), nodes, positive);
    std::vector<float> offsets(2);
    offsets[static_cast<size_t>(positive)] = best_offset(scored);
    return offsets;
  }

 private:
  // Sets w_c; 1 for classes that do not occur.
  void balance_classes(std::span<const int64_t> training, Tensor& weight) const {
    std::vector<double> count(static_cast<size_t>(labels().classes()));
    for (const int64_t node : training) ++count[static_cast<size_t>(labels().label[node])];
    const auto occurring = static_cast<double>(
        std::count_if(count.begin(), count.end(), [](double n) { return n > 0; }));
    for (size_t c = 0; c < count.size(); ++c) {
      if (count[c] == 0) continue;
      weight.data_ptr<float>()[c] =
          static_cast<float>(static_cast<double>(training.size()) / (occurring * count[c]));
    }
  }

  // Calls visit(z, y) with the logits [classes of the model] and the class of every node.
  template <class Visit>
  void for_each_node(const Tensor& logits, std::span<const int64_t> nodes,
                     const Visit& visit) const {
    const auto known = static_cast<size_t>(logits.size(1));
    const auto* row = logits.data_ptr<float>();
    for (const int64_t node : nodes) {
      visit(std::span(row, known), static_cast<size_t>(labels().label[node]));
      row += known;
    }
  }

  void add_calibration(Scores& scores, const Tensor& logits, std::span<const int64_t> nodes) const {
    CalibrationBins bins;
    for_each_node(logits, nodes, [&](std::span<const float> z, size_t y) {
      const auto most = std::max_element(z.begin(), z.end());
      bins.add(std::exp(double{*most} - log_sum_exp(z, 1)),
               static_cast<size_t>(most - z.begin()) == y);
    });
    bins.store(scores);
  }

  ops::Replicated weight_;  // [classes]
};

}  // namespace

std::unique_ptr<Objective> single_label(const Labels& labels) {
  return std::make_unique<SingleLabel>(labels);
}

}  // namespace lase
