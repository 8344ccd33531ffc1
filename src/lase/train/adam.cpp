#include "lase/train/adam.h"

#include <ATen/ATen.h>
#include <cmath>

namespace lase {

using at::Tensor;

Adam::Adam(Parameters& parameters, AdamOptions options)
    : parameters_(parameters), options_(options) {
  for (const auto& [name, value] : parameters_.all()) {
    m_.push_back(at::zeros_like(value));
    v_.push_back(at::zeros_like(value));
  }
}

void Adam::zero_gradients() {
  for (auto& [name, value] : parameters_.all()) value.mutable_grad() = Tensor();
}

void Adam::step(double learning_rate) {
  constexpr double kBeta1 = 0.9;
  constexpr double kBeta2 = 0.999;
  constexpr double kEpsilon = 1e-8;
  at::NoGradGuard no_grad;
  ++steps_;
  const double correct1 = 1 - std::pow(kBeta1, static_cast<double>(steps_));
  const double correct2 = 1 - std::pow(kBeta2, static_cast<double>(steps_));
  for (size_t i = 0; i < m_.size(); ++i) {
    Tensor& w = parameters_.all()[i].second;
    if (!w.grad().defined()) continue;
    Tensor g = w.grad();
    if (options_.clip > 0) g = g.clamp(-options_.clip, options_.clip);
    if (options_.weight_decay > 0) g = g + options_.weight_decay * w;
    m_[i].mul_(kBeta1).add_(g, 1 - kBeta1);
    v_[i].mul_(kBeta2).addcmul_(g, g, 1 - kBeta2);
    const Tensor deviation = (v_[i] / correct2).sqrt_().add_(kEpsilon);
    w.addcdiv_(m_[i], deviation, -learning_rate / correct1);
  }
}

}  // namespace lase
