#include "lase/base/attributes.h"

#include "support.h"

namespace lase {
namespace {

// [[1, 0], [0, 0], [0, 3]]
Attributes sparse_matrix() {
  return {.layout = Layout::kSparse,
          .rows = 3,
          .columns = 2,
          .values = Floats{1, 3},
          .row_ptr = std::vector<int64_t>{0, 1, 1, 2},
          .column = std::vector<int32_t>{0, 1},
          .code = {}};
}

Attributes dictionary_matrix() {
  return {.layout = Layout::kDictionary,
          .rows = 3,
          .columns = 2,
          .values = Floats{5, 6, 0, 8},
          .row_ptr = {},
          .column = {},
          .code = std::vector<int32_t>{1, 0, 1}};
}

TEST(Attributes, CopyRowsOfEveryLayout) {
  const auto dense = Attributes::dense(Floats{1, 2, 3, 4}, 2, 2);
  EXPECT_EQ(row(dense, 1), (Floats{3, 4}));
  EXPECT_EQ(row(sparse_matrix(), 0), (Floats{1, 0}));
  EXPECT_EQ(row(sparse_matrix(), 1), (Floats{0, 0}));
  EXPECT_EQ(row(sparse_matrix(), 2), (Floats{0, 3}));
  EXPECT_EQ(row(dictionary_matrix(), 0), (Floats{0, 8}));
  EXPECT_EQ(row(dictionary_matrix(), 1), (Floats{5, 6}));
  EXPECT_EQ(dictionary_matrix().codes(), 2);
}

TEST(Attributes, CountStoredBytes) {
  EXPECT_EQ(Attributes::dense(Floats(6), 2, 3).bytes(), 24);
  EXPECT_EQ(sparse_matrix().bytes(), 2 * 4 + 4 * 8 + 2 * 4);
  EXPECT_EQ(dictionary_matrix().bytes(), 4 * 4 + 3 * 4);
}

TEST(ConcatColumns, StaysDenseIfAllPartsAreDense) {
  const Attributes parts[] = {Attributes::dense(Floats{1, 2}, 2, 1),
                              Attributes::dense(Floats{0, 4, 5, 6}, 2, 2)};
  const auto both = concat_columns(parts);
  EXPECT_EQ(both.layout, Layout::kDense);
  EXPECT_EQ(row(both, 0), (Floats{1, 0, 4}));
  EXPECT_EQ(row(both, 1), (Floats{2, 5, 6}));
}

TEST(ConcatColumns, IsSparseOtherwiseAndStoresNoZeros) {
  const Attributes parts[] = {Attributes::dense(Floats{7, 0, 9}, 3, 1), sparse_matrix()};
  const auto both = concat_columns(parts);
  EXPECT_EQ(both.layout, Layout::kSparse);
  EXPECT_EQ(both.values.size(), 4);
  EXPECT_EQ(row(both, 0), (Floats{7, 1, 0}));
  EXPECT_EQ(row(both, 1), (Floats{0, 0, 0}));
  EXPECT_EQ(row(both, 2), (Floats{9, 0, 3}));
}

TEST(ConcatColumns, RejectsDifferentNumbersOfRows) {
  const Attributes parts[] = {Attributes::dense(Floats{1, 2}, 2, 1), sparse_matrix()};
  expect_error([&] { concat_columns(parts); }, {"2 and 3 rows"});
}

TEST(SelectRows, KeepsTheLayoutAndTheOrder) {
  const std::vector<int64_t> rows = {2, 0, 2, 1};
  for (const auto& matrix :
       {Attributes::dense(Floats{0, 8, 5, 6, 0, 1}, 3, 2), dictionary_matrix(), sparse_matrix()}) {
    const auto selected = select_rows(matrix, rows);
    EXPECT_EQ(selected.layout, matrix.layout);
    EXPECT_EQ(selected.rows, 4);
    EXPECT_EQ(selected.columns, 2);
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(row(selected, i), row(matrix, rows[static_cast<size_t>(i)]));
    }
    EXPECT_EQ(select_rows(matrix, {}).rows, 0);
  }
}

TEST(SelectRows, SharesTheTableOfADictionary) {
  const auto matrix = dictionary_matrix();
  EXPECT_EQ(select_rows(matrix, std::vector<int64_t>{1}).values.data(), matrix.values.data());
}

TEST(SelectRows, CountsRowsWithoutColumns) {
  Attributes none;
  none.rows = 5;
  const auto selected = select_rows(none, std::vector<int64_t>{4, 1});
  EXPECT_EQ(selected.rows, 2);
  EXPECT_EQ(selected.columns, 0);
}

TEST(ConcatRows, IsTheInverseOfSelectRows) {
  for (const auto& matrix :
       {Attributes::dense(Floats{0, 8, 5, 6, 0, 1}, 3, 2), dictionary_matrix(), sparse_matrix()}) {
    const Attributes parts[] = {select_rows(matrix, std::vector<int64_t>{0}),
                                select_rows(matrix, std::vector<int64_t>{}),
                                select_rows(matrix, std::vector<int64_t>{1, 2})};
    const auto all = concat_rows(parts);
    EXPECT_EQ(all.layout, matrix.layout);
    ASSERT_EQ(all.rows, 3);
    EXPECT_EQ(all.codes(), matrix.codes());
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(row(all, i), row(matrix, i));
  }
}

TEST(ConcatRows, JoinsTheTablesOfDifferentDictionaries) {
  auto other = dictionary_matrix();
  other.values = Floats{1, 2, 3, 4};
  const Attributes parts[] = {dictionary_matrix(), other};
  const auto both = concat_rows(parts);
  EXPECT_EQ(both.codes(), 4);
  EXPECT_EQ(row(both, 2), (Floats{0, 8}));
  EXPECT_EQ(row(both, 3), (Floats{3, 4}));
  EXPECT_EQ(row(both, 4), (Floats{1, 2}));
}

TEST(ConcatRows, RejectsDifferentForms) {
  const Attributes layouts[] = {Attributes::dense(Floats{1, 2}, 1, 2), sparse_matrix()};
  expect_error([&] { concat_rows(layouts); }, {"dense and sparse"});
  const Attributes columns[] = {Attributes::dense(Floats{1, 2}, 1, 2),
                                Attributes::dense(Floats{1, 2}, 2, 1)};
  expect_error([&] { concat_rows(columns); }, {"2 and 1 columns"});
}

TEST(ToSparse, KeepsTheValuesOfEveryLayout) {
  for (const auto& matrix :
       {Attributes::dense(Floats{0, 8, 5, 6, 0, 0}, 3, 2), dictionary_matrix(), sparse_matrix()}) {
    const auto sparse = to_sparse(matrix);
    EXPECT_EQ(sparse.layout, Layout::kSparse);
    EXPECT_EQ(sparse.columns, matrix.columns);
    for (int64_t i = 0; i < matrix.rows; ++i) EXPECT_EQ(row(sparse, i), row(matrix, i));
    for (const float value : sparse.values) EXPECT_NE(value, 0);
  }
}

}  // namespace
}  // namespace lase
