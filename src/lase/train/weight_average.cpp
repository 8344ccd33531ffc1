#include "lase/train/weight_average.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>

#include "lase/base/error.h"
#include "lase/ops/optimizer.h"

namespace lase {

WeightAverage::WeightAverage(const Parameters& parameters, double decay)
    : decay_(decay), average_(parameters.copy()) {
  require(decay >= 0 && decay < 1, OptionName{"ema_decay"}, " ", decay,
          ": expected at least 0 and less than 1");
}

double WeightAverage::decay(int64_t t) const {
  const auto steps = static_cast<double>(t);
  return std::min(decay_, (steps - 1) / (steps + 9));
}

void WeightAverage::update(const Parameters& parameters, const at::Tensor& decay) {
  c10::NoGradGuard no_grad;
  std::vector<at::Tensor> average;
  std::vector<at::Tensor> weights;
  for (const auto& [name, value] : parameters.all()) {
    average.push_back(average_.at(name));
    weights.push_back(value.detach());
  }
  ops::average_step(average, weights, decay);
}

}  // namespace lase
