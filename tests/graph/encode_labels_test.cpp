#include "lase/graph/encode_labels.h"

#include <cmath>

#include "support.h"

namespace lase {
namespace {

std::vector<int32_t> numbers(const Labels& labels) {
  return {labels.label.begin(), labels.label.end()};
}

TEST(EncodeLabels, SortsNames) {
  const auto labels = encode_labels(make_string_table(Strings{"b", "a", "", "b"}), {});
  EXPECT_EQ(labels.task, Task::kSingleLabel);
  EXPECT_EQ(texts(labels.names), (Strings{"a", "b"}));
  EXPECT_EQ(numbers(labels), (std::vector<int32_t>{1, 0, -1, 1}));
  EXPECT_TRUE(labels.known(0));
  EXPECT_FALSE(labels.known(2));
}

TEST(EncodeLabels, SortsIntegersByValue) {
  const auto labels = encode_labels(make_string_table(Strings{"10", "9", "-1", "100"}), {});
  EXPECT_EQ(texts(labels.names), (Strings{"-1", "9", "10", "100"}));
  const auto mixed = encode_labels(make_string_table(Strings{"10", "9", "x"}), {});
  EXPECT_EQ(texts(mixed.names), (Strings{"10", "9", "x"}));
}

TEST(EncodeLabels, KnownClassesComeFirstInTheirOrder) {
  const auto labels = encode_labels(make_string_table(Strings{"c", "a", "b"}),
                                    make_string_table(Strings{"z", "b"}));
  EXPECT_EQ(texts(labels.names), (Strings{"z", "b", "a", "c"}));
  EXPECT_EQ(numbers(labels), (std::vector<int32_t>{3, 2, 1}));
}

TEST(EncodeMultiLabels, MarksEveryClassOfANode) {
  const auto labels =
      encode_multi_labels(make_string_table(Strings{"b; a", "", "c", "a;;a"}), ";", {});
  EXPECT_EQ(labels.task, Task::kMultiLabel);
  EXPECT_EQ(texts(labels.names), (Strings{"a", "b", "c"}));
  const auto& target = labels.target;
  EXPECT_EQ(Floats(target.begin(), target.begin() + 3), (Floats{1, 1, 0}));
  EXPECT_TRUE(std::isnan(target[3]) && std::isnan(target[4]) && std::isnan(target[5]));
  EXPECT_EQ(Floats(target.begin() + 6, target.end()), (Floats{0, 0, 1, 1, 0, 0}));
  EXPECT_TRUE(labels.known(0));
  EXPECT_FALSE(labels.known(1));
}

TEST(EncodeMultiLabels, AcceptAnyNonEmptySeparator) {
  const auto labels = encode_multi_labels(make_string_table(Strings{"a::b"}),
                                          "::", make_string_table(Strings{"b"}));
  EXPECT_EQ(texts(labels.names), (Strings{"b", "a"}));
  expect_error([] { encode_multi_labels({}, "", {}); }, {"label_separator"});
}

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

TEST(IsShares, AcceptsTwoOrThreeNumbersWithSlashes) {
  for (const auto* text : {"65/15/20", "0.6/0.2/0.2", "1/0/0", "80/20"}) {
    EXPECT_TRUE(is_shares(text)) << text;
  }
  for (const auto* text : {"", "split", "65", "65/15/20/1", "a/b/c", "-1/1/1", "1//1"}) {
    EXPECT_FALSE(is_shares(text)) << text;
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

TEST(SplitText, KeepsEmptyParts) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split_text("a;b", ";"), (Parts{"a", "b"}));
  EXPECT_EQ(split_text(";a;", ";"), (Parts{"", "a", ""}));
  EXPECT_EQ(split_text("", ";"), (Parts{""}));
  EXPECT_EQ(split_text("a and b", " and "), (Parts{"a", "b"}));
}

}  // namespace
}  // namespace lase
