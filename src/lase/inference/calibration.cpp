#include "lase/inference/calibration.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lase {

// Golden-section search in log T: a convex function of β has one minimum, also in log T.
TemperatureFit fit_temperature(const std::function<double(double beta)>& loss) {
  constexpr double kGolden = 1 / std::numbers::phi;
  constexpr double kTolerance = 1e-7;
  const auto at = [&](double log_t) { return loss(std::exp(-log_t)); };
  double low = std::log(0.1);
  double high = std::log(100.0);
  double left = high - kGolden * (high - low);
  double right = low + kGolden * (high - low);
  double at_left = at(left);
  double at_right = at(right);
  while (high - low > kTolerance) {
    if (at_left < at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - kGolden * (high - low);
      at_left = at(left);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + kGolden * (high - low);
      at_right = at(right);
    }
  }
  const double best = (low + high) / 2;
  const double before = loss(1);
  const double after = at(best);
  if (!(after < before)) return {1, before, before};
  return {std::exp(best), after, before};
}

void CalibrationBins::add(double confidence, bool correct) {
  const auto bin = std::clamp(static_cast<int>(confidence * kBins), 0, kBins - 1);
  auto& sums = sums_[static_cast<size_t>(bin)];
  ++sums.count;
  sums.confidence += confidence;
  sums.accuracy += correct ? 1 : 0;
}

void CalibrationBins::store(Scores& scores) const {
  double error = 0;
  double all = 0;
  scores.calibration.clear();
  for (const auto& sums : sums_) {
    if (sums.count == 0) continue;
    const auto count = static_cast<double>(sums.count);
    error += std::abs(sums.confidence - sums.accuracy);
    all += count;
    scores.calibration.push_back({sums.count, sums.confidence / count, sums.accuracy / count});
  }
  scores.calibration_error = ratio(error, all);
}

}  // namespace lase
