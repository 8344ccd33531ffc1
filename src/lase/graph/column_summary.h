#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/attributes.h"
#include "lase/base/string_table.h"

namespace lase {

// The values of one column of features or attributes.
struct ColumnSummary {
  std::string name;
  float least = 0;
  float most = 0;
  double mean = 0;
  int64_t non_zero = 0;
  bool whole = true;    // all values are whole numbers
  int64_t missing = 0;  // rows marked in the column NAME_missing, if there is one

  // "binary", "integer" or "number".
  std::string_view type() const;
};

std::vector<ColumnSummary> summarize(const Attributes& matrix, const StringTable& names);

}  // namespace lase
