#include "lase/base/random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

namespace lase {
namespace {

// Expected values from an independent implementation in another language.
TEST(Random, GivesTheSameNumbersOnEveryMachine) {
  EXPECT_EQ(mix(1), 0x5692161d100b05e5u);
  Random plain(0);
  EXPECT_EQ(plain.bits(), 0xa706dd2f4d197e6fu);
  EXPECT_EQ(plain.bits(), 0xb382a305f4414f5eu);
  EXPECT_EQ(plain.bits(), 0x631a9154fbabf717u);
  Random keyed(7, 1, 2);
  EXPECT_EQ(keyed.bits(), 0x6f5fde03c42e070eu);
  EXPECT_EQ(keyed.bits(), 0x84f0a08c12ba5180u);
  EXPECT_EQ(keyed.bits(), 0x2a6fca6e122b0fe6u);
  Random other(1);
  EXPECT_EQ(other.uniform(), 0.36818951565166946);
  EXPECT_EQ(other.below(10), 9u);
}

TEST(Random, GivesTheSameNumbersForEveryMethod) {
  Random random(5, 3, 9);
  EXPECT_EQ(random.below(1'000'000'007), 263053649u);
  EXPECT_EQ(random.below(~uint64_t{0}), 13357869825500951217u);
  const auto parts = random.split_below(12345);
  EXPECT_EQ(parts.below, 5702u);
  EXPECT_EQ(parts.rest, 3475965349u);
  EXPECT_EQ(random.normal(), 0.66913304911380767);
  EXPECT_EQ(random.uniform(), 0.18622360714387554);
  Random extreme(~uint64_t{0}, -1, 0);
  EXPECT_EQ(extreme.bits(), 0x95d093772816a2c4u);
}

TEST(Random, AddsCoordinatesAndSkipsNumbers) {
  Random all(7, 1, -2);
  Random added = Random(7, 1).with(-2);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(all.bits(), added.bits());
  Random skipped = Random(7).with(1).with(-2);
  skipped.skip(3);
  EXPECT_EQ(all.bits(), skipped.bits());
}

TEST(Random, DependsOnEveryCoordinateAndOnTheirOrder) {
  std::set<uint64_t> first;
  for (const auto& random :
       {Random(1), Random(2), Random(1, 0), Random(1, 1), Random(1, 0, 1), Random(1, 1, 0)}) {
    auto copy = random;
    first.insert(copy.bits());
  }
  EXPECT_EQ(first.size(), 6u);
}

TEST(Random, IsUniform) {
  Random random(3);
  constexpr int kSamples = 100'000;
  double sum = 0;
  int counts[7] = {};
  for (int i = 0; i < kSamples; ++i) {
    const double value = random.uniform();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
    const uint64_t below = random.below(7);
    ASSERT_LT(below, 7u);
    ++counts[below];
  }
  EXPECT_NEAR(sum / kSamples, 0.5, 0.005);
  for (const int count : counts) EXPECT_NEAR(count, kSamples / 7.0, 500);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  Random random(4);
  constexpr int kSamples = 100'000;
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double value = random.normal();
    ASSERT_LE(std::abs(value), 6);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kSamples, 0, 0.02);
  EXPECT_NEAR(squares / kSamples, 1, 0.02);
}

}  // namespace
}  // namespace lase
