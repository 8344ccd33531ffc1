#include "lase/inference/predict.h"

#include <ATen/ATen.h>
#include <algorithm>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/graph/write_rows.h"
#include "lase/inference/inference.h"
#include "lase/inference/label_passes.h"
#include "lase/inference/objective.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/precision.h"
#include "lase/ops/workspace.h"

namespace lase {

using at::Tensor;

namespace {

// The fan-out of each layer; empty for exact inference.
std::vector<int64_t> fanouts_of(const PredictOptions& options, const Model& model) {
  const auto layers = static_cast<size_t>(model.block_count());
  std::vector<int64_t> fanouts = options.fanout;
  if (fanouts.empty() || layers == 0) return {};
  require(fanouts.size() == 1 || fanouts.size() == layers, OptionName{"fanout"}, ": gives ",
          fanouts.size(), " numbers for ", layers,
          " layers; expected one number, or one per layer");
  fanouts.resize(layers, fanouts[0]);
  return fanouts;
}

Predictions predict_on_device(const TrainedModel& trained, const Graph& graph,
                              const PredictOptions& options) {
  require(trained.predicts == Predicts::kNodes, "the model predicts links, not labels of nodes");
  const ops::OneThread one_thread;
  const Workspace workspace;
  const at::Device device = choose_device(options.device, graph.links);
  const ops::PrecisionScope precision(
      choose_precision(options.device, device, kInferencePrecision));
  const Graph fitting = fitting_graph(trained, graph);
  const auto on_device = model_on(trained.model, device);
  const Model& model = *on_device;
  const LabelPasses passes(
      Inputs(fitting, trained.scaling).to(device, fitting, choose_memory(options.device, device)));
  const std::vector<int64_t> fanouts = fanouts_of(options, model);
  const Outputs outputs = passes.outputs([&](const Inputs& inputs) {
    return fanouts.empty() ? infer(model, inputs, fitting)
                           : infer_sampled(model, inputs, fitting, fanouts, options.seed);
  });
  return {outputs.embedding.cpu(), make_objective(trained)->predictions(outputs.logits.cpu())};
}

}  // namespace

Predictions predict(const TrainedModel& trained, const Graph& graph,
                    const PredictOptions& options) {
  return ops::with_device_memory([&] { return predict_on_device(trained, graph, options); });
}

Tensor probabilities(const TrainedModel& trained, const Tensor& outputs) {
  return make_objective(trained)->probabilities(outputs);
}

Tensor predicted_classes(const TrainedModel& trained, const Tensor& outputs) {
  if (trained.task != Task::kSingleLabel) return {};
  return make_objective(trained)->decision_values(outputs).argmax(1);
}

void write_predictions(const TrainedModel& trained, const StringTable& names,
                       const std::function<Tensor(int64_t first, int64_t last)>& rows,
                       const PredictionColumns& columns, const std::string& path) {
  const auto objective = make_objective(trained);
  TextWriter out(path);
  out << "node";
  for (const auto& name : objective->columns(columns)) (out << ',').field(name);
  out << '\n';
  // The probabilities of a chunk of nodes at a time, since there may be thousands of classes.
  constexpr int64_t kChunk = 1024;
  for (int64_t first = 0; first < names.size(); first += kChunk) {
    const Tensor outputs = rows(first, std::min(first + kChunk, names.size()));
    const Tensor probability = objective->probabilities(outputs);
    const Tensor values = (probability.defined() ? probability : outputs).cpu().contiguous();
    const auto width = static_cast<size_t>(values.size(1));
    const auto* row = values.data_ptr<float>();
    for (int64_t node = first; node < first + values.size(0); ++node, row += width) {
      out.field(names[node]);
      objective->write_row(out, {row, width}, columns);
      out << '\n';
    }
  }
  out.commit();
}

void write_predictions(const TrainedModel& trained, const Graph& graph,
                       const Predictions& predictions, const PredictionColumns& columns,
                       const std::string& path) {
  write_predictions(
      trained, graph.nodes.names,
      [&](int64_t first, int64_t last) { return predictions.outputs.slice(0, first, last); },
      columns, path);
}

void write_embeddings(const Graph& graph, const Tensor& embedding, const std::string& path) {
  const Tensor values = embedding.cpu().contiguous();
  write_rows(graph.nodes.names, {values.data_ptr<float>(), static_cast<size_t>(values.numel())},
             path);
}

}  // namespace lase
