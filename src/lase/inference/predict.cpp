#include "lase/inference/predict.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <map>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/graph/export.h"
#include "lase/ops/one_thread.h"

namespace lase {

using at::Tensor;

Predictions predict(const TrainedModel& trained, const Graph& graph,
                    std::span<const int64_t> fanout, uint64_t seed) {
  const ops::OneThread one_thread;
  const Model& model = *trained.model;
  const Inputs inputs(graph, trained.scaling);
  Outputs outputs;
  if (fanout.empty() || model.block_count() == 0) {
    outputs = infer(model, inputs, graph);
  } else {
    const auto layers = static_cast<size_t>(model.block_count());
    require(fanout.size() == 1 || fanout.size() == layers, "--fanout: gives ", fanout.size(),
            " numbers for ", layers, " layers; expected one, or one for each");
    std::vector<int64_t> each(fanout.begin(), fanout.end());
    each.resize(layers, each[0]);
    outputs = infer_sampled(model, inputs, graph, each, seed);
  }
  switch (trained.task) {
    case Task::kSingleLabel:
      return {outputs.embedding, outputs.logits, outputs.logits.softmax(1)};
    case Task::kMultiLabel:
      return {outputs.embedding, outputs.logits, outputs.logits.sigmoid()};
    case Task::kRegression:
    case Task::kNone:
      break;
  }
  return {outputs.embedding, trained.target_mean + outputs.logits / trained.target_scale, {}};
}

Labels labels_as_trained(const TrainedModel& trained, const Graph& graph) {
  const Labels& from = graph.nodes.labels;
  require(from.task == trained.task, "the graph has labels of the kind ", task_name(from.task),
          ", the model was trained on ", task_name(trained.task));
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
    std::vector<float> target(static_cast<size_t>(graph.node_count() * classes));
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
                       const Predictions& predictions, int64_t top_k, const std::string& path) {
  const bool regression = trained.task == Task::kRegression;
  const Tensor values = (regression ? predictions.outputs : predictions.probability).contiguous();
  const auto* row = values.data_ptr<float>();
  const int64_t classes = values.size(1);
  const int64_t shown = std::clamp<int64_t>(top_k, 1, classes);
  TextWriter out(path);
  out << "node";
  if (regression) {
    for (int64_t c = 0; c < classes; ++c) (out << ',').field(trained.label_names[c]);
  } else {
    out << ",label,probability";
    for (int64_t i = 2; i <= shown; ++i) out << ",label" << i << ",probability" << i;
  }
  out << '\n';
  std::vector<int64_t> order(static_cast<size_t>(classes));
  for (int64_t node = 0; node < graph.node_count(); ++node, row += classes) {
    out.field(graph.nodes.names[node]);
    if (regression) {
      for (int64_t c = 0; c < classes; ++c) out << ',' << row[c];
    } else {
      std::iota(order.begin(), order.end(), int64_t{0});
      std::partial_sort(order.begin(), order.begin() + shown, order.end(),
                        [&](int64_t a, int64_t b) { return row[a] > row[b]; });
      for (int64_t i = 0; i < shown; ++i) {
        const int64_t c = order[static_cast<size_t>(i)];
        (out << ',').field(trained.label_names[c]) << ',' << row[c];
      }
    }
    out << '\n';
  }
  out.commit();
}

void write_embeddings(const Graph& graph, const Tensor& embedding, const std::string& path) {
  const Tensor values = embedding.contiguous();
  write_rows(graph.nodes.names, {values.data_ptr<float>(), static_cast<size_t>(values.numel())},
             path);
}

}  // namespace lase
