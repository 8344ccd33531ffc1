#include "lase/graph/column_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace lase {

std::string_view ColumnSummary::type() const {
  if (!whole) return "number";
  return least >= 0 && most <= 1 ? "binary" : "integer";
}

std::vector<ColumnSummary> summarize(const Attributes& matrix, const StringTable& names) {
  const auto columns = static_cast<size_t>(matrix.columns);
  std::vector<ColumnSummary> all(columns);
  std::vector<int64_t> stored(columns);
  std::map<std::string, size_t> column_of;
  for (size_t j = 0; j < columns; ++j) {
    all[j].name = names[static_cast<int64_t>(j)];
    all[j].least = std::numeric_limits<float>::infinity();
    all[j].most = -std::numeric_limits<float>::infinity();
    column_of.emplace(all[j].name, j);
  }
  for (int64_t row = 0; row < matrix.rows; ++row) {
    matrix.for_each(row, [&](int64_t j, float value) {
      ColumnSummary& column = all[static_cast<size_t>(j)];
      column.least = std::min(column.least, value);
      column.most = std::max(column.most, value);
      column.mean += double{value};
      column.non_zero += value != 0 ? 1 : 0;
      column.whole = column.whole && std::nearbyint(value) == value;
      ++stored[static_cast<size_t>(j)];
    });
  }
  for (size_t j = 0; j < columns; ++j) {
    ColumnSummary& column = all[j];
    if (stored[j] < matrix.rows) {  // the others are zero
      column.least = std::min(column.least, 0.0F);
      column.most = std::max(column.most, 0.0F);
    }
    if (matrix.rows == 0) column.least = column.most = 0;
    column.mean /= static_cast<double>(std::max<int64_t>(1, matrix.rows));
    // Statistics of events, such as amount_sum, share the column amount_missing.
    for (const std::string_view suffix : {"", "_sum", "_mean", "_max"}) {
      if (!column.name.ends_with(suffix)) continue;
      const std::string stem = column.name.substr(0, column.name.size() - suffix.size());
      const auto missing = column_of.find(stem + "_missing");
      if (missing != column_of.end()) column.missing = all[missing->second].non_zero;
    }
  }
  return all;
}

}  // namespace lase
