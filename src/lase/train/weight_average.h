#pragma once

#include <cstdint>

#include "lase/model/parameters.h"

namespace lase {

// Exponential moving average of the weights over steps, w̄ ← β w̄ + (1 − β) w, which is validated and
// kept. In step t, β = min(decay, (t − 1) / (t + 9)), so that the initial weights do not linger.
class WeightAverage {
 public:
  WeightAverage(const Parameters& parameters, double decay);

  // The decay β of step t, counted from 1.
  double decay(int64_t t) const;
  // `decay` as in StepNumbers.
  void update(const Parameters& parameters, const at::Tensor& decay);
  const NamedTensors& values() const { return average_; }
  void restore(NamedTensors average) { average_ = std::move(average); }

 private:
  double decay_;
  NamedTensors average_;
};

}  // namespace lase
