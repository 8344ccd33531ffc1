#include "lase/inference/attribute_effects.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <array>
#include <c10/core/GradMode.h>

#include "lase/base/error.h"
#include "lase/graph/column_summary.h"
#include "lase/inference/inference.h"
#include "lase/inference/label_passes.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/model/layers/registry.h"
#include "lase/ops/one_thread.h"
#include "lase/sampler/sampler.h"

namespace lase {
namespace {

using at::Tensor;

// Outputs for the chosen nodes with some attributes replaced by their means.
class Examined {
 public:
  Examined(const TrainedModel& trained, const Graph& graph, std::span<const int64_t> nodes)
      : trained_(trained), graph_(graph), nodes_(index_of({nodes.begin(), nodes.end()})) {}

  // Attributes j are standardized as (f_j − mean_j) · scale_j, so that a scale of 0 has the effect
  // of the mean.
  Tensor outputs(std::span<const int64_t> replaced) const {
    Scaling scaling = trained_.scaling;
    scaling.link_scale = scaling.link_scale.clone();
    for (const int64_t j : replaced) scaling.link_scale[j] = 0;
    const LabelPasses passes(Inputs(graph_, scaling));
    const Outputs outputs = passes.outputs([&](const Inputs& inputs) {
      return infer(*trained_.model, inputs, graph_, Keep::kLogits);
    });
    return outputs.logits.index_select(0, nodes_);
  }

 private:
  const TrainedModel& trained_;
  const Graph& graph_;
  Tensor nodes_;
};

// The columns that vary. Constant ones are not standardized, and replacing them changes nothing.
std::vector<int64_t> varying_columns(const std::vector<ColumnSummary>& columns) {
  std::vector<int64_t> varying;
  for (size_t j = 0; j < columns.size(); ++j) {
    if (columns[j].least < columns[j].most) varying.push_back(static_cast<int64_t>(j));
  }
  return varying;
}

// Those that are not 0 in most rows, at most `most` of them.
std::vector<int64_t> frequent_columns(const std::vector<ColumnSummary>& columns,
                                      std::vector<int64_t> order, int64_t most) {
  const auto count = [&](int64_t j) { return columns[static_cast<size_t>(j)].non_zero; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return count(a) > count(b); });
  order.resize(std::min(order.size(), static_cast<size_t>(most)));
  return order;
}

}  // namespace

AttributeEffects attribute_effects(const TrainedModel& trained, const Graph& graph,
                                   std::span<const int64_t> nodes,
                                   const AttributeEffectOptions& options) {
  const Graph fitting = fitting_graph(trained, graph);
  const auto& type = layer_type(trained.model->options().model);
  require(fitting.link_attributes.columns > 0, "the links have no attributes");
  require(type.reads_links, "the model ", type.name, " does not read link attributes");
  require(!nodes.empty(), "no nodes to examine");
  const ops::OneThread one_thread;
  c10::NoGradGuard no_grad;
  const auto objective = make_objective(trained, labels_as_trained(trained, fitting.nodes.labels));
  const Examined examined(trained, fitting, nodes);

  const Tensor outputs = examined.outputs({});
  const Tensor predictions = objective->predictions(outputs);
  Tensor explained = at::empty({outputs.size(0), 1}, at::kLong);
  for (int64_t i = 0; i < outputs.size(0); ++i) {
    explained[i][0] = objective->explained_output(predictions[i]);
  }
  const Tensor score = outputs.gather(1, explained);
  const auto metric_of = [&](const Tensor& from) {
    return objective->headline(objective->score(objective->predictions(from), nodes));
  };
  AttributeEffects effects{.nodes = std::ssize(nodes),
                           .columns = fitting.link_attributes.columns,
                           .task = trained.task,
                           .metric = metric_of(outputs),
                           .all = {},
                           .attributes = {}};
  const auto effect_of = [&](std::string name, int64_t links, std::span<const int64_t> replaced) {
    const Tensor without = examined.outputs(replaced);
    const Tensor change = score - without.gather(1, explained);
    return AttributeSummary{.name = std::move(name),
                            .links = links,
                            .effect = change.mean().item<double>(),
                            .absolute_effect = change.abs().mean().item<double>(),
                            .metric_change = effects.metric.value - metric_of(without).value};
  };
  const auto columns = summarize(fitting.link_attributes, fitting.attribute_names);
  const auto varying = varying_columns(columns);
  effects.all = effect_of("all link attributes", fitting.link_attributes.rows, varying);
  const auto chosen = frequent_columns(columns, varying, options.most);
  for (const int64_t j : chosen) {
    const auto& column = columns[static_cast<size_t>(j)];
    effects.attributes.push_back(effect_of(column.name, column.non_zero, std::array{j}));
    const bool proceed =
        !options.progress || options.progress(std::ssize(effects.attributes), std::ssize(chosen));
    if (!proceed) throw Stopped();
  }
  std::stable_sort(
      effects.attributes.begin(), effects.attributes.end(),
      [](const auto& a, const auto& b) { return a.absolute_effect > b.absolute_effect; });
  return effects;
}

}  // namespace lase
