#include "lase/inference/divided_predictor.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <numeric>

#include "lase/base/error.h"
#include "lase/base/process_group.h"
#include "lase/graph/write_rows.h"
#include "lase/inference/divided_pass.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/ops/fetched_rows.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/workspace.h"

namespace lase {

using at::Tensor;

DividedPredictor::DividedPredictor(const TrainedModel& trained, const DividedGraph& graph,
                                   Keep keep)
    : trained_(trained), graph_(graph) {
  const std::string& path = graph.whole().folder;
  require(trained.predicts == Predicts::kNodes, path,
          ": partitioned graphs support only models of node labels, but the model predicts links");
  require(!trained.learned.present() && !trained.label_inputs, path,
          ": partitioned graphs do not support models with learned features or known labels as "
          "inputs; train with ",
          OptionName{"features"}, " none and ", OptionName{"label_inputs"}, " off");
  require(!trained.common_neighbors, path,
          ": partitioned graphs do not support models that read common neighbors; train with ",
          OptionName{"common_neighbors"}, " off");
  const ops::OneThread one_thread;
  const Workspace workspace;
  const Graph own = prepare_graph(trained, graph.own(), path);
  const Inputs inputs(own, trained.scaling);
  own_ = DividedPass(*trained.model, inputs, graph, own).infer(keep);
  if (own_.logits.defined()) own_.logits = make_objective(trained)->predictions(own_.logits);
}

namespace {

Tensor rows_of(const DividedGraph& graph, const Tensor& own, std::span<const int64_t> nodes) {
  return ops::FetchedRows(processes_or_alone(), graph.places(nodes)).from(own);
}

}  // namespace

Tensor DividedPredictor::outputs(std::span<const int64_t> nodes) const {
  return rows_of(graph_, own_.logits, nodes);
}

Tensor DividedPredictor::embedding(std::span<const int64_t> nodes) const {
  return rows_of(graph_, own_.embedding, nodes);
}

int64_t DividedPredictor::width() const { return own_.embedding.size(1); }

Tensor DividedPredictor::range(const Tensor& own, int64_t first, int64_t last) const {
  std::vector<int64_t> nodes(is_first_process() ? static_cast<size_t>(last - first) : 0);
  std::iota(nodes.begin(), nodes.end(), first);
  return rows_of(graph_, own, nodes);
}

void DividedPredictor::write(const PredictionColumns& columns, const std::string& path) const {
  // Many rows are fetched at once, and written a few at a time.
  constexpr int64_t kRows = 1 << 16;
  Tensor fetched;
  int64_t begin = 0;
  int64_t end = 0;
  const auto rows = [&](int64_t first, int64_t last) {
    if (first >= end) {
      begin = first;
      end = std::min(first + kRows, graph_.node_count());
      fetched = range(own_.logits, begin, end);
    }
    return is_first_process() ? fetched.slice(0, first - begin, last - begin) : fetched;
  };
  write_predictions(trained_, graph_.whole().graph.nodes.names, rows, columns, path);
}

void DividedPredictor::write_embeddings(const std::string& path) const {
  write_rows(
      graph_.whole().graph.nodes.names, width(),
      [&](int64_t first, int64_t last) {
        const Tensor rows = range(own_.embedding, first, last).contiguous();
        const auto* values = rows.data_ptr<float>();
        return std::vector<float>(values, values + rows.numel());
      },
      path);
}

}  // namespace lase
