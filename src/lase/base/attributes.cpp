#include "lase/base/attributes.h"

#include <algorithm>
#include <vector>

#include "lase/base/error.h"

namespace lase {

std::string_view layout_name(Layout layout) {
  switch (layout) {
    case Layout::kDense:
      return "dense";
    case Layout::kSparse:
      return "sparse";
    case Layout::kDictionary:
      return "dictionary";
  }
  return "";
}

Attributes Attributes::dense(Array<float> values, int64_t rows, int64_t columns) {
  return {.layout = Layout::kDense,
          .rows = rows,
          .columns = columns,
          .values = std::move(values),
          .row_ptr = {},
          .column = {},
          .code = {}};
}

int64_t Attributes::bytes() const {
  return values.size() * 4 + row_ptr.size() * 8 + column.size() * 4 + code.size() * 4;
}

void Attributes::copy_row(int64_t row, float* out) const {
  if (layout == Layout::kSparse) std::fill_n(out, columns, 0.0F);
  for_each(row, [&](int64_t j, float value) { out[j] = value; });
}

Attributes concat_columns(std::span<const Attributes> parts) {
  if (parts.size() == 1) return parts[0];
  Attributes all;
  const bool dense = std::all_of(parts.begin(), parts.end(),
                                 [](const auto& part) { return part.layout == Layout::kDense; });
  all.layout = dense ? Layout::kDense : Layout::kSparse;
  for (const auto& part : parts) {
    require(all.columns == 0 || part.rows == all.rows,
            "cannot concatenate the columns of matrices with ", all.rows, " and ", part.rows,
            " rows");
    all.rows = part.rows;
    all.columns += part.columns;
  }
  Buffer<float> values;
  Buffer<int64_t> row_ptr;
  Buffer<int32_t> column;
  row_ptr.push_back(0);
  for (int64_t row = 0; row < all.rows; ++row) {
    int64_t first = 0;
    for (const auto& part : parts) {
      part.for_each(row, [&](int64_t j, float value) {
        if (!dense && value == 0) return;
        values.push_back(value);
        if (!dense) column.push_back(static_cast<int32_t>(first + j));
      });
      first += part.columns;
    }
    row_ptr.push_back(values.size());
  }
  all.values = values.freeze();
  if (!dense) {
    all.row_ptr = row_ptr.freeze();
    all.column = column.freeze();
  }
  return all;
}

Attributes to_sparse(const Attributes& matrix) {
  const Attributes empty{.layout = Layout::kSparse,
                         .rows = matrix.rows,
                         .columns = 0,
                         .values = {},
                         .row_ptr = std::vector<int64_t>(static_cast<size_t>(matrix.rows) + 1, 0),
                         .column = {},
                         .code = {}};
  const Attributes parts[] = {matrix, empty};
  return concat_columns(parts);
}

}  // namespace lase
