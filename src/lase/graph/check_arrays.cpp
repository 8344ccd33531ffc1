#include "lase/graph/check_arrays.h"

#include "lase/graph/array_writer.h"

namespace lase {

void check_ascending(const Array<int64_t>& row_ptr, const std::string& name,
                     const std::string& path) {
  constexpr int64_t kRowsAtOnce = 1 << 16;
  parallel_for(row_ptr.size() - 1, kRowsAtOnce, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      require(row_ptr[i] >= 0 && row_ptr[i] <= row_ptr[i + 1], path, ": ", name,
              " decreases at index ", i);
    }
  });
}

void check_attributes(const Attributes& matrix, const std::string& name, const std::string& path) {
  if (matrix.columns == 0) return;
  check_finite(matrix.values, name, path);
  if (matrix.layout == Layout::kDictionary) {
    check_range(matrix.code, 0, matrix.codes(), name + ".code", path);
  }
  if (matrix.layout == Layout::kSparse) {
    check_ascending(matrix.row_ptr, name + ".row_ptr", path);
    check_range(matrix.column, 0, matrix.columns, name + ".column", path);
  }
}

void check_split(const Array<uint8_t>& split, Split least, const std::string& name,
                 const std::string& path) {
  for (int64_t i = 0; i < split.size(); ++i) {
    const int part = split[i];
    require(part >= static_cast<int>(least) && part <= static_cast<int>(Split::kTest), path, ": ",
            name, "[", i, "] is ", part, ", expected ", static_cast<int>(least), " to 3");
  }
}

void check_labels(const Labels& labels, const std::string& path) {
  check_range(labels.label, -1, labels.classes(), "labels", path);
  check_finite(labels.target, "targets", path, Unknown::kAllowed);
  check_strings(labels.names, "label_names", path);
}

}  // namespace lase
