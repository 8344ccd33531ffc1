#include "lase/inference/objective.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>

#include "lase/base/error.h"
#include "lase/inference/objectives/objectives.h"

namespace lase {

using at::Tensor;

namespace {

struct Entry {
  Task task;
  std::unique_ptr<Objective> (*make)(const Labels& labels);
};

constexpr std::array kObjectives = {
    Entry{Task::kSingleLabel, single_label},
    Entry{Task::kMultiLabel, multi_label},
    Entry{Task::kRegression, regression},
};

}  // namespace

std::unique_ptr<Objective> make_objective(const Labels& labels) {
  for (const auto& entry : kObjectives) {
    if (entry.task == labels.task) return entry.make(labels);
  }
  fail("the graph has no labels; import it with ", OptionName{"label"});
}

std::unique_ptr<Objective> make_objective(const TrainedModel& trained) {
  auto objective = make_objective(
      {.task = trained.task, .label = {}, .target = {}, .names = trained.label_names});
  objective->set_target_scale({trained.target_mean, trained.target_scale});
  return objective;
}

Scores score(const Tensor& predictions, const Labels& labels, std::span<const int64_t> nodes) {
  return make_objective(labels)->score(predictions, nodes);
}

// 0 / tiny if no label is known.
Tensor LossSum::mean() const { return sum / count.clamp_min(1e-30); }

std::vector<int64_t> Objective::seeds(const Graph& graph, Split split) const {
  const auto& splits = graph.nodes.split;
  std::vector<int64_t> nodes;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    const bool inside =
        splits.empty() ? split == Split::kTrain : splits[u] == static_cast<uint8_t>(split);
    if (inside && labels_.known(u)) nodes.push_back(u);
  }
  return nodes;
}

void Objective::check(std::span<const int64_t> training) const {
  require(!training.empty(), "the graph has no training node with a label");
}

int64_t Objective::explained_output(const Tensor& logits) const {
  return logits.argmax().item<int64_t>();
}

Tensor Objective::targets_of(std::span<const int64_t> nodes) const {
  const int64_t width = labels_.classes();
  Tensor rows = at::empty({std::ssize(nodes), width}, at::kFloat);
  auto* out = rows.data_ptr<float>();
  for (const int64_t node : nodes) {
    out = std::copy_n(labels_.target.data() + node * width, width, out);
  }
  return rows;
}

}  // namespace lase
