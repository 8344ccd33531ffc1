#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lase/base/attributes.h"
#include "lase/base/index_array.h"
#include "lase/base/safetensors.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/labels.h"

namespace lase {

// Arrays that graph files and the files of partitioned graphs have in common. `about` is the
// description of an array in the metadata of its file.

// {"columns": …, "layout": …}
nlohmann::json attributes_metadata(const Attributes& matrix);
Attributes get_attributes(const SafetensorsFile& file, const std::string& name, int64_t rows,
                          const nlohmann::json& about);
// The layout and the number of columns of a matrix without rows.
Attributes attributes_form(const nlohmann::json& about, const std::string& path);

// Indices are stored in 32 or 64 bits.
IndexArray get_indices(const SafetensorsFile& file, const std::string& name, int64_t size);

// Names of the arrays of labels.
struct LabelArrays {
  std::string label;
  std::string target;
  std::string names;
};
inline const LabelArrays kNodeLabels = {"labels", "targets", "label_names"};

Labels get_labels(const SafetensorsFile& file, const LabelArrays& arrays,
                  const nlohmann::json& about, int64_t rows);
void add_labels(ArrayWriter& writer, const LabelArrays& arrays, const Labels& labels, int64_t rows);

}  // namespace lase
