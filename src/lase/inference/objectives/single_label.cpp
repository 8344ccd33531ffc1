#include <ATen/ATen.h>
#include <algorithm>

#include "lase/base/error.h"
#include "lase/inference/objectives/classes.h"
#include "lase/inference/objectives/objectives.h"

namespace lase {
namespace {

using at::Tensor;

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
    weight_ = at::ones({labels().classes()}, at::kFloat);
    if (!balance) return;
    std::vector<double> count(static_cast<size_t>(labels().classes()));
    for (const int64_t node : training) ++count[static_cast<size_t>(labels().label[node])];
    const auto occurring = static_cast<double>(
        std::count_if(count.begin(), count.end(), [](double n) { return n > 0; }));
    for (size_t c = 0; c < count.size(); ++c) {
      if (count[c] == 0) continue;
      weight_.data_ptr<float>()[c] =
          static_cast<float>(static_cast<double>(training.size()) / (occurring * count[c]));
    }
  }

  LossSum loss(const Tensor& outputs, std::span<const int64_t> nodes) const override {
    std::vector<int64_t> label;
    for (const int64_t node : nodes) label.push_back(labels().label[node]);
    const Tensor truth = at::tensor(at::ArrayRef<int64_t>(label), at::kLong);
    constexpr int64_t kIgnoreNone = -100;
    const auto [sum, count] = at::nll_loss_forward(outputs.log_softmax(1), truth, weight_,
                                                   at::Reduction::Sum, kIgnoreNone);
    return {sum, count};
  }

  Tensor probabilities(const Tensor& outputs) const override { return outputs.softmax(1); }

  Scores score(const Tensor& predictions, std::span<const int64_t> nodes) const override {
    const Tensor values = predictions.cpu().contiguous();
    const int64_t known = values.size(1);  // classes of the model
    Scores scores = no_scores(known, nodes.size());
    int64_t correct = 0;
    for (const int64_t node : nodes) {
      const float* row = values.data_ptr<float>() + node * known;
      const auto truth = static_cast<size_t>(labels().label[node]);
      const auto predicted = static_cast<size_t>(std::max_element(row, row + known) - row);
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
    return scores;
  }

 private:
  Tensor weight_;  // [classes]
};

}  // namespace

std::unique_ptr<Objective> single_label(const Labels& labels) {
  return std::make_unique<SingleLabel>(labels);
}

}  // namespace lase
