#include "lase/base/attributes.h"

#include <algorithm>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/parallel.h"

namespace lase {
namespace {

constexpr int64_t kRowsPerChunk = 4096;  // rows that one thread copies at a time

// [n]: from[rows[i]].
Array<int32_t> gather_codes(const Array<int32_t>& from, std::span<const int64_t> rows) {
  Buffer<int32_t> to;
  to.resize(std::ssize(rows));
  parallel_for(to.size(), kRowsPerChunk, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) to[i] = from[rows[static_cast<size_t>(i)]];
  });
  return to.freeze();
}

void select_dense_rows(const Attributes& matrix, std::span<const int64_t> rows, Attributes& to) {
  Buffer<float> values;
  values.resize(to.rows * to.columns);
  parallel_for(to.rows, kRowsPerChunk, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      matrix.copy_row(rows[static_cast<size_t>(i)], values.data() + i * to.columns);
    }
  });
  to.values = values.freeze();
}

void select_sparse_rows(const Attributes& matrix, std::span<const int64_t> rows, Attributes& to) {
  Buffer<int64_t> row_ptr;
  row_ptr.resize(to.rows + 1);
  row_ptr[0] = 0;
  for (int64_t i = 0; i < to.rows; ++i) {
    const int64_t row = rows[static_cast<size_t>(i)];
    row_ptr[i + 1] = row_ptr[i] + matrix.row_ptr[row + 1] - matrix.row_ptr[row];
  }
  Buffer<int32_t> column;
  Buffer<float> values;
  column.resize(row_ptr[to.rows]);
  values.resize(row_ptr[to.rows]);
  parallel_for(to.rows, kRowsPerChunk, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t row = rows[static_cast<size_t>(i)];
      const int64_t begin = matrix.row_ptr[row];
      const int64_t count = matrix.row_ptr[row + 1] - begin;
      std::copy_n(matrix.column.data() + begin, count, column.data() + row_ptr[i]);
      std::copy_n(matrix.values.data() + begin, count, values.data() + row_ptr[i]);
    }
  });
  to.row_ptr = row_ptr.freeze();
  to.column = column.freeze();
  to.values = values.freeze();
}

template <class T>
bool same_values(const Array<T>& a, const Array<T>& b) {
  if (a.data() == b.data() && a.size() == b.size()) return true;
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

template <class T>
Array<T> concat_arrays(std::span<const Attributes> parts, Array<T> Attributes::*member) {
  Buffer<T> all;
  int64_t size = 0;
  for (const auto& part : parts) size += (part.*member).size();
  all.resize(size);
  auto* to = all.data();
  for (const auto& part : parts) to = std::copy((part.*member).begin(), (part.*member).end(), to);
  return all.freeze();
}

// Row i of the part whose first stored value has position `offset` starts at row_ptr[i] + offset.
Array<int64_t> concat_row_ptr(std::span<const Attributes> parts) {
  Buffer<int64_t> row_ptr;
  row_ptr.push_back(0);
  for (const auto& part : parts) {
    const int64_t offset = row_ptr[row_ptr.size() - 1];
    for (int64_t i = 0; i < part.rows; ++i) row_ptr.push_back(offset + part.row_ptr[i + 1]);
  }
  return row_ptr.freeze();
}

void concat_dictionaries(std::span<const Attributes> parts, Attributes& all) {
  const bool shared = std::all_of(parts.begin(), parts.end(), [&](const auto& part) {
    return same_values(part.values, parts[0].values);
  });
  all.values = shared ? parts[0].values : concat_arrays(parts, &Attributes::values);
  if (shared) {
    all.code = concat_arrays(parts, &Attributes::code);
    return;
  }
  Buffer<int32_t> code;
  int64_t offset = 0;
  for (const auto& part : parts) {
    for (const int32_t own : part.code) code.push_back(static_cast<int32_t>(offset + own));
    offset += part.codes();
  }
  all.code = code.freeze();
}

}  // namespace

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

Attributes select_rows(const Attributes& matrix, std::span<const int64_t> rows) {
  Attributes selected;
  selected.layout = matrix.layout;
  selected.rows = std::ssize(rows);
  selected.columns = matrix.columns;
  if (matrix.columns == 0) return selected;
  switch (matrix.layout) {
    case Layout::kDense:
      select_dense_rows(matrix, rows, selected);
      break;
    case Layout::kSparse:
      select_sparse_rows(matrix, rows, selected);
      break;
    case Layout::kDictionary:
      selected.code = gather_codes(matrix.code, rows);
      selected.values = matrix.values;
      break;
  }
  return selected;
}

Attributes concat_rows(std::span<const Attributes> parts) {
  if (parts.size() == 1) return parts[0];
  Attributes all;
  if (parts.empty()) return all;
  all.layout = parts[0].layout;
  all.columns = parts[0].columns;
  for (const auto& part : parts) {
    require(part.layout == all.layout && part.columns == all.columns,
            "cannot concatenate the rows of matrices with ", all.columns, " and ", part.columns,
            " columns in ", layout_name(all.layout), " and ", layout_name(part.layout), " layout");
    all.rows += part.rows;
  }
  if (all.columns == 0) return all;
  if (all.layout == Layout::kDictionary) {
    concat_dictionaries(parts, all);
    return all;
  }
  all.values = concat_arrays(parts, &Attributes::values);
  if (all.layout == Layout::kSparse) {
    all.row_ptr = concat_row_ptr(parts);
    all.column = concat_arrays(parts, &Attributes::column);
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

void append_rows(Message& message, const Attributes& rows) {
  const bool has_table = rows.layout == Layout::kDictionary;
  append(message, std::vector<int64_t>{rows.rows});
  append(message, has_table ? std::span<const float>() : rows.values.span());
  append(message, rows.row_ptr.span());
  append(message, rows.column.span());
  append(message, rows.code.span());
}

Attributes read_rows(MessageReader& message, const Attributes& like) {
  Attributes rows;
  rows.layout = like.layout;
  rows.columns = like.columns;
  rows.rows = message.next<int64_t>().at(0);
  rows.values = message.next<float>();
  rows.row_ptr = message.next<int64_t>();
  rows.column = message.next<int32_t>();
  rows.code = message.next<int32_t>();
  if (like.layout == Layout::kDictionary) rows.values = like.values;
  return rows;
}

}  // namespace lase
