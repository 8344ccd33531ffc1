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

TEST(IsShares, AcceptsThreeNumbersWithSlashes) {
  for (const auto* text : {"65/15/20", "0.6/0.2/0.2", "1/0/0"}) EXPECT_TRUE(is_shares(text));
  for (const auto* text : {"", "split", "65/15", "65/15/20/1", "a/b/c", "-1/1/1", "1//1"}) {
    EXPECT_FALSE(is_shares(text)) << text;
  }
}

std::vector<int64_t> split_counts(const Array<uint8_t>& split) {
  std::vector<int64_t> counts(4);
  for (const uint8_t part : split) ++counts.at(part);
  return counts;
}

TEST(RandomSplit, HasExactCounts) {
  EXPECT_EQ(split_counts(random_split(1000, "65/15/20", 1)),
            (std::vector<int64_t>{0, 650, 150, 200}));
  EXPECT_EQ(split_counts(random_split(986, "65/15/20", 2)),
            (std::vector<int64_t>{0, 641, 148, 197}));
  EXPECT_EQ(split_counts(random_split(10, "1/0/0", 1)), (std::vector<int64_t>{0, 10, 0, 0}));
  EXPECT_EQ(split_counts(random_split(3, "1/1/1", 1)), (std::vector<int64_t>{0, 1, 1, 1}));
  EXPECT_EQ(random_split(0, "1/1/1", 1).size(), 0);
  expect_error([] { random_split(3, "0/0/0", 1); }, {"'0/0/0'", "not all zero"});
}

TEST(RandomSplit, DependsOnTheSeedAlone) {
  const auto copy = [](const Array<uint8_t>& split) {
    return std::vector<uint8_t>(split.begin(), split.end());
  };
  EXPECT_EQ(copy(random_split(500, "1/1/1", 7)), copy(random_split(500, "1/1/1", 7)));
  EXPECT_NE(copy(random_split(500, "1/1/1", 7)), copy(random_split(500, "1/1/1", 8)));
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
