#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "lase/base/random.h"
#include "lase/kernels/kernels.h"

namespace lase::kernels {
namespace {

struct Tables {
  std::vector<double> center;
  std::vector<double> context;  // empty: `center` is used
};

// The equations of kernels.h, in plain loops and doubles.
void reference(Tables& tables, const std::vector<NodePair>& pairs,
               const std::vector<uint8_t>& fixed, int64_t width, double rate) {
  auto& contexts = tables.context.empty() ? tables.center : tables.context;
  for (size_t at = 0; at < pairs.size();) {
    size_t end = at;
    while (end < pairs.size() && end < at + kPairGroup && pairs[end].center == pairs[at].center) {
      ++end;
    }
    const auto u = static_cast<size_t>(pairs[at].center * width);
    const std::vector<double> previous(tables.center.begin() + static_cast<int64_t>(u),
                                       tables.center.begin() + static_cast<int64_t>(u) + width);
    std::vector<double> g;
    for (size_t i = at; i < end; ++i) {
      const int32_t v = pairs[i].context < 0 ? ~pairs[i].context : pairs[i].context;
      double z = 0;
      for (int64_t j = 0; j < width; ++j) {
        z += previous[static_cast<size_t>(j)] * contexts[static_cast<size_t>(v * width + j)];
      }
      g.push_back(rate * ((pairs[i].context >= 0 ? 1 : 0) - 1 / (1 + std::exp(-z))));
    }
    for (size_t i = at; i < end; ++i) {
      const int32_t v = pairs[i].context < 0 ? ~pairs[i].context : pairs[i].context;
      for (int64_t j = 0; j < width; ++j) {
        double& y = contexts[static_cast<size_t>(v * width + j)];
        double& x = tables.center[u + static_cast<size_t>(j)];
        if (fixed.empty() || fixed[static_cast<size_t>(pairs[at].center)] == 0) x += g[i - at] * y;
        if (fixed.empty() || fixed[static_cast<size_t>(v)] == 0) {
          y += g[i - at] * previous[static_cast<size_t>(j)];
        }
      }
    }
    at = end;
  }
}

class SkipGramTest : public testing::TestWithParam<int64_t> {
 protected:
  // Runs of one center with repeated contexts; observed pairs and negative samples.
  static std::vector<NodePair> some_pairs(int32_t nodes) {
    Random random(3);
    std::vector<NodePair> pairs;
    int32_t u = 0;
    for (int i = 0; i < 300; ++i) {
      if (random.chance(0.2)) u = static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes)));
      const auto v = static_cast<int32_t>(random.below(static_cast<uint64_t>(nodes)));
      if (v != u) pairs.push_back({u, random.chance(0.5) ? v : ~v});
    }
    return pairs;
  }

  static void compare(int64_t width, bool two, const std::vector<uint8_t>& fixed) {
    constexpr int32_t kNodes = 9;
    Random random(5);
    std::vector<float> center;
    std::vector<float> context;
    for (int64_t i = 0; i < kNodes * width; ++i) {
      center.push_back(static_cast<float>(random.normal()) * 0.3F);
      if (two) context.push_back(static_cast<float>(random.normal()) * 0.3F);
    }
    Tables expected{{center.begin(), center.end()}, {context.begin(), context.end()}};
    const auto pairs = some_pairs(kNodes);
    reference(expected, pairs, fixed, width, 0.05F);
    skip_gram({.center = center.data(),
               .context = two ? context.data() : center.data(),
               .fixed = fixed.empty() ? nullptr : fixed.data(),
               .width = width,
               .rate = 0.05F},
              pairs.data(), std::ssize(pairs));
    for (size_t i = 0; i < center.size(); ++i) ASSERT_NEAR(center[i], expected.center[i], 2e-5);
    for (size_t i = 0; i < context.size(); ++i) ASSERT_NEAR(context[i], expected.context[i], 2e-5);
  }
};

TEST_P(SkipGramTest, TwoTables) { compare(GetParam(), true, {}); }
TEST_P(SkipGramTest, OneTable) { compare(GetParam(), false, {}); }
TEST_P(SkipGramTest, FixedRowsAreNotUpdated) {
  const std::vector<uint8_t> fixed = {1, 0, 0, 1, 1, 0, 1, 0, 0};
  compare(GetParam(), true, fixed);
  compare(GetParam(), false, fixed);
}

INSTANTIATE_TEST_SUITE_P(Widths, SkipGramTest, testing::Values(1, 7, 16, 33, 128));

}  // namespace
}  // namespace lase::kernels
