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

TEST(SplitText, KeepsEmptyParts) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(split_text("a;b", ";"), (Parts{"a", "b"}));
  EXPECT_EQ(split_text(";a;", ";"), (Parts{"", "a", ""}));
  EXPECT_EQ(split_text("", ";"), (Parts{""}));
  EXPECT_EQ(split_text("a and b", " and "), (Parts{"a", "b"}));
}

}  // namespace
}  // namespace lase
