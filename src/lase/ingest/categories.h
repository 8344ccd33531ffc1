#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/interner.h"
#include "lase/base/string_table.h"
#include "lase/graph/raw_graph.h"
#include "lase/ingest/table.h"

namespace lase {

// Encodes table columns as matrix columns: a numeric column as is, one for its missing values named
// like "age_missing", and a categorical column one-hot, named like "city=Paris". With fixed names
// (those of an earlier graph), unseen values are counted and get no column.
class ColumnEncoder {
 public:
  ColumnEncoder(std::vector<std::string> numbers, std::vector<std::string> categories,
                const StringTable* fixed_names);

  // Replaces missing numbers (NaN) of a matrix [rows, numbers()] by `means`, if there are any, or
  // by the mean of the column over the rows for which `training` is true. Returns the means.
  // Columns with missing numbers get a column of their own, unless names are fixed.
  std::vector<double> fill_missing(std::span<float> values, const std::vector<double>& means,
                                   const std::function<bool(int64_t row)>& training);

  int64_t numbers() const { return static_cast<int64_t>(numbers_.size()); }
  int64_t categories() const { return static_cast<int64_t>(categories_.size()); }

  // The code of a value of categorical column c; −1 for a value without a column.
  int32_t code(int64_t c, std::string_view value);
  int64_t unseen() const { return unseen_; }
  const std::string& first_unseen() const { return first_unseen_; }  // "city=Paris"

  // Valid once all values have been encoded and filled.
  int64_t width() const;
  // Calls visit(column, value) for the non-zero entries of row `row`, in ascending order, given its
  // codes.
  template <class Visit>
  void for_each(int64_t row, std::span<const float> numbers, std::span<const int32_t> codes,
                const Visit& visit) const {
    for (size_t j = 0; j < numbers.size(); ++j) {
      if (numbers[j] != 0) visit(static_cast<int64_t>(j), numbers[j]);
    }
    const auto first = numbers.size();
    for (size_t i = 0; i < indicators_.size(); ++i) {
      const auto& missing = missing_[static_cast<size_t>(indicators_[i])];
      if (!missing.empty() && missing[static_cast<size_t>(row)]) {
        visit(static_cast<int64_t>(first + i), 1.0F);
      }
    }
    for (size_t c = 0; c < codes.size(); ++c) {
      if (codes[c] >= 0) visit(column_of(static_cast<int64_t>(c), codes[c]), 1.0F);
    }
  }
  int64_t column_of(int64_t c, int32_t code) const;  // of a category
  std::vector<std::string> names() const;
  // The encoded columns of a table column.
  std::vector<int64_t> columns_of(const std::string& name) const;

 private:
  std::vector<std::string> numbers_;
  std::vector<std::string> categories_;
  std::vector<Interner> values_;
  std::vector<int64_t> indicators_;         // numeric columns with a column for missing values
  std::vector<std::vector<bool>> missing_;  // [numbers, rows]; empty if a column has all numbers
  bool fixed_;
  int64_t unseen_ = 0;
  std::string first_unseen_;
};

// Encodes the numbers [rows, numbers()] and codes [rows, categories()] of all rows.
RawAttributes encode_rows(const ColumnEncoder& encoder, std::span<const float> numbers,
                          std::span<const int32_t> codes, int64_t rows, Layout layout);

// The type of a column: as in an earlier graph with these encoded columns, or as detected.
ColumnType encoded_type(const Table& table, int64_t column, const StringTable* fixed_names);

}  // namespace lase
