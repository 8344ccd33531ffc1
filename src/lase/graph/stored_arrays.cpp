#include "lase/graph/stored_arrays.h"

#include <utility>

#include "lase/base/error.h"
#include "lase/base/json.h"

namespace lase {
namespace {

using nlohmann::json;

Layout layout_from_name(const std::string& name, const std::string& path) {
  for (const auto layout : {Layout::kDense, Layout::kSparse, Layout::kDictionary}) {
    if (layout_name(layout) == name) return layout;
  }
  fail(path, ": unknown attribute layout ", quote(name), ", expected dense, sparse or dictionary");
}

Task task_from_name(const std::string& name, const std::string& path) {
  for (const auto task : {Task::kNone, Task::kSingleLabel, Task::kMultiLabel, Task::kRegression}) {
    if (task_name(task) == name) return task;
  }
  fail(path, ": unknown task ", quote(name),
       ", expected none, single-label, multi-label or regression");
}

}  // namespace

json attributes_metadata(const Attributes& matrix) {
  return {{"columns", matrix.columns}, {"layout", layout_name(matrix.layout)}};
}

Attributes attributes_form(const json& about, const std::string& path) {
  Attributes matrix;
  matrix.columns = non_negative_at(about, "columns");
  matrix.layout = layout_from_name(about.value("layout", "dense"), path);
  if (matrix.columns == 0) matrix.layout = Layout::kDense;  // no arrays, whatever the layout
  return matrix;
}

Attributes get_attributes(const SafetensorsFile& file, const std::string& name, int64_t rows,
                          const json& about) {
  Attributes matrix = attributes_form(about, file.path());
  matrix.rows = rows;
  require(matrix.columns >= 0, file.path(), ": the number of columns of ", name,
          " is missing or invalid");
  if (matrix.columns == 0) return matrix;
  switch (matrix.layout) {
    case Layout::kDense:
      matrix.values = file.get<float>(name, {rows, matrix.columns});
      break;
    case Layout::kSparse:
      matrix.row_ptr = file.get<int64_t>(name + ".row_ptr", {rows + 1});
      matrix.values = file.get<float>(name + ".value", {-1});
      matrix.column = file.get<int32_t>(name + ".column", {matrix.values.size()});
      require(matrix.row_ptr[0] == 0 && matrix.row_ptr[rows] == matrix.values.size(), file.path(),
              ": the array ", quote(name + ".row_ptr"), " does not cover the stored values");
      break;
    case Layout::kDictionary:
      matrix.code = file.get<int32_t>(name + ".code", {rows});
      matrix.values = file.get<float>(name + ".table", {-1, matrix.columns});
      break;
  }
  return matrix;
}

IndexArray get_indices(const SafetensorsFile& file, const std::string& name, int64_t size) {
  if (file.holds<int64_t>(name)) return file.get<int64_t>(name, {size});
  return file.get<int32_t>(name, {size});
}

Labels get_labels(const SafetensorsFile& file, const LabelArrays& arrays, const json& about,
                  int64_t rows) {
  Labels labels;
  labels.task = task_from_name(about.value("task", "none"), file.path());
  labels.names = get_strings(file, arrays.names);
  if (labels.task == Task::kSingleLabel) labels.label = file.get<int32_t>(arrays.label, {rows});
  const bool has_targets = labels.task == Task::kMultiLabel || labels.task == Task::kRegression;
  if (has_targets && rows > 0 && labels.classes() > 0) {
    labels.target = file.get<float>(arrays.target, {rows, labels.classes()});
  }
  return labels;
}

void add_labels(ArrayWriter& writer, const LabelArrays& arrays, const Labels& labels,
                int64_t rows) {
  if (labels.task == Task::kSingleLabel) writer.add(arrays.label, labels.label, {rows});
  if (!labels.target.empty()) {
    writer.add(arrays.target, labels.target, {rows, labels.classes()});
  }
  writer.add(arrays.names, labels.names);
}

}  // namespace lase
