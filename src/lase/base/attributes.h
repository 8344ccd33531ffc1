#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "lase/base/array.h"
#include "lase/base/layout.h"
#include "lase/base/message.h"

namespace lase {

std::string_view layout_name(Layout layout);

// An attribute matrix [rows, columns] in one of three layouts:
//
//   dense       values[row · columns + j]
//   sparse      values[i] at column[i] for i in [row_ptr[row], row_ptr[row+1]), columns ascending
//   dictionary  values[code[row] · columns + j]: each distinct row is stored once
struct Attributes {
  Layout layout = Layout::kDense;
  int64_t rows = 0;
  int64_t columns = 0;
  Array<float> values;     // dense [rows, columns], sparse [stored], dictionary [codes, columns]
  Array<int64_t> row_ptr;  // sparse [rows+1]
  Array<int32_t> column;   // sparse [stored]
  Array<int32_t> code;     // dictionary [rows]

  static Attributes dense(Array<float> values, int64_t rows, int64_t columns);

  int64_t codes() const { return columns == 0 ? 0 : values.size() / columns; }
  int64_t bytes() const;

  // Calls visit(j, value) for the stored values of a row: all values unless the layout is sparse.
  template <class Visit>
  void for_each(int64_t row, const Visit& visit) const {
    if (layout == Layout::kSparse) {
      for (int64_t i = row_ptr[row]; i < row_ptr[row + 1]; ++i)
        visit(int64_t{column[i]}, values[i]);
    } else {
      const int64_t first = (layout == Layout::kDictionary ? code[row] : row) * columns;
      for (int64_t j = 0; j < columns; ++j) visit(j, values[first + j]);
    }
  }

  // out[columns] = the row, including zeros.
  void copy_row(int64_t row, float* out) const;
};

// [A, B, …]: dense if all matrices are dense, otherwise sparse.
Attributes concat_columns(std::span<const Attributes> parts);

// matrix[rows, :], in the same layout. A dictionary shares its table with `matrix`.
Attributes select_rows(const Attributes& matrix, std::span<const int64_t> rows);

// The rows of all matrices, one matrix after another. The matrices have the same layout and the
// same number of columns. Equal tables of dictionaries are stored once.
Attributes concat_rows(std::span<const Attributes> parts);

// Rows for another process, which has the same table of a dictionary, and its matrix for the layout
// and the columns.
void append_rows(Message& message, const Attributes& rows);
Attributes read_rows(MessageReader& message, const Attributes& like);

// The same matrix in sparse layout, without explicit zeros.
Attributes to_sparse(const Attributes& matrix);

}  // namespace lase
