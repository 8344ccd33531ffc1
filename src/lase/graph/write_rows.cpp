#include "lase/graph/write_rows.h"

#include "lase/base/file.h"
#include "lase/base/npy.h"

namespace lase {

void write_rows(const StringTable& names, std::span<const float> values, const std::string& path) {
  const int64_t rows = names.size();
  const int64_t columns = rows == 0 ? 0 : std::ssize(values) / rows;
  if (path.ends_with(".npy")) {
    write_npy(path, values, rows, columns);
    return;
  }
  TextWriter out(path);
  out << "node";
  for (int64_t j = 0; j < columns; ++j) out << ",e" << j;
  out << '\n';
  const float* value = values.data();
  for (int64_t row = 0; row < rows; ++row) {
    out.field(names[row]);
    for (int64_t j = 0; j < columns; ++j) out << ',' << *value++;
    out << '\n';
  }
  out.commit();
}

}  // namespace lase
