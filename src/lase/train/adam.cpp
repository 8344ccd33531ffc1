#include "lase/train/adam.h"

#include <ATen/ATen.h>
#include <cmath>

#include "lase/kernels/kernels.h"

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

void Adam::begin_step(double learning_rate, ops::StepNumbers::Values& numbers) {
  const auto t = static_cast<double>(++moments_.steps);
  numbers.adam_rate = learning_rate / (1 - std::pow(kernels::kAdamBeta1, t));
  numbers.adam_correct2 = 1 - std::pow(kernels::kAdamBeta2, t);
}

void Adam::update(const Tensor& factors) {
  ops::AdamTensors tensors;
  for (auto& [name, w] : parameters_.all()) {
    if (!w.grad().defined()) continue;
    tensors.w.push_back(w.detach());
    tensors.g.push_back(w.grad().detach().contiguous());
    tensors.m.push_back(moments_.first.at(name));
    tensors.v.push_back(moments_.second.at(name));
  }
  ops::adam_step(tensors, factors,
                 {.weight_decay = options_.weight_decay.value_or(0), .clip = options_.clip});
}

}  // namespace lase
