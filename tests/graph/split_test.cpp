#include "lase/graph/split.h"

#include <map>

#include "support.h"

namespace lase {
namespace {

TEST(SplitFromWord, RecognizesTheUsualWords) {
  for (const auto* word : {"train", "Train", "training"}) {
    EXPECT_EQ(split_from_word(word), Split::kTrain) << word;
  }
  for (const auto* word : {"val", "VALID", "validation", "dev"}) {
    EXPECT_EQ(split_from_word(word), Split::kVal) << word;
  }
  EXPECT_EQ(split_from_word("test"), Split::kTest);
  EXPECT_EQ(split_from_word(""), Split::kNone);
  EXPECT_EQ(split_from_word("none"), Split::kNone);
  for (const auto* word : {"1", "tets", "trainn", "holdout"}) {
    EXPECT_EQ(split_from_word(word), std::nullopt) << word;
  }
}

TEST(IsProportions, AcceptsTwoOrThreeNumbersWithSlashes) {
  for (const auto* text : {"65/15/20", "0.6/0.2/0.2", "1/0/0", "80/20"}) {
    EXPECT_TRUE(is_proportions(text)) << text;
  }
  for (const auto* text : {"", "split", "65", "65/15/20/1", "a/b/c", "-1/1/1", "1//1"}) {
    EXPECT_FALSE(is_proportions(text)) << text;
  }
}

std::vector<int64_t> split_counts(const Array<uint8_t>& split) {
  std::vector<int64_t> counts(4);
  for (const uint8_t part : split) ++counts.at(part);
  return counts;
}

Proportions parsed(std::string_view text) { return parse_proportions(text); }

TEST(ParseProportions, AcceptsPercentagesAndFractions) {
  for (const auto* text : {"65/15/20", "0.65/0.15/0.2"}) {
    EXPECT_DOUBLE_EQ(parsed(text).train, 0.65) << text;
    EXPECT_DOUBLE_EQ(parsed(text).val, 0.15) << text;
    EXPECT_DOUBLE_EQ(parsed(text).test, 0.2) << text;
  }
}

TEST(ParseProportions, TakesATenthOfTrainForValidationIfThereAreTwoNumbers) {
  EXPECT_DOUBLE_EQ(parsed("80/20").train, 0.72);
  EXPECT_DOUBLE_EQ(parsed("80/20").val, 0.08);
  EXPECT_DOUBLE_EQ(parsed("80/20").test, 0.2);
}

TEST(ParseProportions, RejectsOtherSums) {
  for (const auto* text : {"65/15/10", "1/1/1", "0/0/0", "80/30", "6.5/1.5/2"}) {
    expect_error([&] { parsed(text); }, {"split", text, "expected percentages that sum to 100"});
  }
}

TEST(RandomSplit, HasExactCounts) {
  EXPECT_EQ(split_counts(random_split(1000, parsed("65/15/20"), 1)),
            (std::vector<int64_t>{0, 650, 150, 200}));
  EXPECT_EQ(split_counts(random_split(986, parsed("65/15/20"), 2)),
            (std::vector<int64_t>{0, 641, 148, 197}));
  EXPECT_EQ(split_counts(random_split(10, parsed("100/0/0"), 1)),
            (std::vector<int64_t>{0, 10, 0, 0}));
  EXPECT_EQ(random_split(0, parsed("65/15/20"), 1).size(), 0);
}

TEST(StratifiedSplit, SplitsEveryClassAlikeAndLeavesOutUnlabeledNodes) {
  // 200 nodes of class 0, 20 of class 1, 2 of class 2, 30 without a label.
  std::vector<int32_t> label(200, 0);
  label.insert(label.end(), 20, 1);
  label.insert(label.end(), 2, 2);
  label.insert(label.end(), 30, -1);
  const auto nodes = std::ssize(label);
  const Labels labels{.task = Task::kSingleLabel,
                      .label = label,
                      .target = {},
                      .names = make_string_table(Strings{"a", "b", "c"})};
  const auto [split, rare] = stratified_split(labels, nodes, parsed("60/20/20"), 5);
  EXPECT_EQ(rare, 2);
  std::map<int32_t, std::vector<int64_t>> counts;
  for (int64_t u = 0; u < nodes; ++u) {
    auto& of_class = counts[label[static_cast<size_t>(u)]];
    of_class.resize(4);
    ++of_class.at(split[u]);
  }
  using Counts = std::vector<int64_t>;
  EXPECT_EQ(counts[0], (Counts{0, 120, 40, 40}));
  EXPECT_EQ(counts[1], (Counts{0, 12, 4, 4}));
  EXPECT_EQ(counts[2], (Counts{0, 2, 0, 0}));
  EXPECT_EQ(counts[-1], (Counts{30, 0, 0, 0}));
}

TEST(StratifiedSplit, HasExactTotalsForManySmallClasses) {
  std::vector<int32_t> label(400);
  for (size_t i = 0; i < label.size(); ++i) label[i] = static_cast<int32_t>(i / 4);
  Strings names;
  for (int i = 0; i < 100; ++i) names.push_back(std::to_string(i));
  const Labels labels{
      .task = Task::kSingleLabel, .label = label, .target = {}, .names = make_string_table(names)};
  const auto [split, rare] = stratified_split(labels, 400, parsed("65/15/20"), 5);
  EXPECT_EQ(rare, 0);
  EXPECT_EQ(split_counts(split), (std::vector<int64_t>{0, 260, 60, 80}));
}

TEST(StratifiedSplit, SplitsAllNodesOfAGraphWithoutLabels) {
  const auto [split, rare] = stratified_split({}, 100, parsed("65/15/20"), 5);
  EXPECT_EQ(split_counts(split), (std::vector<int64_t>{0, 65, 15, 20}));
}

TEST(RandomSplit, DependsOnTheSeedAlone) {
  const auto copy = [](const Array<uint8_t>& split) {
    return std::vector<uint8_t>(split.begin(), split.end());
  };
  const Proportions thirds{0.34, 0.33, 0.33};
  EXPECT_EQ(copy(random_split(500, thirds, 7)), copy(random_split(500, thirds, 7)));
  EXPECT_NE(copy(random_split(500, thirds, 7)), copy(random_split(500, thirds, 8)));
}

TEST(RedrawValidation, ExchangesTrainingAndValidationNodesOfEveryClass) {
  constexpr int64_t kNodes = 200;
  std::vector<int32_t> label(kNodes);
  std::vector<uint8_t> split(kNodes);
  for (size_t u = 0; u < kNodes; ++u) {
    label[u] = static_cast<int32_t>(u % 2);
    split[u] = static_cast<uint8_t>(u < 120   ? Split::kTrain
                                    : u < 190 ? Split::kTest
                                              : Split::kNone);
  }
  const Labels labels{.task = Task::kSingleLabel,
                      .label = label,
                      .target = {},
                      .names = make_string_table(Strings{"a", "b"})};
  const auto redrawn = redraw_validation(labels, split, 0.25, 1);
  EXPECT_EQ(split_counts(redrawn), (std::vector<int64_t>{10, 90, 30, 70}));
  int64_t of_class_0 = 0;
  for (int64_t u = 0; u < kNodes; ++u) {
    const bool val = redrawn[u] == static_cast<uint8_t>(Split::kVal);
    if (val && label[static_cast<size_t>(u)] == 0) ++of_class_0;
    if (split[static_cast<size_t>(u)] != static_cast<uint8_t>(Split::kTrain)) {
      EXPECT_EQ(redrawn[u], split[static_cast<size_t>(u)]);
    }
  }
  EXPECT_EQ(of_class_0, 15);
  const auto other = redraw_validation(labels, redrawn, 0.25, 2);
  EXPECT_FALSE(std::equal(other.begin(), other.end(), redrawn.begin()));
}

TEST(ProportionsOf, CountsNodesThatBelongToASplit) {
  const std::vector<uint8_t> split = {0, 1, 1, 2, 3, 0};
  const Proportions found = proportions_of(split);
  EXPECT_EQ(found.train, 0.5);
  EXPECT_EQ(found.val, 0.25);
  EXPECT_EQ(found.test, 0.25);
  EXPECT_EQ(proportions_of({}).train, 0);
}

}  // namespace
}  // namespace lase
