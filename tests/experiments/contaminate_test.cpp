#include "experiments/contaminate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "support.h"
#include "torch_support.h"

namespace lase {
namespace {

// A path whose links have one sparse attribute each, with the values 1 … n.
Graph numbered_links(bool separate_directions) {
  RawGraph raw;
  raw.attributes.layout = Layout::kSparse;
  raw.attributes.columns = 1;
  raw.rules.separate_directions = separate_directions;
  for (int32_t i = 0; i < 2000; ++i) {
    raw.source.push_back(i);
    raw.target.push_back(i + 1);
    raw.attributes.add_single(0, static_cast<float>(i + 1));
  }
  StringTableBuilder names;
  for (int32_t i = 0; i <= 2000; ++i) names.add(std::to_string(i));
  raw.nodes.names = names.finish();
  raw.attribute_names = make_string_table(std::array{"number"});
  return build_graph(std::move(raw)).graph;
}

std::vector<float> values_of(const Attributes& matrix) {
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.columns));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    matrix.copy_row(row, values.data() + row * matrix.columns);
  }
  return values;
}

double deviation(const std::vector<float>& values) {
  double mean = 0;
  for (const float x : values) mean += x / static_cast<double>(values.size());
  double squares = 0;
  for (const float x : values) squares += (x - mean) * (x - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

TEST(WithNoise, HasTheRequestedRatio) {
  const Graph graph = numbered_links(false);
  const auto clean = values_of(graph.link_attributes);
  for (const double snr : {3.0, 0.3}) {
    auto noise = values_of(with_noise(graph, snr, 1).link_attributes);
    for (size_t i = 0; i < noise.size(); ++i) noise[i] -= clean[i];
    EXPECT_NEAR(deviation(clean) / deviation(noise), snr, 0.05 * snr);
  }
}

TEST(WithNoise, ChangesNothingForAnInfiniteRatio) {
  const Graph graph = numbered_links(true);
  const Graph same = with_noise(graph, std::numeric_limits<double>::infinity(), 1);
  EXPECT_EQ(same.link_attributes.layout, Layout::kDense);
  EXPECT_EQ(values_of(same.link_attributes), values_of(graph.link_attributes));
}

TEST(WithShuffledAttributes, PermutesThemAmongLinks) {
  for (const bool separate_directions : {false, true}) {
    const Graph graph = numbered_links(separate_directions);
    const Graph shuffled = with_shuffled_attributes(graph, 1);
    auto before = values_of(graph.link_attributes);
    auto after = values_of(shuffled.link_attributes);
    EXPECT_NE(before, after);
    if (separate_directions) {
      // [sent, received] of one direction is [received, sent] of the other.
      const int64_t k = graph.link_attributes.columns;
      ASSERT_EQ(k, 2);
      for (size_t i = 0; i < after.size(); i += 4) {
        EXPECT_EQ(after[i], after[i + 3]);
        EXPECT_EQ(after[i + 1], after[i + 2]);
      }
    }
    std::sort(before.begin(), before.end());
    std::sort(after.begin(), after.end());
    EXPECT_EQ(before, after);
  }
}

TEST(WithoutAttributes, HasNone) {
  EXPECT_EQ(without_attributes(numbered_links(true)).link_attributes.columns, 0);
}

}  // namespace
}  // namespace lase
