#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lase {

struct MeanAndError {
  double mean = 0;
  double error = 0;  // standard error; 0 for a single value
  int64_t count = 0;
};
MeanAndError mean_and_error(const std::vector<double>& values);

// The two-sided p-value of Student's t statistic: P(|T| ≥ |t|).
double student_p(double t, int64_t degrees_of_freedom);

// Mean of the differences a_i − b_i of paired scores, with a two-sided paired t-test of the
// hypothesis that it is 0.
struct PairedDifference {
  MeanAndError difference;
  std::optional<double> p = {};  // none for a single pair, or if all differences are equal
};
// Scores on random splits of the same nodes are not independent, since their training sets overlap.
// `test_to_train`, the number of test nodes divided by that of training nodes, corrects the
// variance for it (Nadeau and Bengio 2003); 0: independent pairs.
PairedDifference paired_difference(const std::vector<double>& a, const std::vector<double>& b,
                                   double test_to_train = 0);

}  // namespace lase
