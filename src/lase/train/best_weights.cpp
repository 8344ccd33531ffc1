#include "lase/train/best_weights.h"

#include <ATen/ATen.h>
#include <cmath>

namespace lase {

void BestWeights::take(int64_t epoch, const NamedTensors& weights) {
  best_.epoch = epoch;
  weights_.clear();
  for (const auto& [name, value] : weights) weights_.emplace(name, value.clone());
}

bool BestWeights::offer(int64_t epoch, double score, double loss, const NamedTensors& weights) {
  const bool higher = score > best_.score || (score == best_.score && loss < best_.loss);
  const bool better = std::isfinite(loss) && (options_.by_loss ? loss < best_.loss : higher);
  if (!better) return false;
  take(epoch, weights);
  best_.score = score;
  best_.loss = loss;
  best_.validated = true;
  return true;
}

bool BestWeights::should_continue(int64_t epochs) const {
  return options_.patience == 0 || !best_.validated || epochs - best_.epoch < options_.patience;
}

void BestWeights::restore(const Progress::Best& state, NamedTensors weights) {
  best_ = state;
  weights_ = std::move(weights);
}

}  // namespace lase
