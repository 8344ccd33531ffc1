#pragma once

#include <ATen/core/Tensor.h>
#include <span>

#include "lase/graph/labels.h"

namespace lase {

// What predictions are compared with, by task: cross-entropy, binary cross-entropy over the
// classes, or squared error of standardised targets. Unknown entries do not count.
class Loss {
 public:
  // Fitted on the training nodes: class weights where balanced, and the scale of targets.
  Loss(const Labels& labels, std::span<const int64_t> training, bool balance);

  // `outputs` [n, classes] for these nodes.
  at::Tensor operator()(const at::Tensor& outputs, std::span<const int64_t> nodes) const;

  const at::Tensor& target_mean() const { return target_mean_; }
  const at::Tensor& target_scale() const { return target_scale_; }

 private:
  const Labels& labels_;
  at::Tensor class_weight_;  // [classes]
  at::Tensor target_mean_;   // [targets]
  at::Tensor target_scale_;
};

}  // namespace lase
