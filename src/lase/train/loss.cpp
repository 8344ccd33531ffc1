#include "lase/train/loss.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <vector>

namespace lase {

using at::Tensor;

namespace {

// The targets of the nodes [n, classes], NaN where unknown.
Tensor targets_of(const Labels& labels, std::span<const int64_t> nodes) {
  const int64_t classes = labels.classes();
  Tensor rows = at::empty({static_cast<int64_t>(nodes.size()), classes}, at::kFloat);
  auto* out = rows.data_ptr<float>();
  for (const int64_t node : nodes) {
    out = std::copy_n(labels.target.data() + node * classes, classes, out);
  }
  return rows;
}

}  // namespace

Loss::Loss(const Labels& labels, std::span<const int64_t> training, bool balance)
    : labels_(labels) {
  const int64_t classes = labels.classes();
  class_weight_ = at::ones({classes}, at::kFloat);
  if (labels.task == Task::kRegression) {
    const Tensor rows = targets_of(labels, training).to(at::kDouble);
    const Tensor known = rows.isnan().logical_not();
    const Tensor count = known.sum(0).clamp_min(1).to(at::kDouble);
    const Tensor zeroed = rows.nan_to_num(0);
    const Tensor mean = zeroed.sum(0) / count;
    const Tensor variance = ((zeroed - mean).square() * known).sum(0) / count;
    target_mean_ = mean.to(at::kFloat);
    target_scale_ = variance.sqrt().clamp_min(1e-12).reciprocal().to(at::kFloat);
  }
  if (!balance || labels.task != Task::kSingleLabel) return;
  std::vector<double> count(static_cast<size_t>(classes));
  for (const int64_t node : training) ++count[static_cast<size_t>(labels.label[node])];
  const auto occurring = static_cast<double>(
      std::count_if(count.begin(), count.end(), [](double n) { return n > 0; }));
  for (size_t c = 0; c < count.size(); ++c) {
    if (count[c] == 0) continue;
    class_weight_.data_ptr<float>()[c] =
        static_cast<float>(static_cast<double>(training.size()) / (occurring * count[c]));
  }
}

Tensor Loss::operator()(const Tensor& outputs, std::span<const int64_t> nodes) const {
  if (labels_.task == Task::kSingleLabel) {
    std::vector<int64_t> label;
    for (const int64_t node : nodes) label.push_back(labels_.label[node]);
    const Tensor truth = at::tensor(at::ArrayRef<int64_t>(label), at::kLong);
    return at::cross_entropy_loss(outputs, truth, class_weight_);
  }
  Tensor truth = targets_of(labels_, nodes);
  const Tensor known = truth.isnan().logical_not();
  truth = truth.nan_to_num(0);
  const Tensor count = known.sum().clamp_min(1);
  if (labels_.task == Task::kMultiLabel) {
    const Tensor each =
        at::binary_cross_entropy_with_logits(outputs, truth, {}, {}, at::Reduction::None);
    return (each * known).sum() / count;
  }
  const Tensor scaled = (truth - target_mean_) * target_scale_;
  return ((outputs - scaled).square() * known).sum() / count;
}

}  // namespace lase
