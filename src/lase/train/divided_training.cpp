#include "lase/train/divided_training.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <numeric>
#include <utility>

#include "lase/base/error.h"
#include "lase/base/process_group.h"
#include "lase/ops/fetched_rows.h"
#include "lase/train/divided_source.h"

namespace lase {

using at::Tensor;

namespace {

// Finds the arcs of all processes that layers visit for some nodes, over whole neighborhoods.
class NeededArcs {
 public:
  NeededArcs(const DividedGraph& graph, const std::vector<int64_t>& nodes)
      : graph_(graph),
        group_(processes_or_alone()),
        known_(static_cast<size_t>(graph.node_count())) {
    for (const int64_t node : nodes) {
      if (graph_.place(node).process == group_.rank()) need(node);
    }
  }

  int64_t count(int64_t layers) {
    int64_t arcs = 0;
    for (int64_t l = layers; l > 0; --l) arcs += visit();
    const std::vector<int64_t> all = gather(group_, arcs);
    return std::accumulate(all.begin(), all.end(), int64_t{0});
  }

 private:
  // The own arcs of the nodes that are needed so far; adds their neighbors.
  int64_t visit() {
    int64_t arcs = 0;
    std::vector<std::vector<int64_t>> of_others(static_cast<size_t>(group_.size()));
    const auto count = rows_.size();
    for (size_t i = 0; i < count; ++i) {
      const int64_t row = rows_[i];
      arcs += graph_.own().degree(row);
      for (int64_t j = graph_.own().row_ptr[row]; j < graph_.own().row_ptr[row + 1]; ++j) {
        const int64_t node = graph_.own().neighbor[j];
        const RowPlace place = graph_.place(node);
        if (place.process == group_.rank()) {
          need(node);
        } else if (mark(node)) {
          of_others[static_cast<size_t>(place.process)].push_back(node);
        }
      }
    }
    std::vector<Message> messages(of_others.size());
    for (size_t i = 0; i < messages.size(); ++i) append(messages[i], of_others[i]);
    for (const Message& message : exchange_messages(group_, std::move(messages))) {
      for (const int64_t node : MessageReader(message).next<int64_t>()) need(node);
    }
    return arcs;
  }

  // Marks a node as known; returns whether it is new.
  bool mark(int64_t node) {
    const bool is_new = !known_[static_cast<size_t>(node)];
    known_[static_cast<size_t>(node)] = true;
    return is_new;
  }
  void need(int64_t node) {
    if (mark(node)) rows_.push_back(graph_.place(node).row);
  }

  const DividedGraph& graph_;
  ProcessGroup& group_;
  std::vector<bool> known_;    // needed, or requested from its process
  std::vector<int64_t> rows_;  // the own ones that are needed
};

class DividedOutputs : public ExactOutputs {
 public:
  DividedOutputs(const Model& model, const Inputs& inputs, const DividedGraph& graph, int64_t arcs,
                 const std::vector<int64_t>& seeds)
      : pass_(model, inputs, graph, graph.own()) {
    const int64_t layers = model.block_count();
    links_ = layers * arcs;
    if (layers > 0) {
      const int64_t needed = NeededArcs(graph, seeds).count(layers);
      if (computes_less(model, needed, links_)) links_ = needed;
    }
    rows_.emplace(processes_or_alone(), graph.places(seeds));
  }

  Tensor outputs() const override { return rows_->from(pass_.infer(Keep::kLogits).logits); }
  int64_t links() const override { return links_; }

 private:
  DividedPass pass_;
  std::optional<ops::FetchedRows> rows_;  // of the seeds
  int64_t links_ = 0;
};

}  // namespace

// Exact passes over the training arcs, which leave the baseline of batches behind.
class DividedTraining::Passes : public ExactPasses {
 public:
  Passes(DividedTraining& training, const Model& model, const Inputs& inputs)
      : training_(training), model_(model), inputs_(inputs) {}

  Size size() const override { return training_.size_; }
  bool can_be_lazy() const override { return false; }
  void keep_snapshot(Snapshot::When when) override {
    require_option(when == Snapshot::When::kEager, OptionName{"refresh"},
                   " lazy: not supported for partitioned graphs; use eager");
    training_.baseline_model_.emplace(model_.options(), model_.shape(), 0);
  }
  Snapshot* snapshot() override { return nullptr; }
  void refresh_snapshot(const Hidden&, const LayerNodes*) override {
    Model& baseline = *training_.baseline_model_;
    baseline.parameters().set(model_.parameters().copy());
    training_.baseline_.clear();
    if (!pass_) pass_.emplace(baseline, inputs_, training_.graph_, training_.train_arcs_);
    for (LayerPass& layer : pass_->exact_pass()) {
      training_.baseline_.push_back(std::move(layer.baseline));
    }
  }
  std::vector<Probabilities> probabilities(ops::Score score, const Sampling& sampling,
                                           const Hidden&) override {
    if (!pass_) pass_.emplace(model_, inputs_, training_.graph_, training_.train_arcs_);
    return sampling_probabilities(training_.train_arcs_, pass_->exact_pass(score), sampling);
  }

 private:
  DividedTraining& training_;
  const Model& model_;
  const Inputs& inputs_;
  std::optional<DividedPass> pass_;  // after the first one
};

DividedTraining::DividedTraining(const DividedGraph& graph, TrainingLinks links)
    : graph_(graph),
      links_(links),
      train_arcs_(own_arcs_within(graph, visible_nodes(graph.whole().graph, links))) {
  int64_t largest = 0;
  for (int64_t row = 0; row < train_arcs_.node_count(); ++row) {
    largest = std::max(largest, train_arcs_.degree(row));
  }
  ProcessGroup& group = processes_or_alone();
  const std::vector<int64_t> largest_of_all = gather(group, largest);
  const std::vector<int64_t> arcs = gather(group, train_arcs_.arc_count());
  size_ = {.nodes = graph.node_count(),
           .arcs = std::accumulate(arcs.begin(), arcs.end(), int64_t{0}),
           .largest_degree = *std::max_element(largest_of_all.begin(), largest_of_all.end())};
  second_ = group.connect_again();
}

Protocol DividedTraining::protocol(const Objective& objective, bool alone) const {
  const Graph& nodes = graph_.whole().graph;
  Protocol protocol{.train = objective.seeds(nodes, Split::kTrain),
                    .val = objective.seeds(nodes, Split::kVal),
                    .test = objective.seeds(nodes, Split::kTest),
                    .train_graph = {},
                    .val_graph = {},
                    .test_graph = {},
                    .training_links = nodes.links};
  objective.check(protocol.train);
  if (links_ == TrainingLinks::kAll) return protocol;
  // An undirected link has two arcs, or one if it is a self-loop.
  ProcessGroup& group = processes_or_alone();
  std::vector<int64_t> unlinked;  // local nodes
  int64_t links = 0;
  for (int64_t row = 0; row < train_arcs_.node_count(); ++row) {
    const int64_t node = graph_.own_nodes()[row];
    for (int64_t i = train_arcs_.row_ptr[row]; i < train_arcs_.row_ptr[row + 1]; ++i) {
      links += nodes.directed || train_arcs_.neighbor[i] >= node ? 1 : 0;
    }
    if (train_arcs_.degree(row) == 0) unlinked.push_back(node);
  }
  const std::vector<int64_t> of_all = gather(group, links);
  protocol.training_links = std::accumulate(of_all.begin(), of_all.end(), int64_t{0});
  Message own;
  append(own, unlinked);
  std::vector<bool> is_unlinked(static_cast<size_t>(graph_.node_count()));
  const std::vector<Message> messages(static_cast<size_t>(group.size()), own);
  for (const Message& message : exchange_messages(group, messages)) {
    for (const int64_t node : MessageReader(message).next<int64_t>()) {
      is_unlinked[static_cast<size_t>(node)] = true;
    }
  }
  if (alone) return protocol;
  // Leave out training nodes without links, unless none would remain.
  std::vector<int64_t> linked;
  for (const int64_t node : protocol.train) {
    if (!is_unlinked[static_cast<size_t>(node)]) linked.push_back(node);
  }
  if (!linked.empty()) protocol.train = std::move(linked);
  return protocol;
}

std::unique_ptr<ExactPasses> DividedTraining::passes(const Model& model, const Inputs& inputs) {
  return std::make_unique<Passes>(*this, model, inputs);
}

std::unique_ptr<ItemSource> DividedTraining::batches(const Sampling& sampling, BatchPlan plan,
                                                     const BatchInputs& inputs) const {
  return std::make_unique<DividedSource>(
      graph_, train_arcs_, sampling,
      DividedSource::Options{.plan = std::move(plan),
                             .objective = &inputs.objective,
                             .features = &inputs.features,
                             .scaling = &inputs.scaling,
                             .baseline_model = baseline_model_ ? &*baseline_model_ : nullptr,
                             .baseline = baseline_model_ ? &baseline_ : nullptr,
                             .group = second_.get()});
}

std::unique_ptr<ExactOutputs> DividedTraining::validation(const Model& model, const Inputs& inputs,
                                                          const std::vector<int64_t>& seeds) const {
  return std::make_unique<DividedOutputs>(model, inputs, graph_, graph_.whole().arcs, seeds);
}

}  // namespace lase
