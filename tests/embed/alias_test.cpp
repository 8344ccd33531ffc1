#include "lase/embed/alias.h"

#include <cmath>
#include <gtest/gtest.h>

#include "lase/base/error.h"

namespace lase {
namespace {

TEST(AliasTable, SamplesInProportionToWeights) {
  const std::vector<float> weights = {1, 0, 3, 0.5F, 0, 5.5F};
  const AliasTable table(weights);
  std::vector<double> drawn(weights.size());
  constexpr int kDraws = 400000;
  Random random(7);
  for (int i = 0; i < kDraws; ++i) ++drawn[static_cast<size_t>(table.draw(random))];
  for (size_t i = 0; i < weights.size(); ++i) {
    const double p = weights[i] / 10.0;
    const double error = std::sqrt(p * (1 - p) * kDraws);
    EXPECT_NEAR(drawn[i], p * kDraws, 5 * error) << i;  // exactly 0 if the weight is 0
  }
}

TEST(AliasTable, NeverSamplesZeroWeights) {
  // Scaled weights that do not add up to whole columns in floating point.
  std::vector<float> weights(1000, 0.1F);
  for (size_t i = 0; i < weights.size(); i += 3) weights[i] = 0;
  const AliasTable table(weights);
  Random random(1);
  for (int i = 0; i < 100000; ++i) {
    EXPECT_GT(weights[static_cast<size_t>(table.draw(random))], 0);
  }
}

TEST(AliasTable, RejectsWeightsWithoutAPositiveOne) {
  EXPECT_THROW(AliasTable(std::vector<float>{0, 0}), Error);
  EXPECT_THROW(AliasTable(std::vector<float>{}), Error);
}

}  // namespace
}  // namespace lase
