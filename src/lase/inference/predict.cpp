#include "lase/inference/predict.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <map>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/graph/write_rows.h"
#include "lase/inference/inference.h"
#include "lase/inference/objective.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/precision.h"
#include "lase/ops/workspace.h"

namespace lase {

using at::Tensor;

Predictions predict(const TrainedModel& trained, const Graph& graph,
                    const PredictOptions& options) {
  require(trained.predicts == Predicts::kNodes, "the model predicts links, not labels of nodes");
  const ops::OneThread one_thread;
  const ops::PrecisionScope precision(options.device.precision);
  const Workspace workspace;
  const at::Device device = choose_device(options.device, graph.links);
  const Graph fitting = fitting_graph(trained, graph);
  const auto on_device = model_on(trained.model, device);
  const Model& model = *on_device;
  const Inputs inputs = Inputs(fitting, trained.scaling).to(device);
  const std::vector<int64_t>& fanout = options.fanout;
  Outputs outputs;
  if (fanout.empty() || model.block_count() == 0) {
    outputs = infer(model, inputs, fitting);
  } else {
    const auto layers = static_cast<size_t>(model.block_count());
    require(fanout.size() == 1 || fanout.size() == layers, OptionName{"fanout"}, ": gives ",
            fanout.size(), " numbers for ", layers,
            " layers; expected one number, or one per layer");
    std::vector<int64_t> each = fanout;
    each.resize(layers, each[0]);
    outputs = infer_sampled(model, inputs, fitting, each, options.seed);
  }
  return {outputs.embedding.cpu(), make_objective(trained)->predictions(outputs.logits.cpu())};
}

Tensor probabilities(const TrainedModel& trained, const Tensor& outputs) {
  return make_objective(trained)->probabilities(outputs);
}

Tensor predicted_classes(const TrainedModel& trained, const Tensor& outputs) {
  if (trained.task != Task::kSingleLabel) return {};
  return make_objective(trained)->decision_values(outputs).argmax(1);
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
    std::vector<float> target(
        static_cast<size_t>(from.target.size() / std::max<int64_t>(1, from.classes()) * classes));
    for (int64_t i = 0; i < from.target.size(); ++i) {
      const int64_t node = i / from.classes();
      const auto c = to[static_cast<size_t>(i % from.classes())];
      target[static_cast<size_t>(node * classes + c)] = from.target[i];
    }
    labels.target = std::move(target);
  }
  return labels;
}

void write_predictions(const TrainedModel& trained, const Graph& graph,
                       const Predictions& predictions, const PredictionColumns& columns,
                       const std::string& path) {
  const auto objective = make_objective(trained);
  TextWriter out(path);
  out << "node";
  for (const auto& name : objective->columns(columns)) (out << ',').field(name);
  out << '\n';
  // The probabilities of a chunk of nodes at a time, since there may be thousands of classes.
  constexpr int64_t kChunk = 1024;
  for (int64_t first = 0; first < graph.node_count(); first += kChunk) {
    const int64_t last = std::min(first + kChunk, graph.node_count());
    const Tensor outputs = predictions.outputs.slice(0, first, last);
    const Tensor probability = objective->probabilities(outputs);
    const Tensor values = (probability.defined() ? probability : outputs).cpu().contiguous();
    const auto width = static_cast<size_t>(values.size(1));
    const auto* row = values.data_ptr<float>();
    for (int64_t node = first; node < last; ++node, row += width) {
      out.field(graph.nodes.names[node]);
      objective->write_row(out, {row, width}, columns);
      out << '\n';
    }
  }
  out.commit();
}

void write_embeddings(const Graph& graph, const Tensor& embedding, const std::string& path) {
  const Tensor values = embedding.cpu().contiguous();
  write_rows(graph.nodes.names, {values.data_ptr<float>(), static_cast<size_t>(values.numel())},
             path);
}

}  // namespace lase
