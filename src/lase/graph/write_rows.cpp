#include "lase/graph/write_rows.h"

#include <algorithm>

#include "lase/base/file.h"
#include "lase/base/npy.h"

namespace lase {

void write_rows(const StringTable& names, int64_t columns,
                const std::function<std::vector<float>(int64_t first, int64_t last)>& rows,
                const std::string& path) {
  constexpr int64_t kRows = 1 << 16;
  const auto for_ranges = [&](const auto& write) {
    for (int64_t first = 0; first < names.size(); first += kRows) {
      const std::vector<float> values = rows(first, std::min(first + kRows, names.size()));
      write(first, values);
    }
  };
  if (path.ends_with(".npy")) {
    NpyWriter out(path, names.size(), columns);
    for_ranges([&](int64_t, const std::vector<float>& values) { out.write(values); });
    out.commit();
    return;
  }
  TextWriter out(path);
  out << "node";
  for (int64_t j = 0; j < columns; ++j) out << ",e" << j;
  out << '\n';
  for_ranges([&](int64_t row, const std::vector<float>& values) {
    for (auto value = values.begin(); value != values.end(); ++row) {
      out.field(names[row]);
      for (int64_t j = 0; j < columns; ++j) out << ',' << *value++;
      out << '\n';
    }
  });
  out.commit();
}

void write_rows(const StringTable& names, std::span<const float> values, const std::string& path) {
  const int64_t columns = names.size() == 0 ? 0 : std::ssize(values) / names.size();
  write_rows(
      names, columns,
      [&](int64_t first, int64_t last) {
        return std::vector<float>(values.begin() + first * columns,
                                  values.begin() + last * columns);
      },
      path);
}

}  // namespace lase
