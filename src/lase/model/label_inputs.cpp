#include "lase/model/label_inputs.h"

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/memory.h"

namespace lase {
namespace {

StringTable column_names(Task task, const StringTable& labels) {
  StringTableBuilder names;
  for (int64_t c = 0; c < labels.size(); ++c) names.add(join("label=", labels[c]));
  if (task != Task::kSingleLabel) names.add("label known");
  return names.finish();
}

// Writes the columns of nodes with known labels, which are 0 before.
class LabelRow {
 public:
  LabelRow(const TrainedModel& trained, const Labels& labels)
      : trained_(trained), labels_(labels), outputs_(trained.label_names.size()) {}

  void write(int64_t node, float* row) const {
    if (labels_.task == Task::kSingleLabel) {
      const int32_t c = labels_.label[node];
      if (c < outputs_) row[c] = 1;
      return;
    }
    const float* target = labels_.target.data() + node * labels_.classes();
    for (int64_t c = 0; c < outputs_; ++c) {
      if (!std::isnan(target[c])) row[c] = input(c, target[c]);
    }
    row[outputs_] = 1;
  }

 private:
  float input(int64_t c, float value) const {
    if (labels_.task != Task::kRegression) return value;
    return (value - trained_.target_mean[c].item<float>()) * trained_.target_scale[c].item<float>();
  }

  const TrainedModel& trained_;
  const Labels& labels_;
  int64_t outputs_;  // of the model
};

}  // namespace

void add_label_inputs(const TrainedModel& trained, Graph& graph) {
  const int64_t nodes = graph.node_count();
  const int64_t columns = trained.added().labels;
  require_memory(static_cast<double>(nodes) * static_cast<double>(columns) * sizeof(float),
                 "known labels as node features", "train with ", OptionName{"label_inputs"},
                 " off");
  std::vector<float> values(static_cast<size_t>(nodes * columns));
  if (graph.nodes.labels.task != Task::kNone) {
    const Labels labels = labels_as_trained(trained, graph.nodes.labels);
    const LabelRow row(trained, labels);
    const std::vector<bool> known = training_nodes(graph);
    for (int64_t u = 0; u < nodes; ++u) {
      const bool is_input = known[static_cast<size_t>(u)] && labels.known(u);
      if (is_input) row.write(u, values.data() + u * columns);
    }
  }
  append_features(graph.nodes, Attributes::dense(std::move(values), nodes, columns),
                  column_names(trained.task, trained.label_names));
}

Labels labels_as_trained(const TrainedModel& trained, const Labels& from) {
  require(from.task == trained.task, "the labels of the graph are for the task ",
          task_name(from.task), ", but the model was trained for ", task_name(trained.task));
  std::map<std::string, int32_t, std::less<>> number;
  StringTableBuilder names;
  const auto add = [&](std::string_view name) {
    const auto [found, added] = number.emplace(name, static_cast<int32_t>(names.size()));
    if (added) names.add(name);
    return found->second;
  };
  for (int64_t c = 0; c < trained.label_names.size(); ++c) add(trained.label_names[c]);
  std::vector<int32_t> to;
  for (int64_t c = 0; c < from.classes(); ++c) to.push_back(add(from.names[c]));

  Labels labels{.task = from.task, .label = {}, .target = {}, .names = names.finish()};
  std::vector<int32_t> label;
  for (const int32_t l : from.label) label.push_back(l < 0 ? -1 : to[static_cast<size_t>(l)]);
  labels.label = std::move(label);
  if (!from.target.empty()) {
    const int64_t classes = labels.classes();
    const int64_t nodes = from.target.size() / std::max<int64_t>(1, from.classes());
    std::vector<float> target(static_cast<size_t>(nodes * classes),
                              std::numeric_limits<float>::quiet_NaN());
    // A node with known classes does not have those that the graph lacks.
    for (int64_t u = 0; from.task == Task::kMultiLabel && u < nodes; ++u) {
      if (from.known(u)) std::fill_n(target.begin() + u * classes, classes, 0.0F);
    }
    for (int64_t i = 0; i < from.target.size(); ++i) {
      const int64_t node = i / from.classes();
      const auto c = to[static_cast<size_t>(i % from.classes())];
      target[static_cast<size_t>(node * classes + c)] = from.target[i];
    }
    labels.target = std::move(target);
  }
  return labels;
}

}  // namespace lase
