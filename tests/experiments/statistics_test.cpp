#include "experiments/statistics.h"

#include "support.h"

namespace lase {
namespace {

// Values of scipy.stats.t.sf(t, df) * 2.
TEST(StudentP, IsThatOfTheDistribution) {
  EXPECT_NEAR(student_p(1, 1), 0.5, 1e-12);
  EXPECT_NEAR(student_p(-2.5, 2), 0.12961172022151, 1e-12);
  EXPECT_NEAR(student_p(2.5, 3), 0.08770664700806, 1e-12);
  EXPECT_NEAR(student_p(3, 4), 0.03994196807171, 1e-12);
  EXPECT_NEAR(student_p(4.2, 9), 0.00230669250654, 1e-12);
  EXPECT_NEAR(student_p(1.96, 1000), 0.05027318495575, 1e-12);
  EXPECT_EQ(student_p(0, 5), 1);
}

TEST(PairedDifference, IsAPairedTTest) {
  // scipy.stats.ttest_rel([.8, .7, .9, .6], [.7, .65, .75, .6])
  const auto result = paired_difference({.8, .7, .9, .6}, {.7, .65, .75, .6});
  EXPECT_NEAR(result.difference.mean, 0.075, 1e-12);
  EXPECT_NEAR(result.difference.error, 0.03227486121839514, 1e-12);
  EXPECT_NEAR(result.p.value_or(0), 0.10272807885840, 1e-9);
}

TEST(PairedDifference, HasALargerErrorForOverlappingTrainingSets) {
  const auto result = paired_difference({.8, .7, .9, .6}, {.7, .65, .75, .6}, 0.5);
  // s² (1/4 + 0.5) = 3 s²/4
  EXPECT_NEAR(result.difference.error, 0.03227486121839514 * std::sqrt(3), 1e-12);
  EXPECT_GT(result.p.value_or(0), 0.2);
}

TEST(PairedDifference, HandlesEqualScoresAndSinglePairs) {
  EXPECT_FALSE(paired_difference({.5, .6}, {.5, .6}).p.has_value());
  EXPECT_FALSE(paired_difference({.5, .5}, {.25, .25}).p.has_value());
  const auto single = paired_difference({.5}, {.4});
  EXPECT_NEAR(single.difference.mean, 0.1, 1e-12);
  EXPECT_EQ(single.difference.count, 1);
  EXPECT_FALSE(single.p.has_value());
}

}  // namespace
}  // namespace lase
