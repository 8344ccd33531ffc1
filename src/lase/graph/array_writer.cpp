#include "lase/graph/array_writer.h"

#include <cmath>

#include "lase/base/error.h"
#include "lase/base/parallel.h"

namespace lase {

void ArrayWriter::add(const std::string& name, const StringTable& table) {
  if (table.size() == 0) return;
  add(name + ".offset", table.offset, {table.offset.size()});
  add(name + ".bytes", table.bytes, {table.bytes.size()});
}

void ArrayWriter::add(const std::string& name, const Attributes& matrix) {
  if (matrix.columns == 0) return;
  switch (matrix.layout) {
    case Layout::kDense:
      add(name, matrix.values, {matrix.rows, matrix.columns});
      break;
    case Layout::kSparse:
      add(name + ".row_ptr", matrix.row_ptr, {matrix.row_ptr.size()});
      add(name + ".column", matrix.column, {matrix.column.size()});
      add(name + ".value", matrix.values, {matrix.values.size()});
      break;
    case Layout::kDictionary:
      add(name + ".code", matrix.code, {matrix.code.size()});
      add(name + ".table", matrix.values, {matrix.codes(), matrix.columns});
      break;
  }
}

void ArrayWriter::add(const std::string& name, const Reduction& reduction) {
  if (!reduction.present()) return;
  add(name + ".mean", reduction.mean, {reduction.columns()});
  add(name + ".components", reduction.components, {reduction.columns(), reduction.kept()});
  add(name + ".names", reduction.names);
}

void ArrayWriter::finish(const std::map<std::string, std::string>& metadata) {
  writer_.begin(metadata);
  for (const auto& write : pending_) write();
  writer_.commit();
}

StringTable get_unchecked_strings(const SafetensorsFile& file, const std::string& name) {
  if (!file.has(name + ".offset")) return {};
  StringTable table{file.get<int64_t>(name + ".offset", {-1}),
                    file.get<char>(name + ".bytes", {-1})};
  require(
      table.size() > 0 && table.offset[0] == 0 && table.offset[table.size()] == table.bytes.size(),
      file.path(), ": the array ", quote(name + ".offset"), " does not match the length of ",
      quote(name + ".bytes"));
  return table;
}

StringTable get_strings(const SafetensorsFile& file, const std::string& name) {
  StringTable table = get_unchecked_strings(file, name);
  check_strings(table, name, file.path());
  return table;
}

void check_finite(const Array<float>& values, const std::string& name, const std::string& path,
                  Unknown unknown) {
  constexpr int64_t kValues = 1 << 16;
  parallel_for(values.size(), kValues, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const bool is_unknown = unknown == Unknown::kAllowed && std::isnan(values[i]);
      require(is_unknown || std::isfinite(values[i]), path, ": ", name, " contains ", values[i],
              ", expected finite numbers");
    }
  });
}

void check_strings(const StringTable& table, const std::string& name, const std::string& path) {
  constexpr int64_t kStrings = 1 << 16;
  parallel_for(table.size(), kStrings, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      require(table.offset[i] >= 0 && table.offset[i] <= table.offset[i + 1] &&
                  table.offset[i + 1] <= table.bytes.size(),
              path, ": the offsets of ", name, " are out of order or out of range at index ", i);
    }
  });
}

StringTable get_column_names(const SafetensorsFile& file, const std::string& name,
                             int64_t columns) {
  StringTable table = get_strings(file, name);
  require(table.size() == columns, file.path(), ": the array ", quote(name + ".offset"), " has ",
          table.size(), " column names, expected ", columns);
  return table;
}

Reduction get_reduction(const SafetensorsFile& file, const std::string& name, int64_t kept) {
  Reduction reduction;
  if (!file.has(name + ".mean")) return reduction;
  reduction.mean = file.get<float>(name + ".mean", {-1});
  reduction.components = file.get<float>(name + ".components", {reduction.columns(), kept});
  check_finite(reduction.mean, name + ".mean", file.path());
  check_finite(reduction.components, name + ".components", file.path());
  reduction.names = get_column_names(file, name + ".names", reduction.columns());
  return reduction;
}

}  // namespace lase
