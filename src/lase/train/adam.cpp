#include "lase/train/adam.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <cmath>

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
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  constexpr double kEpsilon = 1e-8;
  c10::NoGradGuard no_grad;
  const auto steps = static_cast<double>(++moments_.steps);
  const double correct1 = 1 - std::pow(kBeta1, steps);
  const double correct2 = 1 - std::pow(kBeta2, steps);
  for (auto& [name, w] : parameters_.all()) {
    if (!w.grad().defined()) continue;
    Tensor g = w.grad();
    if (options_.clip > 0) g = g.clamp(-options_.clip, options_.clip);
    if (options_.weight_decay > 0) g = g + options_.weight_decay * w;
    Tensor& m = moments_.first.at(name);
    Tensor& v = moments_.second.at(name);
    m.mul_(kBeta1).add_(g, 1 - kBeta1);
    v.mul_(kBeta2).addcmul_(g, g, 1 - kBeta2);
    const Tensor deviation = (v / correct2).sqrt_().add_(kEpsilon);
    w.addcdiv_(m, deviation, -learning_rate / correct1);
  }
}

}  // namespace lase
