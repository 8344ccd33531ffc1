#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/inference/objectives/classes.h"
#include "lase/inference/objectives/objectives.h"

namespace lase {
namespace {

using at::Tensor;

// A node has any number of classes, y_c(u) ∈ {0, 1}; the loss is the mean binary cross-entropy of
// the known entries.
class MultiLabel : public ClassObjective {
 public:
  using ClassObjective::ClassObjective;

  Tensor truth(std::span<const int64_t> nodes) const override { return targets_of(nodes); }
  using Objective::loss;
  LossSum loss(const Tensor& outputs, const Tensor& truth) const override {
    const Tensor known = truth.isnan().logical_not();
    const Tensor each = at::binary_cross_entropy_with_logits(outputs, truth.nan_to_num(0), {}, {},
                                                             at::Reduction::None);
    return {(each * known).sum(), known.sum().to(at::kFloat)};
  }

  Tensor probabilities(const Tensor& outputs) const override { return outputs.sigmoid(); }

  Scores score(const Tensor& predictions, std::span<const int64_t> nodes,
               Detail detail) const override {
    const Tensor values = predictions.cpu().contiguous();
    const int64_t known = values.size(1);  // classes of the model
    const int64_t columns = labels().classes();
    Scores scores = no_scores(known, nodes.size());
    int64_t correct = 0;
    const float* row = values.data_ptr<float>();
    for (const int64_t node : nodes) {
      bool all_correct = true;
      for (int64_t c = 0; c < std::ssize(scores.classes); ++c) {
        const float target = c < columns ? labels().target[node * columns + c] : 0;
        if (std::isnan(target)) continue;
        const bool truth = target == 1;
        const bool predicted = c < known && row[c] > decision().offset_of(c);
        auto& of_class = scores.classes[static_cast<size_t>(c)];
        of_class.true_positives += truth && predicted ? 1 : 0;
        of_class.false_positives += !truth && predicted ? 1 : 0;
        of_class.false_negatives += truth && !predicted ? 1 : 0;
        all_correct = all_correct && truth == predicted;
      }
      correct += all_correct ? 1 : 0;
      row += known;
    }
    sum_up(scores, correct);
    if (wants_ranks(detail, values) && columns >= known) {
      add_ranks(scores, values, nodes);
      scores.log_loss = log_loss(values, nodes, 1);
      CalibrationBins bins;
      for_each_known(values, nodes, [&](double z, bool truth) {
        bins.add(1 / (1 + std::exp(-std::abs(z))), truth == (z > 0));
      });
      bins.store(scores);
    }
    return scores;
  }

  std::vector<std::string> columns(const PredictionColumns& wanted) const override {
    auto names = ClassObjective::columns(wanted);
    names.insert(names.begin(), "labels");
    return names;
  }

  // All classes above their thresholds come first, as they are imported.
  void write_row(TextWriter& out, std::span<const float> row,
                 const PredictionColumns& wanted) const override {
    std::string all;
    for (size_t c = 0; c < row.size(); ++c) {
      const auto name = static_cast<int64_t>(c);
      const float threshold = 1 / (1 + std::exp(-decision().offset_of(name)));
      if (row[c] > threshold) all += join(all.empty() ? "" : ";", labels().names[name]);
    }
    (out << ',').field(all);
    ClassObjective::write_row(out, row, wanted);
  }

 protected:
  std::vector<Ranked> ranked(const Tensor& predictions, std::span<const int64_t> nodes,
                             int64_t c) const override {
    const Tensor column = predictions.select(1, c).contiguous();
    const auto* score = column.data_ptr<float>();
    std::vector<Ranked> known;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const float target = labels().target[nodes[i] * labels().classes() + c];
      if (!std::isnan(target)) known.push_back({score[i], target == 1});
    }
    return known;
  }

  // −log p = log(1 + exp(∓β z)) for a label that is 1 or 0
  double log_loss(const Tensor& logits, std::span<const int64_t> nodes,
                  double beta) const override {
    double sum = 0;
    double count = 0;
    for_each_known(logits, nodes, [&](double z, bool truth) {
      const double x = truth ? -beta * z : beta * z;
      sum += std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
      count += 1;
    });
    return ratio(sum, count);
  }

  // The threshold with the highest F1 for each class with enough positive nodes.
  std::vector<float> tuned_offsets(const Tensor& outputs,
                                   std::span<const int64_t> nodes) const override {
    constexpr int64_t kMost = 100'000'000;
    constexpr int64_t kEnough = 10;
    if (outputs.numel() > kMost || decision().metric.empty()) return {};
    const Tensor values = outputs.cpu();
    std::vector<float> offsets;
    for (int64_t c = 0; c < values.size(1); ++c) {
      auto scored = ranked(values, nodes, c);
      const auto positive = std::count_if(scored.begin(), scored.end(),
                                          [](const Ranked& node) { return node.positive; });
      offsets.push_back(positive < kEnough ? 0 : best_offset(scored));
    }
    return offsets;
  }

 private:
  // Calls visit(z, truth) for every known label of the classes of the model.
  template <class Visit>
  void for_each_known(const Tensor& logits, std::span<const int64_t> nodes,
                      const Visit& visit) const {
    const int64_t known = logits.size(1);
    const auto* row = logits.data_ptr<float>();
    for (const int64_t node : nodes) {
      for (int64_t c = 0; c < known; ++c) {
        const float target = labels().target[node * labels().classes() + c];
        if (!std::isnan(target)) visit(double{row[c]}, target == 1);
      }
      row += known;
    }
  }
};

}  // namespace

std::unique_ptr<Objective> multi_label(const Labels& labels) {
  return std::make_unique<MultiLabel>(labels);
}

}  // namespace lase
