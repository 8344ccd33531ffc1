#include "lase/ingest/categories.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"

namespace lase {
namespace {

std::string missing_name(const std::string& column) { return column + "_missing"; }

}  // namespace

ColumnEncoder::ColumnEncoder(std::vector<std::string> numbers, std::vector<std::string> categories,
                             const StringTable* fixed_names)
    : numbers_(std::move(numbers)),
      categories_(std::move(categories)),
      values_(categories_.size()),
      fixed_(fixed_names != nullptr) {
  if (!fixed_) return;
  // Same order as names().
  int64_t at = this->numbers();
  for (size_t j = 0; j < numbers_.size() && at < fixed_names->size(); ++j) {
    if ((*fixed_names)[at] != missing_name(numbers_[j])) continue;
    indicators_.push_back(static_cast<int64_t>(j));
    ++at;
  }
  for (size_t c = 0; c < categories_.size(); ++c) {
    const std::string prefix = categories_[c] + "=";
    for (; at < fixed_names->size() && (*fixed_names)[at].starts_with(prefix); ++at) {
      values_[c].add((*fixed_names)[at].substr(prefix.size()));
    }
  }
}

int32_t ColumnEncoder::code(int64_t c, std::string_view value) {
  auto& values = values_[static_cast<size_t>(c)];
  if (!fixed_) return values.add(value);
  const auto known = values.find(value);
  if (!known && unseen_++ == 0) {
    first_unseen_ = join(categories_[static_cast<size_t>(c)], "=", value);
  }
  return known.value_or(-1);
}

std::vector<double> ColumnEncoder::fill_missing(std::span<float> values,
                                                const std::vector<double>& means,
                                                const std::function<bool(int64_t row)>& training) {
  const auto columns = numbers_.size();
  const size_t rows = columns == 0 ? 0 : values.size() / columns;
  missing_.assign(columns, {});
  std::vector<double> used(columns);
  for (size_t j = 0; j < columns; ++j) {
    // Of the training rows; without any value there, of all rows.
    double sum = 0;
    int64_t count = 0;
    double sum_of_all = 0;
    int64_t count_of_all = 0;
    for (size_t row = 0; row < rows; ++row) {
      const float value = values[row * columns + j];
      if (std::isnan(value)) {
        missing_[j].resize(rows);
        missing_[j][row] = true;
        continue;
      }
      sum_of_all += double{value};
      ++count_of_all;
      if (!training(static_cast<int64_t>(row))) continue;
      sum += double{value};
      ++count;
    }
    const double mean = count > 0          ? sum / static_cast<double>(count)
                        : count_of_all > 0 ? sum_of_all / static_cast<double>(count_of_all)
                                           : 0;
    used[j] = j < means.size() ? means[j] : mean;
    if (missing_[j].empty()) continue;
    if (!fixed_) indicators_.push_back(static_cast<int64_t>(j));
    for (size_t row = 0; row < rows; ++row) {
      if (missing_[j][row]) values[row * columns + j] = static_cast<float>(used[j]);
    }
  }
  return used;
}

int64_t ColumnEncoder::width() const { return column_of(categories(), 0); }

int64_t ColumnEncoder::column_of(int64_t c, int32_t code) const {
  int64_t column = numbers() + std::ssize(indicators_);
  for (int64_t i = 0; i < c; ++i) column += values_[static_cast<size_t>(i)].size();
  return column + code;
}

std::vector<std::string> ColumnEncoder::names() const {
  std::vector<std::string> names = numbers_;
  for (const int64_t j : indicators_) {
    names.push_back(missing_name(numbers_[static_cast<size_t>(j)]));
  }
  for (size_t c = 0; c < categories_.size(); ++c) {
    for (int64_t i = 0; i < values_[c].size(); ++i) {
      names.push_back(join(categories_[c], "=", values_[c][i]));
    }
  }
  return names;
}

std::vector<int64_t> ColumnEncoder::columns_of(const std::string& name) const {
  std::vector<int64_t> columns;
  for (int64_t j = 0; j < numbers(); ++j) {
    if (numbers_[static_cast<size_t>(j)] == name) columns.push_back(j);
  }
  for (size_t i = 0; i < indicators_.size(); ++i) {
    if (numbers_[static_cast<size_t>(indicators_[i])] != name) continue;
    columns.push_back(numbers() + static_cast<int64_t>(i));
  }
  for (int64_t c = 0; c < categories(); ++c) {
    if (categories_[static_cast<size_t>(c)] != name) continue;
    for (int64_t j = column_of(c, 0); j < column_of(c + 1, 0); ++j) columns.push_back(j);
  }
  return columns;
}

RawAttributes encode_rows(const ColumnEncoder& encoder, std::span<const float> numbers,
                          std::span<const int32_t> codes, int64_t rows, Layout layout) {
  RawAttributes result;
  result.columns = encoder.width();
  result.layout = layout;
  const auto number_count = static_cast<size_t>(encoder.numbers());
  const auto category_count = static_cast<size_t>(encoder.categories());
  for (int64_t row = 0; row < rows; ++row) {
    const auto at = static_cast<size_t>(row);
    const auto of_row = numbers.subspan(at * number_count, number_count);
    const auto codes_of_row = codes.subspan(at * category_count, category_count);
    if (result.layout == Layout::kDense) {
      const int64_t first = result.values.size();
      result.values.resize(first + result.columns);
      float* values = result.values.data() + first;
      std::fill_n(values, result.columns, 0.0F);
      encoder.for_each(row, of_row, codes_of_row,
                       [&](int64_t column, float value) { values[column] = value; });
    } else {
      encoder.for_each(row, of_row, codes_of_row, [&](int64_t column, float value) {
        result.add_value(static_cast<int32_t>(column), value);
      });
      result.end_row();
    }
  }
  return result;
}

ColumnType encoded_type(const Table& table, int64_t column, const StringTable* fixed_names) {
  const ColumnType detected = table.type(column);
  if (fixed_names == nullptr || detected == ColumnType::kIgnore) return detected;
  const auto& name = table.columns()[static_cast<size_t>(column)];
  for (int64_t i = 0; i < fixed_names->size(); ++i) {
    const auto known = (*fixed_names)[i];
    if (known == name) return is_numeric(detected) ? detected : ColumnType::kNumber;
    if (known.starts_with(name + "=")) return ColumnType::kCategory;
  }
  return ColumnType::kIgnore;
}

}  // namespace lase
