#include "lase/train/weight_average.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>

#include "lase/base/error.h"

namespace lase {

WeightAverage::WeightAverage(const Parameters& parameters, double decay)
    : decay_(decay), average_(parameters.copy()) {
  require(decay >= 0 && decay < 1, OptionName{"ema_decay"}, " ", decay,
          ": expected at least 0 and less than 1");
}

void WeightAverage::update(const Parameters& parameters, int64_t t) {
  c10::NoGradGuard no_grad;
  const auto steps = static_cast<double>(t);
  const double decay = std::min(decay_, (steps - 1) / (steps + 9));
  for (const auto& [name, value] : parameters.all()) {
    average_.at(name).mul_(decay).add_(value, 1 - decay);
  }
}

}  // namespace lase
