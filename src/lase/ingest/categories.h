#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/interner.h"
#include "lase/base/string_table.h"

namespace lase {

// Encodes table columns as matrix columns: a numeric column as is, a categorical column one-hot,
// named like "city=Paris". With fixed names (those of an earlier graph), unseen values are counted
// and get no column.
class ColumnEncoder {
 public:
  ColumnEncoder(std::vector<std::string> numbers, std::vector<std::string> categories,
                const StringTable* fixed_names);

  int64_t numbers() const { return static_cast<int64_t>(numbers_.size()); }
  int64_t categories() const { return static_cast<int64_t>(categories_.size()); }

  // The code of a value of categorical column c; −1 for a value without a column.
  int32_t code(int64_t c, std::string_view value);
  int64_t unseen() const { return unseen_; }

  // Valid once all values have been encoded.
  int64_t width() const;
  int64_t column_of(int64_t c, int32_t code) const;  // of a category
  std::vector<std::string> names() const;

 private:
  std::vector<std::string> numbers_;
  std::vector<std::string> categories_;
  std::vector<Interner> values_;
  bool fixed_;
  int64_t unseen_ = 0;
};

}  // namespace lase
