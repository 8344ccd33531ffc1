#pragma once

#include <cstdint>
#include <string_view>

#include "lase/base/array.h"
#include "lase/base/string_table.h"

namespace lase {

enum class Task : uint8_t { kNone, kSingleLabel, kMultiLabel, kRegression };
enum class Split : uint8_t { kNone, kTrain, kVal, kTest };

std::string_view task_name(Task task);
Task task_from(std::string_view name);
std::string_view split_name(Split split);

// Prediction targets of n nodes.
struct Labels {
  Task task = Task::kNone;
  Array<int32_t> label;  // single label: [n], −1 if unknown
  Array<float> target;   // multi-label (0 or 1) and regression: [n, names], NaN if unknown
  StringTable names;     // of classes or regression targets

  int64_t classes() const { return names.size(); }
  bool known(int64_t node) const;
};

}  // namespace lase
