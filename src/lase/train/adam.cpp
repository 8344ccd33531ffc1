#include "lase/train/adam.h"

#include <ATen/ATen.h>

#include "lase/ops/adam.h"

namespace lase {

using at::Tensor;

Adam::Adam(Parameters& parameters, AdamOptions options)
    : parameters_(parameters), options_(options) {
  for (const auto& [name, value] : parameters_.all()) {
    moments_.first.emplace(name, at::zeros_like(value));
    moments_.second.emplace(name, at::zeros_like(value));
  }
}

void Adam::zero_gradients() {
  for (auto& [name, value] : parameters_.all()) value.mutable_grad() = Tensor();
}

void Adam::step(double learning_rate) {
  const kernels::AdamStep step{.learning_rate = learning_rate,
                               .weight_decay = options_.weight_decay.value_or(0),
                               .clip = options_.clip,
                               .steps = ++moments_.steps};
  for (auto& [name, w] : parameters_.all()) {
    if (!w.grad().defined()) continue;
    ops::adam_step(w, w.grad(), moments_.first.at(name), moments_.second.at(name), step);
  }
}

}  // namespace lase
