#include "lase/inference/metrics.h"

namespace lase {

double ratio(double a, double b) { return b == 0 ? 0 : a / b; }

double ClassScore::precision() const {
  return ratio(static_cast<double>(true_positives),
               static_cast<double>(true_positives + false_positives));
}
double ClassScore::recall() const {
  return ratio(static_cast<double>(true_positives), static_cast<double>(support()));
}
double ClassScore::f1() const {
  return ratio(2 * static_cast<double>(true_positives),
               static_cast<double>(2 * true_positives + false_positives + false_negatives));
}

int64_t Scores::confused(int64_t label, int64_t predicted) const {
  const auto found = confusion.find({label, predicted});
  return found == confusion.end() ? 0 : found->second;
}

}  // namespace lase
