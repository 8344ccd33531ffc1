#include <ATen/ATen.h>
#include <cmath>

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

  LossSum loss(const Tensor& outputs, std::span<const int64_t> nodes) const override {
    const Tensor truth = targets_of(nodes);
    const Tensor known = truth.isnan().logical_not();
    const Tensor each = at::binary_cross_entropy_with_logits(outputs, truth.nan_to_num(0), {}, {},
                                                             at::Reduction::None);
    return {(each * known).sum(), known.sum().to(at::kFloat)};
  }

  Tensor probabilities(const Tensor& outputs) const override { return outputs.sigmoid(); }

  Scores score(const Tensor& predictions, std::span<const int64_t> nodes) const override {
    const Tensor values = predictions.cpu().contiguous();
    const int64_t known = values.size(1);  // classes of the model
    const int64_t columns = labels().classes();
    Scores scores = no_scores(known, nodes.size());
    int64_t correct = 0;
    for (const int64_t node : nodes) {
      const float* row = values.data_ptr<float>() + node * known;
      bool all_correct = true;
      for (int64_t c = 0; c < std::ssize(scores.classes); ++c) {
        const float target = c < columns ? labels().target[node * columns + c] : 0;
        if (std::isnan(target)) continue;
        const bool truth = target == 1;
        const bool predicted = c < known && row[c] > 0;
        auto& of_class = scores.classes[static_cast<size_t>(c)];
        of_class.true_positives += truth && predicted ? 1 : 0;
        of_class.false_positives += !truth && predicted ? 1 : 0;
        of_class.false_negatives += truth && !predicted ? 1 : 0;
        all_correct = all_correct && truth == predicted;
      }
      correct += all_correct ? 1 : 0;
    }
    sum_up(scores, correct);
    return scores;
  }
};

}  // namespace

std::unique_ptr<Objective> multi_label(const Labels& labels) {
  return std::make_unique<MultiLabel>(labels);
}

}  // namespace lase
