// Every arc must count for exactly one on average, whatever the scores: the weights of its draws
// sum to one.

#include "lase/sampler/shares.h"

#include <algorithm>
#include <cmath>

#include "lase/sampler/sampler.h"

#include "torch_support.h"

namespace lase {
namespace {

// Node 0 has `degree` neighbours, and arc i the link i.
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
    if (kind == "one of many") all.push_back(i == 5 ? 1e9F : 1e-9F);
    if (kind == "some zero") all.push_back(i % 3 == 0 ? 0 : static_cast<float>(i));
    if (kind == "zero") all.push_back(0);
    if (kind == "infinite") all.push_back(i == 0 ? INFINITY : 1);
  }
  return all;
}

constexpr const char* kKinds[] = {"uniform",   "equal", "unequal", "one of many",
                                  "some zero", "zero",  "infinite"};

Doubles probabilities(const Shares& start) {
  Doubles p;
  for (size_t i = 0; i < start.size(); ++i) {
    const uint64_t end = i + 1 == start.size() ? kWholeRow : start[i + 1];
    p.push_back(static_cast<double>(end - start[i]) / static_cast<double>(kWholeRow));
  }
  return p;
}

TEST(Shares, FollowTheScoresAboveAFloor) {
  for (const int64_t degree : {11, 40}) {
    const Adjacency graph = star(degree);
    const auto n = static_cast<double>(degree);
    const Floats known = scores("some zero", degree);
    const Doubles p = probabilities(make_shares(graph, known, 10, Draw::kReplace));
    double total = 0;
    for (const float score : known) total += double{score};
    for (size_t i = 0; i < p.size(); ++i) {
      EXPECT_NEAR(p[i], (1 - kFloor) * double{known[i]} / total + kFloor / n, 1e-8);
    }
    for (const char* kind : {"equal", "zero", "infinite"}) {
      for (const double x :
           probabilities(make_shares(graph, scores(kind, degree), 10, Draw::kReplace))) {
        EXPECT_NEAR(x, 1 / n, 1e-8) << kind;
      }
    }
  }
}

TEST(Shares, WithoutReplacementAreAtMostOneDrawEach) {
  for (const char* kind : kKinds) {
    if (std::string(kind) == "uniform") continue;
    for (const int64_t fanout : {1, 3, 10}) {
      const Floats known = scores(kind, 25);
      const Doubles p = probabilities(make_shares(star(25), known, fanout, Draw::kWithout));
      for (size_t i = 0; i < p.size(); ++i) {
        EXPECT_LE(p[i], 1 / static_cast<double>(fanout) + 1e-8) << kind;
        EXPECT_GT(p[i], 0) << kind;
        for (size_t j = 0; j < i; ++j) {
          if (known[i] > known[j]) {
            EXPECT_GE(p[i], p[j] - 1e-8) << kind;
          }
        }
      }
    }
  }
}

// What is left of a row of millions for an arc whose score is nothing is still drawn.
TEST(Shares, LeaveAStretchToEveryArcOfALongRow) {
  const int64_t degree = 3'000'000;
  Floats known(static_cast<size_t>(degree), 1e-30F);
  known[0] = 1;
  for (const double p : probabilities(make_shares(star(degree), known, 10, Draw::kWithout))) {
    ASSERT_GT(p, 0.5 * kFloor / static_cast<double>(degree));
  }
}

// Draws all arcs often enough that the wrong weight of a single one would show.
TEST(Shares, EveryArcCountsForOneOnAverage) {
  constexpr int kDraws = 40'000;
  constexpr int64_t kDegree = 23;
  const Adjacency graph = star(kDegree);
  const std::vector<int64_t> seeds = {0};
  for (const char* kind : kKinds) {
    for (const Draw draw : {Draw::kReplace, Draw::kWithout}) {
      for (const int64_t fanout : {1, 3, 10}) {
        Sampling sampling{.fanouts = {fanout}, .draw = draw};
        if (std::string(kind) != "uniform") {
          sampling.shares.push_back(make_shares(graph, scores(kind, kDegree), fanout, draw));
        }
        Doubles sum(kDegree);
        Doubles squares(kDegree);
        for (int epoch = 0; epoch < kDraws; ++epoch) {
          const Block block = sample_batch(graph, seeds, sampling, {3, epoch, 0}).blocks[0];
          ASSERT_EQ(block.arcs(), fanout);
          const auto* link = block.link.data_ptr<int32_t>();
          const auto* weight = block.weight.data_ptr<float>();
          Doubles once(kDegree);
          for (int64_t i = 0; i < fanout; ++i) {
            once[static_cast<size_t>(link[i])] += double{weight[i]};
            if (draw == Draw::kWithout && i > 0) {
              ASSERT_LT(link[i - 1], link[i]);
            }
          }
          for (size_t i = 0; i < once.size(); ++i) {
            sum[i] += once[i];
            squares[i] += once[i] * once[i];
          }
        }
        for (size_t i = 0; i < sum.size(); ++i) {
          const double mean = sum[i] / kDraws;
          const double error = std::sqrt(std::max(0.0, squares[i] / kDraws - mean * mean) / kDraws);
          EXPECT_LT(error, 0.09);
          EXPECT_NEAR(mean, 1, 4.5 * error + 1e-6)
              << kind << ", " << name_of(draw) << ", " << fanout << " drawn, arc " << i;
        }
      }
    }
  }
}

TEST(Shares, CostNothingWhereMoreAreAskedForThanThereAre) {
  const std::vector<int64_t> seeds = {0};
  for (const Draw draw : {Draw::kReplace, Draw::kWithout}) {
    const Sampling sampling{.fanouts = {int64_t{1} << 60}, .draw = draw};
    EXPECT_EQ(sample_batch(star(7), seeds, sampling, {1, 0, 0}).arcs(), 7);
  }
}

TEST(Shares, LeaveShortRowsWhole) {
  const Adjacency graph = star(7);
  const std::vector<int64_t> seeds = {0};
  for (const Draw draw : {Draw::kReplace, Draw::kWithout}) {
    const Sampling sampling{.fanouts = {7},
                            .draw = draw,
                            .shares = {make_shares(graph, scores("unequal", 7), 7, draw)}};
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
