#include "lase/inference/objective.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <cmath>

#include "lase/base/error.h"
#include "lase/inference/link_options.h"
#include "lase/inference/objectives/objectives.h"
#include "lase/ops/device.h"

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

std::unique_ptr<Objective> make_objective(const TrainedModel& trained, const Labels& labels) {
  const bool ranks =
      trained.predicts == Predicts::kLinkPrediction || trained.predicts == Predicts::kEmbedding;
  const auto ranking = from_name<Ranking>(trained.link_task.value("ranking", "auto"));
  auto objective =
      ranks ? link_prediction(ranking.value_or(Ranking::kAuto)) : make_objective(labels);
  objective->set_target_scale({trained.target_mean, trained.target_scale});
  objective->set_decision(trained.decision);
  return objective;
}

std::unique_ptr<Objective> make_objective(const TrainedModel& trained) {
  return make_objective(
      trained, {.task = trained.task, .label = {}, .target = {}, .names = trained.label_names});
}

Scores score(const Tensor& predictions, const Labels& labels, std::span<const int64_t> nodes) {
  const Tensor rows =
      predictions.index_select(0, at::tensor(at::ArrayRef<int64_t>(nodes.data(), nodes.size())));
  return make_objective(labels)->score(rows, nodes);
}

Decision Objective::default_decision(std::span<const int64_t>) const {
  return {.metric = all_metrics({}).front().key};
}

Decision Objective::select(const std::string& wanted, std::span<const int64_t> training) const {
  Decision decision = default_decision(training);
  if (wanted == "auto" || wanted == "loss") return decision;
  std::string known = "auto, loss";
  for (const auto& name : metric_names()) {
    known += ", " + name;
    if (name == wanted) decision.metric = wanted;
  }
  const std::string_view of_class = "f1=";
  if (wanted.starts_with(of_class)) {
    for (int64_t c = 0; c < labels_.classes(); ++c) {
      if (labels_.names[c] != wanted.substr(of_class.size())) continue;
      decision.metric = wanted;
      decision.positive = c;
    }
  }
  const bool classes = labels_.task != Task::kRegression;
  require_option(decision.metric == wanted, OptionName{"select"}, " ", quote(wanted),
                 ": must be one of ", known,
                 classes ? " and f1=CLASS, with a class of the graph" : "");
  return decision;
}

TemperatureFit Objective::calibrate(const Tensor& outputs, std::span<const int64_t> nodes) {
  const Tensor logits = outputs.cpu().contiguous();
  const TemperatureFit fit =
      fit_temperature([&](double beta) { return log_loss(logits, nodes, beta); });
  decision_.temperature = fit.temperature;
  return fit;
}

void Objective::tune_decision(const Tensor& predictions, std::span<const int64_t> nodes) {
  decision_.offset = tuned_offsets(predictions, nodes);
}

Tensor Objective::decision_values(const Tensor& predictions) const {
  if (decision_.offset.empty()) return predictions;
  return predictions - at::tensor(at::ArrayRef<float>(decision_.offset));
}

Metric Objective::headline(const Scores& scores) const {
  const auto all = all_metrics(scores);
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const Metric& metric) { return metric.key == decision_.metric; });
  return found == all.end() ? all.front() : *found;
}

std::vector<Metric> Objective::metrics(const Scores& scores) const {
  std::vector<Metric> known = {headline(scores)};
  for (const auto& metric : all_metrics(scores)) {
    if (metric.key != known.front().key && !std::isnan(metric.value)) known.push_back(metric);
  }
  return known;
}

std::vector<std::string> Objective::metric_names() const {
  std::vector<std::string> names;
  for (const auto& metric : all_metrics({})) names.push_back(metric.key);
  return names;
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

LossSum Objective::loss(const Tensor& outputs, std::span<const int64_t> nodes) const {
  return loss(outputs, ops::move(truth(nodes), outputs.device()));
}

int64_t Objective::explained_output(const Tensor& predictions) const {
  return decision_values(predictions).argmax().item<int64_t>();
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
