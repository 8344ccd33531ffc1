#include "lase/ingest/text_features.h"

#include <cmath>

#include "lase/ingest/categories.h"

#include "support.h"

namespace lase {
namespace {

const Strings kTexts = {"Graph graph kernels", "the graph of a kernel", "The end"};

void expect_row(const TextFeatures& text, int64_t i, const Floats& expected) {
  const auto values = row(text.features, i);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t j = 0; j < values.size(); ++j) EXPECT_NEAR(values[j], expected[j], 1e-6) << i;
}

// Words in at least two texts: "graph" (twice in the first) and "the"; "a" is too short.
TEST(TfIdf, MatchesAHandComputedResult) {
  const auto text = tf_idf(make_string_table(kTexts), {}, "title", 2, nullptr);
  EXPECT_EQ(texts(text.names), (Strings{"title:graph", "title:the"}));
  const double idf = std::log(4.0 / 3.0) + 1;
  EXPECT_NEAR(text.idf[0].get<double>(), idf, 1e-12);
  EXPECT_NEAR(text.idf[1].get<double>(), idf, 1e-12);
  const auto half = static_cast<float>(std::sqrt(0.5));
  expect_row(text, 0, {1, 0});
  expect_row(text, 1, {half, half});
  expect_row(text, 2, {0, 1});
}

TEST(TfIdf, WeighsRareWordsMoreAndCountsRepeats) {
  const auto text = tf_idf(make_string_table(kTexts), {}, "t", 1, nullptr);
  EXPECT_EQ(texts(text.names),
            (Strings{"t:graph", "t:kernels", "t:the", "t:of", "t:kernel", "t:end"}));
  const double common = std::log(4.0 / 3.0) + 1;
  const double rare = std::log(4.0 / 2.0) + 1;
  const double length = std::sqrt(4 * common * common + rare * rare);
  expect_row(
      text, 0,
      {static_cast<float>(2 * common / length), static_cast<float>(rare / length), 0, 0, 0, 0});
}

TEST(TfIdf, IsFittedOnTrainingTextsOnly) {
  const std::vector<uint8_t> split = {static_cast<uint8_t>(Split::kTrain),
                                      static_cast<uint8_t>(Split::kTrain),
                                      static_cast<uint8_t>(Split::kTest)};
  const auto text = tf_idf(make_string_table(kTexts), split, "t", 1, nullptr);
  EXPECT_EQ(texts(text.names), (Strings{"t:graph", "t:kernels", "t:the", "t:of", "t:kernel"}));
  EXPECT_NEAR(text.idf[0].get<double>(), std::log(3.0 / 3.0) + 1, 1e-12);
  expect_row(text, 2, {0, 0, 1, 0, 0});
}

TEST(TfIdf, UsesTermsAndWeightsOfASchema) {
  Schema schema;
  schema.feature_names = make_string_table(Strings{"age", "t:end", "t:graph"});
  schema.preprocessing["idf"] = {3.0, 4.0};
  const auto text = tf_idf(make_string_table(Strings{"graph end new"}), {}, "t", 1, &schema);
  EXPECT_EQ(texts(text.names), (Strings{"t:end", "t:graph"}));
  expect_row(text, 0, {0.6F, 0.8F});
  schema.preprocessing["idf"] = {3.0};
  expect_error([&] { tf_idf({}, {}, "t", 1, &schema); }, {"text", "1 weights for 2 terms"});
  schema.preprocessing.erase("idf");
  expect_error([&] { tf_idf({}, {}, "t", 1, &schema); }, {"text", "no text features"});
}

TEST(TfIdf, LeavesTextsWithoutKnownWordsEmpty) {
  const auto text = tf_idf(make_string_table(Strings{"", "a b !?"}), {}, "t", 1, nullptr);
  EXPECT_EQ(text.features.rows, 2);
  EXPECT_EQ(text.features.columns, 0);
  EXPECT_EQ(text.features.values.size(), 0);
}

TEST(ColumnEncoder, GivesEachCategoryAColumn) {
  ColumnEncoder encoder({"age"}, {"city", "team"}, nullptr);
  EXPECT_EQ(encoder.code(0, "Rome"), 0);
  EXPECT_EQ(encoder.code(1, "blue"), 0);
  EXPECT_EQ(encoder.code(0, "Oslo"), 1);
  EXPECT_EQ(encoder.code(0, "Rome"), 0);
  EXPECT_EQ(encoder.code(1, ""), 1);
  EXPECT_EQ(encoder.width(), 5);
  EXPECT_EQ(encoder.names(), (Strings{"age", "city=Rome", "city=Oslo", "team=blue", "team="}));
  EXPECT_EQ(encoder.column_of(0, 1), 2);
  EXPECT_EQ(encoder.column_of(1, 0), 3);
}

TEST(ColumnEncoder, CountsValuesMissingFromFixedNames) {
  const auto fixed = make_string_table(Strings{"age", "city=Oslo", "city=Rome", "city2=x"});
  ColumnEncoder encoder({"age"}, {"city"}, &fixed);
  EXPECT_EQ(encoder.code(0, "Rome"), 1);
  EXPECT_EQ(encoder.code(0, "Bern"), -1);
  EXPECT_EQ(encoder.code(0, "Bern"), -1);
  EXPECT_EQ(encoder.unseen(), 2);
  EXPECT_EQ(encoder.width(), 3);
  EXPECT_EQ(encoder.names(), (Strings{"age", "city=Oslo", "city=Rome"}));
}

}  // namespace
}  // namespace lase
