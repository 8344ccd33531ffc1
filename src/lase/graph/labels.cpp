#include "lase/graph/labels.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"

namespace lase {

std::string_view task_name(Task task) {
  switch (task) {
    case Task::kNone:
      return "none";
    case Task::kSingleLabel:
      return "single-label";
    case Task::kMultiLabel:
      return "multi-label";
    case Task::kRegression:
      return "regression";
  }
  return "";
}

Task task_from(std::string_view name) {
  for (const Task task : {Task::kNone, Task::kSingleLabel, Task::kMultiLabel, Task::kRegression}) {
    if (task_name(task) == name) return task;
  }
  fail("unknown task ", quote(name), ", expected none, single-label, multi-label or regression");
}

std::string_view split_name(Split split) {
  switch (split) {
    case Split::kNone:
      return "none";
    case Split::kTrain:
      return "train";
    case Split::kVal:
      return "val";
    case Split::kTest:
      return "test";
  }
  return "";
}

bool Labels::known(int64_t node) const {
  if (task == Task::kNone) return false;
  if (task == Task::kSingleLabel) return label[node] >= 0;
  const auto targets = target.slice(node * classes(), (node + 1) * classes());
  return std::any_of(targets.begin(), targets.end(),
                     [](float value) { return !std::isnan(value); });
}

}  // namespace lase
