#include "lase/base/shuffle.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

namespace lase {
namespace {

std::vector<int> numbers(int n) {
  std::vector<int> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// Published results depend on these orders.
TEST(Shuffle, SwapsFromTheEnd) {
  std::vector<int> expected = numbers(10);
  Random same_stream(3);
  for (size_t i = 10; i > 1; --i) std::swap(expected[i - 1], expected[same_stream.below(i)]);
  std::vector<int> shuffled = numbers(10);
  Random random(3);
  shuffle(shuffled, random);
  EXPECT_EQ(shuffled, expected);
  EXPECT_EQ(shuffled, (std::vector<int>{1, 0, 2, 6, 3, 4, 9, 8, 5, 7}));
  EXPECT_EQ(random.bits(), same_stream.bits());
}

TEST(Shuffle, SubsampleSwapsFromTheStart) {
  std::vector<int> sample = numbers(10);
  Random random(3);
  subsample(sample, 4, random);
  EXPECT_EQ(sample, (std::vector<int>{7, 6, 0, 8}));
  std::vector<int> all = numbers(3);
  subsample(all, 7, random);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, numbers(3));
}

TEST(Shuffle, GivesEveryOrderEquallyOften) {
  constexpr int kRepeats = 12'000;
  std::map<std::vector<int>, int> shuffles;
  std::map<std::vector<int>, int> samples;
  for (int i = 0; i < kRepeats; ++i) {
    Random random(7, i);
    std::vector<int> shuffled = numbers(3);
    shuffle(shuffled, random);
    ++shuffles[shuffled];
    std::vector<int> sample = numbers(4);
    subsample(sample, 2, random);
    ++samples[sample];
  }
  EXPECT_EQ(shuffles.size(), 6u);
  EXPECT_EQ(samples.size(), 12u);
  // Five standard deviations.
  for (const auto& [order, count] : shuffles) EXPECT_NEAR(count, kRepeats / 6.0, 5 * 41);
  for (const auto& [order, count] : samples) EXPECT_NEAR(count, kRepeats / 12.0, 5 * 31);
}

}  // namespace
}  // namespace lase
