#include "experiments/statistics.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "lase/base/error.h"

namespace lase {

MeanAndError mean_and_error(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return {};
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double error = values.size() > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
  return {.mean = mean, .error = error, .count = std::ssize(values)};
}

// With θ = atan(|t| / √ν), P(|T| < |t|) is a finite series (Abramowitz and Stegun 26.7.3, 26.7.4):
//
//   ν odd:   2/π (θ + sin θ (cos θ + 2/3 cos³ θ + … + (2·4···(ν−3)) / (3·5···(ν−2)) cos^(ν−2) θ))
//   ν even:  sin θ (1 + 1/2 cos² θ + … + (1·3···(ν−3)) / (2·4···(ν−2)) cos^(ν−2) θ)
double student_p(double t, int64_t degrees_of_freedom) {
  require(degrees_of_freedom >= 1, "a t-test needs at least two pairs");
  const double theta = std::atan(std::abs(t) / std::sqrt(static_cast<double>(degrees_of_freedom)));
  const double cosine = std::cos(theta);
  const bool odd = degrees_of_freedom % 2 == 1;
  double term = odd ? cosine : 1;
  double series = 0;
  for (int64_t power = odd ? 1 : 0; power <= degrees_of_freedom - 2; power += 2) {
    series += term;
    term *= cosine * cosine * static_cast<double>(power + 1) / static_cast<double>(power + 2);
  }
  const double sum = std::sin(theta) * series;
  const double inside = odd ? 2 / std::numbers::pi * (theta + sum) : sum;
  return std::max(0.0, 1 - inside);
}

PairedDifference paired_difference(const std::vector<double>& a, const std::vector<double>& b,
                                   double test_to_train) {
  require(a.size() == b.size(), "paired scores must have the same number of values");
  std::vector<double> differences;
  for (size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  PairedDifference result{.difference = mean_and_error(differences)};
  auto& [mean, error, count] = result.difference;
  if (count < 2) return result;
  // s² (1/n + test/train) instead of s²/n
  error *= std::sqrt(1 + test_to_train * static_cast<double>(count));
  if (error > 0) result.p = student_p(mean / error, count - 1);
  return result;
}

}  // namespace lase
