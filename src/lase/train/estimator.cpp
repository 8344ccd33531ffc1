#include "lase/train/estimator.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <limits>

#include "lase/base/error.h"
#include "lase/inference/inference.h"

namespace lase {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

// A number for each layer.
std::vector<int64_t> fanouts_of(const SamplingOptions& options, int64_t layers) {
  const auto& given = options.fanout;
  require(given.size() <= 1 || std::ssize(given) == layers, OptionName{"fanout"}, ": gives ",
          given.size(), " numbers for ", layers, " layers; expected one, or one for each");
  if (given.size() > 1) return given;
  constexpr int64_t kUsual = 10;
  std::vector<int64_t> fanouts(static_cast<size_t>(layers), given.empty() ? kUsual : given[0]);
  if (given.empty() && options.strategy == Strategy::kSnapshot && layers > 0) {
    std::fill(fanouts.begin(), fanouts.end() - 1, 1);
  }
  return fanouts;
}

// With a strategy for kAuto, as measured (docs/results.md).
SamplingOptions chosen(SamplingOptions options, const Model& model, const Adjacency& graph) {
  if (options.strategy != Strategy::kAuto) return options;
  constexpr int64_t kSmall = 1 << 16;
  if (options.fanout.empty() && graph.neighbor.size() <= kSmall) {
    options.fanout = {kWholeNeighborhood};
  }
  const bool steady = sums_terms(model.options()) && model.type().steady;
  options.strategy = steady ? Strategy::kSnapshot : Strategy::kUniform;
  return options;
}

// Whether a row is longer than what is drawn of it.
bool draws_any(const Adjacency& graph, const std::vector<int64_t>& fanouts) {
  int64_t least = kNever;
  for (const int64_t fanout : fanouts) {
    if (fanout != kWholeNeighborhood) least = std::min(least, fanout);
  }
  for (int64_t u = 0; least < kNever && u + 1 < graph.row_ptr.size(); ++u) {
    if (graph.degree(u) > least) return true;
  }
  return false;
}

}  // namespace

Estimator::Estimator(const SamplingOptions& options, const Model& model, const Inputs& inputs,
                     const Adjacency& graph, int64_t batch)
    : options_(chosen(options, model, graph)), model_(model), inputs_(inputs), graph_(graph) {
  sampling_option_table().check(options);
  require(sums_terms(model.options()) || options_.strategy == Strategy::kUniform,
          OptionName{"strategy"}, " ", name_of(options_.strategy),
          ": estimates sums and means; with ", OptionName{"aggregate"},
          " max only uniform sampling makes sense");
  require(options_.renewal != Renewal::kLazy || options_.strategy == Strategy::kSnapshot,
          OptionName{"renewal"}, " lazy: only a snapshot can be, and ", OptionName{"strategy"}, " ",
          name_of(options_.strategy), " is not one");
  sampling_.fanouts = fanouts_of(options_, model.block_count());
  sampling_.draw = options_.draw;
  // The terms of the first layer need no gradient where they are features as they are.
  const bool sums_features =
      inputs.in_place() && model.starts_from_features() && !model.type().transforms_first;
  sampling_.ordered_from = sums_features ? 1 : 0;
  draws_ = draws_any(graph, sampling_.fanouts);
  if (!renews()) left_ = kNever;
  if (!draws_ || options_.strategy != Strategy::kSnapshot) return;
  lazy_ = options_.renewal == Renewal::kLazy ||
          (options_.renewal == Renewal::kAuto && cheaper_lazily(batch));
  snapshot_ = std::make_unique<Snapshot>(model, inputs, graph,
                                         lazy_ ? Snapshot::When::kLazy : Snapshot::When::kEager);
}

bool Estimator::renews() const { return draws_ && options_.strategy != Strategy::kUniform; }

// A pass over all costs less by node, so nodes that are touched must be few: of every seed, all
// that the layers above the first reach.
bool Estimator::cheaper_lazily(int64_t batch) const {
  // Sparse features would be made dense again and again.
  if (!inputs_.in_place() && model_.reads_features()) return false;
  const auto nodes = static_cast<double>(graph_.row_ptr.size() - 1);
  const auto arcs = static_cast<double>(graph_.neighbor.size());
  const double reach = std::pow(1 + arcs / nodes, static_cast<double>(model_.block_count() - 1));
  return static_cast<double>(options_.renew) * static_cast<double>(batch) * reach < nodes / 2;
}

std::string Estimator::describe() const {
  if (!draws_) return "whole neighbourhoods";
  std::string text = join(name_of(options_.strategy), " of ");
  for (size_t l = 0; l < sampling_.fanouts.size(); ++l) {
    const int64_t fanout = sampling_.fanouts[l];
    text += join(l > 0 ? "," : "", fanout == kWholeNeighborhood ? "all" : std::to_string(fanout));
  }
  text += " neighbours";
  if (renews())
    text += join(", renewed every ", options_.renew, " batches", lazy_ ? ", lazily" : "");
  return text;
}

void Estimator::expire() {
  if (renews()) left_ = 0;
}

void Estimator::renew(int64_t batches) {
  if (!renews()) return;
  left_ = batches > 0 ? batches : options_.renew;
  ++renewals_;
  if (snapshot_) {
    snapshot_->renew(model_.parameters());
    return;
  }
  const auto score = options_.strategy == Strategy::kGate ? ops::Score::kGate : ops::Score::kNorm;
  const auto passes = exact_pass(model_, inputs_, graph_, score);
  sampling_.shares.clear();
  for (size_t l = 0; l < passes.size(); ++l) {
    const at::Tensor scores = passes[l].score.cpu();
    sampling_.shares.push_back(
        make_shares(graph_, {scores.data_ptr<float>(), static_cast<size_t>(scores.numel())},
                    sampling_.fanouts[l], sampling_.draw));
  }
}

}  // namespace lase
