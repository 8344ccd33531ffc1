// For any scores, the expected sum of the weights of every arc must be exactly 1.

#include "lase/sampler/probabilities.h"

#include <algorithm>
#include <cmath>

#include "lase/sampler/sampler.h"

#include "torch_support.h"

namespace lase {
namespace {

// Node 0 has `degree` neighbors; arc i has link i.
Adjacency star(int64_t degree) {
  std::vector<int64_t> row_ptr(static_cast<size_t>(degree) + 2, degree);
  row_ptr[0] = 0;
  std::vector<int32_t> neighbor;
  std::vector<int32_t> link;
  for (int32_t i = 0; i < degree; ++i) {
    neighbor.push_back(i + 1);
    link.push_back(i);
  }
  return {row_ptr, neighbor, link};
}

Floats scores(const std::string& kind, int64_t degree) {
  Floats all;
  for (int64_t i = 0; i < degree; ++i) {
    if (kind == "equal") all.push_back(2);
    if (kind == "unequal") all.push_back(std::exp(-static_cast<float>(i) / 2));
    if (kind == "one large") all.push_back(i == 5 ? 1e9F : 1e-9F);
    if (kind == "some zero") all.push_back(i % 3 == 0 ? 0 : static_cast<float>(i));
    if (kind == "zero") all.push_back(0);
    if (kind == "infinite") all.push_back(i == 0 ? INFINITY : 1);
  }
  return all;
}

constexpr const char* kKinds[] = {"uniform",   "equal", "unequal", "one large",
                                  "some zero", "zero",  "infinite"};

Doubles probabilities(const Probabilities& start) {
  Doubles p;
  for (size_t i = 0; i < start.size(); ++i) {
    const uint64_t end = i + 1 == start.size() ? kWholeRow : start[i + 1];
    p.push_back(static_cast<double>(end - start[i]) / static_cast<double>(kWholeRow));
  }
  return p;
}

TEST(Probabilities, FollowTheScoresAboveAFloor) {
  for (const int64_t degree : {11, 40}) {
    const Adjacency graph = star(degree);
    const auto n = static_cast<double>(degree);
    const Floats raw = scores("some zero", degree);
    const Doubles p = probabilities(sampling_probabilities(graph, raw, 10, Replacement::kWith));
    double total = 0;
    for (const float score : raw) total += double{score};
    for (size_t i = 0; i < p.size(); ++i) {
      EXPECT_NEAR(p[i], (1 - kFloor) * double{raw[i]} / total + kFloor / n, 1e-8);
    }
    for (const char* kind : {"equal", "zero", "infinite"}) {
      for (const double x : probabilities(
               sampling_probabilities(graph, scores(kind, degree), 10, Replacement::kWith))) {
        EXPECT_NEAR(x, 1 / n, 1e-8) << kind;
      }
    }
  }
}

TEST(Probabilities, WithoutReplacementAreAtMostOneOverFanout) {
  for (const char* kind : kKinds) {
    if (std::string(kind) == "uniform") continue;
    for (const int64_t fanout : {1, 3, 10}) {
      const Floats raw = scores(kind, 25);
      const Doubles p =
          probabilities(sampling_probabilities(star(25), raw, fanout, Replacement::kWithout));
      for (size_t i = 0; i < p.size(); ++i) {
        EXPECT_LE(p[i], 1 / static_cast<double>(fanout) + 1e-8) << kind;
        EXPECT_GT(p[i], 0) << kind;
        for (size_t j = 0; j < i; ++j) {
          if (raw[i] > raw[j]) {
            EXPECT_GE(p[i], p[j] - 1e-8) << kind;
          }
        }
      }
    }
  }
}

// In a row of millions of arcs, even those with a negligible score keep a positive probability.
TEST(Probabilities, StayPositiveInLongRows) {
  const int64_t degree = 3'000'000;
  Floats raw(static_cast<size_t>(degree), 1e-30F);
  raw[0] = 1;
  for (const double p :
       probabilities(sampling_probabilities(star(degree), raw, 10, Replacement::kWithout))) {
    ASSERT_GT(p, 0.5 * kFloor / static_cast<double>(degree));
  }
}

// Enough samples to reveal the wrong weight of a single arc.
TEST(Probabilities, GiveEveryArcAnExpectedWeightOfOne) {
  constexpr int kSamples = 40'000;
  constexpr int64_t kDegree = 23;
  const Adjacency graph = star(kDegree);
  const std::vector<int64_t> seeds = {0};
  for (const char* kind : kKinds) {
    for (const Replacement replacement : {Replacement::kWith, Replacement::kWithout}) {
      for (const int64_t fanout : {1, 3, 10}) {
        Sampling sampling{.fanouts = {fanout}, .replacement = replacement};
        if (std::string(kind) != "uniform") {
          sampling.probabilities.push_back(
              sampling_probabilities(graph, scores(kind, kDegree), fanout, replacement));
        }
        Doubles sum(kDegree);
        Doubles squares(kDegree);
        for (int epoch = 0; epoch < kSamples; ++epoch) {
          const Block block = sample_batch(graph, seeds, sampling, {3, epoch, 0}).blocks[0];
          ASSERT_EQ(block.arcs(), fanout);
          const auto* link = block.link.data_ptr<int32_t>();
          const auto* weight = block.weight.data_ptr<float>();
          Doubles once(kDegree);
          for (int64_t i = 0; i < fanout; ++i) {
            once[static_cast<size_t>(link[i])] += double{weight[i]};
            if (replacement == Replacement::kWithout && i > 0) {
              ASSERT_LT(link[i - 1], link[i]);
            }
          }
          for (size_t i = 0; i < once.size(); ++i) {
            sum[i] += once[i];
            squares[i] += once[i] * once[i];
          }
        }
        for (size_t i = 0; i < sum.size(); ++i) {
          const double mean = sum[i] / kSamples;
          const double error =
              std::sqrt(std::max(0.0, squares[i] / kSamples - mean * mean) / kSamples);
          EXPECT_LT(error, 0.09);
          EXPECT_NEAR(mean, 1, 4.5 * error + 1e-6)
              << kind << ", " << name_of(replacement) << ", fan-out " << fanout << ", arc " << i;
        }
      }
    }
  }
}

TEST(Probabilities, AreNotNeededIfTheFanoutExceedsTheDegree) {
  const std::vector<int64_t> seeds = {0};
  for (const Replacement replacement : {Replacement::kWith, Replacement::kWithout}) {
    const Sampling sampling{.fanouts = {int64_t{1} << 60}, .replacement = replacement};
    EXPECT_EQ(sample_batch(star(7), seeds, sampling, {1, 0, 0}).arcs(), 7);
  }
}

TEST(Probabilities, DoNotChangeShortRows) {
  const Adjacency graph = star(7);
  const std::vector<int64_t> seeds = {0};
  for (const Replacement replacement : {Replacement::kWith, Replacement::kWithout}) {
    const Sampling sampling{
        .fanouts = {7},
        .replacement = replacement,
        .probabilities = {sampling_probabilities(graph, scores("unequal", 7), 7, replacement)}};
    const Block block = sample_batch(graph, seeds, sampling, {1, 0, 0}).blocks[0];
    ASSERT_EQ(block.arcs(), 7);
    for (int32_t i = 0; i < 7; ++i) {
      EXPECT_EQ(block.link.data_ptr<int32_t>()[i], i);
      EXPECT_EQ(block.weight.data_ptr<float>()[i], 1.0F);
    }
  }
}

}  // namespace
}  // namespace lase
