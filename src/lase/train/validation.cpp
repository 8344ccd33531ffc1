#include "lase/train/validation.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>

#include "lase/inference/inference.h"

namespace lase {
namespace {

// Number of arcs that `layers` layers visit for these nodes, over whole neighborhoods.
int64_t needed_arcs(const Adjacency& graph, const std::vector<int64_t>& nodes, int64_t layers) {
  std::vector<bool> needed(static_cast<size_t>(graph.node_count()));
  std::vector<int64_t> targets = nodes;
  for (const int64_t u : nodes) needed[static_cast<size_t>(u)] = true;
  int64_t arcs = 0;
  for (int64_t l = layers; l > 0; --l) {
    const auto count = targets.size();
    for (size_t i = 0; i < count; ++i) {
      const int64_t u = targets[i];
      arcs += graph.degree(u);
      for (int64_t j = graph.row_ptr[u]; j < graph.row_ptr[u + 1]; ++j) {
        const int64_t v = graph.neighbor[j];
        if (needed[static_cast<size_t>(v)]) continue;
        needed[static_cast<size_t>(v)] = true;
        targets.push_back(v);
      }
    }
  }
  return arcs;
}

}  // namespace

bool computes_less(const Model& model, int64_t arcs, int64_t all) {
  // Max aggregation stores all terms of a block, so large blocks are left to infer().
  constexpr int64_t kMostStored = 1 << 18;
  const bool stores = model.options().aggregate == ops::Aggregate::kMax;
  return 2 * arcs <= all && !(stores && arcs > kMostStored);
}

Validation::Validation(const Model& model, const Inputs& inputs, const Adjacency& graph,
                       const std::vector<int64_t>& seeds, const Seeds& kind)
    : model_(model),
      inputs_(inputs),
      graph_(graph),
      evaluation_(kind, seeds, {graph}),
      divided_(std::ssize(evaluation_.nodes())) {
  const std::vector<int64_t>& nodes = evaluation_.nodes();
  const int64_t layers = model.block_count();
  links_ = layers * graph.arc_count();
  if (layers == 0) return;
  const int64_t arcs = needed_arcs(graph, nodes, layers);
  if (!computes_less(model, arcs, links_)) return;
  int64_t largest = 1;
  for (int64_t u = 0; u < graph.node_count(); ++u) largest = std::max(largest, graph.degree(u));
  const Sampling whole{.fanouts = std::vector<int64_t>(static_cast<size_t>(layers), largest)};
  const Part own = divided_.own();
  const auto own_nodes =
      std::span(nodes).subspan(static_cast<size_t>(own.first), static_cast<size_t>(own.size()));
  batch_ = sample_batch(graph, own_nodes, whole, {}).to(inputs.device());
  links_ = arcs;
}

at::Tensor Validation::outputs() const {
  c10::NoGradGuard no_grad;
  return evaluation_.outputs(model_, inputs_, embedding());
}

at::Tensor Validation::embedding() const {
  if (!batch_) {
    const at::Tensor all = infer(model_, inputs_, graph_, Keep::kEmbedding).embedding;
    return all.index_select(0, ops::move(index_of(evaluation_.nodes()), all.device()));
  }
  State state = model_.start(inputs_, batch_->nodes);
  for (int64_t l = 0; l < model_.block_count(); ++l) {
    state = model_.step(l, state, batch_->blocks[static_cast<size_t>(l)], inputs_.links(), {});
  }
  return divided_.all(model_.embedding(state));
}

int64_t ExactOutputs::interval(int64_t epoch_links, int64_t patience, int64_t epochs) const {
  constexpr double kPasses = 3;              // forward and backward, relative to forward
  constexpr double kPart = 0.2 / (1 - 0.2);  // of the time of training
  const double training = kPasses * static_cast<double>(std::max<int64_t>(1, epoch_links));
  const auto wanted = static_cast<int64_t>(
      std::min(1e6, std::ceil(static_cast<double>(links()) / (kPart * training))));
  const int64_t most = patience > 0 ? std::min(patience / 4, epochs / 10) : epochs / 10;
  return std::max<int64_t>(1, std::min(wanted, most));
}

}  // namespace lase
