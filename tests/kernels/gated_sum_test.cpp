// Properties of the kernel itself; sums and gradients are tested in ops/gated_sum_test.cpp.

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "lase/base/random.h"
#include "lase/kernels/kernels.h"

namespace lase::kernels {
namespace {

using Floats = std::vector<float>;

// One target per x, each with a single arc, so that s(u) is a single term.
struct OneArcRows {
  std::vector<int64_t> row_ptr;
  std::vector<int32_t> source;
  std::vector<int32_t> link;
  Floats s;

  explicit OneArcRows(size_t n) : source(n), link(n), s(n) {
    for (size_t i = 0; i <= n; ++i) row_ptr.push_back(static_cast<int64_t>(i));
    for (size_t i = 0; i < n; ++i) link[i] = static_cast<int32_t>(i);
  }
  BlockView block() const {
    return {.targets = static_cast<int64_t>(s.size()),
            .sources = 1,
            .row_ptr = row_ptr.data(),
            .source = source.data(),
            .link = link.data()};
  }
};

Floats sweep(float from, float to, int64_t n) {
  Floats x;
  for (int64_t i = 0; i <= n; ++i) {
    x.push_back(from + (to - from) * static_cast<float>(i) / static_cast<float>(n));
  }
  return x;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// σ(x), computed by the gate and by the amplifier.
Floats by_gate(const Floats& x) {
  OneArcRows rows(x.size());
  const float one = 1;
  const float zero = 0;
  gated_sum({.block = rows.block(),
             .f = {},
             .d = 1,
             .amplifier = Amplifier::kNone,
             .terms = {.h = &one, .p = x.data(), .q = &zero}},
            {.s = rows.s.data()});
  return rows.s;
}

Floats by_amplifier(const Floats& x) {
  OneArcRows rows(x.size());
  const float one = 1;
  gated_sum({.block = rows.block(),
             .f = {.rows = static_cast<int64_t>(x.size()), .columns = 1, .values = x.data()},
             .d = 1,
             .terms = {.h = &one, .u = &one}},
            {.s = rows.s.data()});
  return rows.s;
}

void expect_accurate(const Floats& found, const Floats& x) {
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(found[i] / sigmoid(double{x[i]}), 1, 1e-6) << x[i];
  }
}

TEST(Sigmoid, OfTheGateIsAccurate) {
  const Floats x = sweep(-80, 90, 100001);
  expect_accurate(by_gate(x), x);
}

// Rounding the product before the exponential causes a relative error of |x| · 1e-7.
TEST(Sigmoid, OfTheAmplifierIsAccurate) {
  const Floats x = sweep(-8, 40, 100001);
  expect_accurate(by_amplifier(x), x);
}

TEST(Sigmoid, HandlesInfinityAndNan) {
  const Floats x = {-INFINITY, INFINITY, NAN, -1e30F, 1e30F};
  for (const Floats& found : {by_gate(x), by_amplifier(x)}) {
    EXPECT_NEAR(found[0], 0, 1e-30);
    EXPECT_EQ(found[1], 1);
    EXPECT_TRUE(std::isnan(found[2]));
    EXPECT_NEAR(found[3], 0, 1e-30);
    EXPECT_EQ(found[4], 1);
  }
}

Floats random_floats(size_t n, uint64_t seed) {
  Random random(seed);
  Floats values;
  for (size_t i = 0; i < n; ++i) values.push_back(static_cast<float>(2 * random.uniform() - 1));
  return values;
}

// The baseline is subtracted term by term, which gives the difference of two sums.
TEST(GatedSumWithBaseline, IsTheDifferenceOfSums) {
  constexpr int64_t kTargets = 40;
  constexpr int64_t kSources = 30;
  constexpr int64_t kArcs = 2500;
  constexpr int64_t d = 53;
  constexpr int64_t k = 11;
  Random random(1);
  std::vector<int64_t> row_ptr(kTargets + 1);
  for (size_t t = 1; t <= kTargets; ++t) row_ptr[t] = static_cast<int64_t>(t) * kArcs / kTargets;
  std::vector<int32_t> source;
  std::vector<int32_t> link;
  for (int64_t i = 0; i < kArcs; ++i) {
    source.push_back(static_cast<int32_t>(random.below(kSources)));
    link.push_back(static_cast<int32_t>(random.below(100)));
  }
  const Floats weight = random_floats(kArcs, 2);
  const Floats f = random_floats(100 * k, 3);
  struct Term {
    Floats h = random_floats(kSources * d, 4), u = random_floats(d * k, 5),
           shift = random_floats(d, 6), p = random_floats(kTargets, 7),
           q = random_floats(kSources, 8), v = random_floats(k, 9);
    TermView view() const {
      return {.h = h.data(),
              .u = u.data(),
              .u_shift = shift.data(),
              .p = p.data(),
              .q = q.data(),
              .v = v.data()};
    }
  };
  const Term terms;
  Term baseline;
  for (Floats* part :
       {&baseline.h, &baseline.u, &baseline.shift, &baseline.p, &baseline.q, &baseline.v}) {
    for (float& x : *part) x += 0.1F * static_cast<float>(random.uniform());
  }
  std::vector<int32_t> code(100);
  std::iota(code.rbegin(), code.rend(), 0);
  for (const bool dictionary : {false, true}) {
    GatedSum in{.block = {.targets = kTargets,
                          .sources = kSources,
                          .row_ptr = row_ptr.data(),
                          .source = source.data(),
                          .link = link.data(),
                          .weight = weight.data()},
                .f = {.layout = dictionary ? Layout::kDictionary : Layout::kDense,
                      .rows = 100,
                      .columns = k,
                      .codes = dictionary ? 100 : 0,
                      .values = f.data(),
                      .code = dictionary ? code.data() : nullptr},
                .d = d,
                .terms = terms.view()};
    Floats first(kTargets * d);
    Floats second(kTargets * d);
    Floats both(kTargets * d);
    gated_sum(in, {.s = first.data()});
    in.terms = baseline.view();
    gated_sum(in, {.s = second.data()});
    in.terms = terms.view();
    const TermView baseline_view = baseline.view();
    in.baseline = &baseline_view;
    gated_sum(in, {.s = both.data()});
    for (size_t i = 0; i < both.size(); ++i) {
      ASSERT_NEAR(both[i], first[i] - second[i], 2e-5)
          << i << (dictionary ? " dictionary" : " dense");
    }
  }
}

}  // namespace
}  // namespace lase::kernels
