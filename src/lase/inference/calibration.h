#pragma once

#include <array>
#include <functional>

#include "lase/inference/metrics.h"

namespace lase {

// Temperature scaling: probabilities of the logits z / T.
struct TemperatureFit {
  double temperature = 1;
  double log_loss = 0;
  double log_loss_before = 0;  // with T = 1
};
// The temperature with the lowest loss, given the loss as a function of β = 1 / T, which must be
// convex. T is between 0.1 and 100, and 1 if nothing is better.
TemperatureFit fit_temperature(const std::function<double(double beta)>& loss);

// Collects predictions in bins of equal width by confidence.
class CalibrationBins {
 public:
  void add(double confidence, bool correct);
  // Sets the calibration error and the bins.
  void store(Scores& scores) const;

 private:
  static constexpr int kBins = 15;
  std::array<CalibrationBin, kBins> sums_ = {};  // in place of means
};

}  // namespace lase
