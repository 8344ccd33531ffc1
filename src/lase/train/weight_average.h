#pragma once

#include <cstdint>

#include "lase/model/parameters.h"

namespace lase {

// The average of the weights over steps, w̄ ← β w̄ + (1 − β) w, which is what is validated and kept.
// It forgets its start: early on β = (t − 1) / (t + 9) in step t, if that is less than `decay`.
class WeightAverage {
 public:
  WeightAverage(const Parameters& parameters, double decay);

  // After step t, from 1.
  void update(const Parameters& parameters, int64_t t);
  const NamedTensors& values() const { return average_; }
  void restore(NamedTensors average) { average_ = std::move(average); }

 private:
  double decay_;
  NamedTensors average_;
};

}  // namespace lase
