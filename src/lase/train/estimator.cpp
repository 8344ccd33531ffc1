#include "lase/train/estimator.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/inference/inference.h"
#include "lase/inference/seeds.h"

namespace lase {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// The fan-out of each layer.
std::vector<int64_t> fanouts_of(const SamplingOptions& options, int64_t layers) {
  const auto& given = options.fanout;
  require_option(given.size() <= 1 || std::ssize(given) == layers, OptionName{"fanout"}, ": gives ",
                 given.size(), " numbers for ", layers,
                 " layers; expected one number, or one per layer");
  if (given.size() > 1) return given;
  constexpr int64_t kDefault = 10;
  std::vector<int64_t> fanouts(static_cast<size_t>(layers), given.empty() ? kDefault : given[0]);
  if (given.empty() && options.strategy == Strategy::kSnapshot && layers > 0) {
    std::fill(fanouts.begin(), fanouts.end() - 1, 1);
  }
  return fanouts;
}

// Whether whole neighborhoods take little time: the graph is small, or there are few batches.
bool is_small(int64_t arcs, int64_t seeds) {
  constexpr int64_t kArcs = 1 << 16;
  constexpr int64_t kArcsTimesSeeds = 500'000'000;
  return arcs <= kArcs || seeds <= kArcsTimesSeeds / arcs;
}

// Replaces kAuto by the strategy that measured best (docs/results.md).
SamplingOptions chosen(SamplingOptions options, const Model& model, int64_t arcs, int64_t seeds) {
  if (options.strategy != Strategy::kAuto) return options;
  if (options.fanout.empty() && is_small(arcs, seeds)) options.fanout = {kWholeNeighborhood};
  const bool steady = sums_terms(model.options()) && model.steady();
  options.strategy = steady ? Strategy::kSnapshot : Strategy::kUniform;
  return options;
}

// Whether a row of this degree is longer than a fan-out.
bool is_sampled(int64_t degree, const std::vector<int64_t>& fanouts) {
  return std::any_of(fanouts.begin(), fanouts.end(), [&](int64_t fanout) {
    return fanout != kWholeNeighborhood && degree > fanout;
  });
}

// Passes over a graph of which this process has everything.
class WholePasses : public ExactPasses {
 public:
  WholePasses(const Model& model, const Inputs& inputs, const Adjacency& graph)
      : model_(model), inputs_(inputs), graph_(graph) {}

  Size size() const override {
    int64_t largest = 0;
    for (int64_t u = 0; u < graph_.node_count(); ++u) largest = std::max(largest, graph_.degree(u));
    return {graph_.node_count(), graph_.arc_count(), largest};
  }
  bool can_be_lazy() const override { return true; }
  void keep_snapshot(Snapshot::When when) override {
    snapshot_ = std::make_unique<Snapshot>(model_, inputs_, graph_, when);
  }
  void refresh_snapshot(const Hidden& hidden, const LayerNodes* read) override {
    snapshot_->refresh(model_.parameters(), hidden, read);
  }
  Snapshot* snapshot() override { return snapshot_.get(); }
  std::vector<Probabilities> probabilities(ops::Score score, const Sampling& sampling,
                                           const Hidden& hidden) override {
    const LayerNodes none(static_cast<size_t>(model_.block_count()));
    return sampling_probabilities(
        graph_, exact_pass(model_, inputs_.hiding(hidden.labels), graph_, score, &none), sampling);
  }

 private:
  const Model& model_;
  const Inputs& inputs_;
  const Adjacency& graph_;
  std::unique_ptr<Snapshot> snapshot_;
};

}  // namespace

std::vector<Probabilities> sampling_probabilities(const Adjacency& graph,
                                                  const std::vector<LayerPass>& passes,
                                                  const Sampling& sampling) {
  std::vector<Probabilities> all;
  for (size_t l = 0; l < passes.size(); ++l) {
    const at::Tensor scores = passes[l].score.cpu();
    all.push_back(sampling_probabilities(
        graph, {scores.data_ptr<float>(), static_cast<size_t>(scores.numel())}, sampling.fanouts[l],
        sampling.replacement));
  }
  return all;
}

Estimator::Estimator(const SamplingOptions& options, const Model& model, const Inputs& inputs,
                     const Adjacency& graph, const SeedCounts& seeds)
    : Estimator(options, model, inputs, std::make_unique<WholePasses>(model, inputs, graph),
                seeds) {}

Estimator::Estimator(const SamplingOptions& options, const Model& model, const Inputs& inputs,
                     std::unique_ptr<ExactPasses> passes, const SeedCounts& seeds)
    : passes_(std::move(passes)),
      options_(chosen(options, model, passes_->size().arcs, seeds.epoch)),
      model_(model),
      inputs_(inputs) {
  sampling_option_table().check(options);
  require_option(sums_terms(model.options()) || options_.strategy == Strategy::kUniform,
                 OptionName{"strategy"}, " ", name_of(options_.strategy),
                 ": estimates only sums and means; use uniform sampling with ",
                 OptionName{"aggregate"}, " max");
  require_option(options_.refresh != Refresh::kLazy || options_.strategy == Strategy::kSnapshot,
                 OptionName{"refresh"}, " lazy: requires a snapshot, but ", OptionName{"strategy"},
                 " ", name_of(options_.strategy), " does not use one");
  const bool weighted =
      options_.strategy == Strategy::kGate || options_.strategy == Strategy::kMinVar;
  require_option(!model.shape().links || !weighted, OptionName{"strategy"}, " ",
                 name_of(options_.strategy),
                 ": not supported if links are predicted; use uniform or snapshot");
  const int64_t most = seeds.most_hidden / std::max<int64_t>(1, seeds.batch);
  options_.refresh_every = std::clamp<int64_t>(most, 1, options_.refresh_every);
  sampling_.fanouts = fanouts_of(options_, model.block_count());
  sampling_.replacement = options_.replacement;
  // The terms of the first layer need no gradient if they are unmodified features.
  const bool sums_features =
      inputs.dense() && model.starts_from_features() && !model.type().transforms_first;
  // On a GPU, the gradient of the gate terms of sources is summed in the same order.
  const bool orders_gates = !inputs.device().is_cpu() && model.options().gate;
  sampling_.ordered_from = sums_features && !orders_gates ? 1 : 0;
  samples_ = is_sampled(passes_->size().largest_degree, sampling_.fanouts);
  require_option(!uses_snapshot() || options_.link_dropout.value_or(0) == 0,
                 OptionName{"link_dropout"}, " ", options_.link_dropout.value_or(0),
                 ": not supported with a snapshot, whose sums include all neighbors; set ",
                 OptionName{"fanout"}, " all or ", OptionName{"strategy"}, " uniform");
  const bool reads_links = model.block_count() > 0;
  require_option(reads_links || options_.link_dropout.value_or(0) == 0, OptionName{"link_dropout"},
                 ": has no effect on a model that does not use links");
  // For whole neighborhoods; samples and projected features vary from batch to batch anyway.
  constexpr double kUsual = 0.3;
  const bool drops = reads_links && !samples_ && !model.projects();
  sampling_.link_dropout = options_.link_dropout.value_or(drops ? kUsual : 0);
  if (!needs_refreshes()) left_ = kNever;
  if (!uses_snapshot()) return;
  lazy_ = options_.refresh == Refresh::kLazy ||
          (options_.refresh == Refresh::kAuto && cheaper_lazily(seeds.batch));
  passes_->keep_snapshot(lazy_ ? Snapshot::When::kLazy : Snapshot::When::kEager);
}

bool Estimator::needs_refreshes() const {
  return samples_ && options_.strategy != Strategy::kUniform;
}

// A full pass costs less per node, so a lazy snapshot is cheaper only if batches touch few nodes:
// per seed node, all nodes that the layers above the first reach.
bool Estimator::cheaper_lazily(int64_t batch) const {
  // Sparse features would be converted to dense ones for every batch.
  if (!inputs_.in_place() && model_.reads_features()) return false;
  if (!passes_->can_be_lazy()) return false;
  const ExactPasses::Size size = passes_->size();
  const auto nodes = static_cast<double>(size.nodes);
  const auto arcs = static_cast<double>(size.arcs);
  const double reach = std::pow(1 + arcs / nodes, static_cast<double>(model_.block_count() - 1));
  return static_cast<double>(options_.refresh_every) * static_cast<double>(batch) * reach <
         nodes / 2;
}

std::string Estimator::describe() const {
  const double dropped = sampling_.link_dropout;
  const std::string dropout = dropped > 0 ? join(", link dropout ", significant(dropped, 3)) : "";
  if (!samples_) return "whole neighborhoods" + dropout;
  std::string text = join(name_of(options_.strategy), ", fan-out ");
  for (size_t l = 0; l < sampling_.fanouts.size(); ++l) {
    const int64_t fanout = sampling_.fanouts[l];
    text += join(l > 0 ? "," : "", fanout == kWholeNeighborhood ? "all" : std::to_string(fanout));
  }
  if (needs_refreshes())
    text += join(", refreshed every ", options_.refresh_every, " batches", lazy_ ? ", lazily" : "");
  return text + dropout;
}

void Estimator::mark_stale() {
  if (needs_refreshes()) left_ = 0;
}

void Estimator::refresh(int64_t batches, const Hidden& hidden, const LayerNodes* read) {
  if (!needs_refreshes()) return;
  left_ = batches > 0 ? batches : options_.refresh_every;
  ++refresh_count_;
  if (uses_snapshot()) {
    passes_->refresh_snapshot(hidden, read);
    return;
  }
  const auto score = options_.strategy == Strategy::kGate ? ops::Score::kGate : ops::Score::kNorm;
  sampling_.probabilities = passes_->probabilities(score, sampling_, hidden);
}

}  // namespace lase
