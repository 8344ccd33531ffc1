#include "lase/train/best_weights.h"

#include <ATen/ATen.h>
#include <cmath>

namespace lase {

void BestWeights::take(int64_t epoch, const NamedTensors& weights) {
  epoch_ = epoch;
  weights_.clear();
  for (const auto& [name, value] : weights) weights_.emplace(name, value.clone());
}

bool BestWeights::offer(int64_t epoch, double score, double loss, const NamedTensors& weights) {
  const bool higher = score > score_ || (score == score_ && loss < loss_);
  const bool better = std::isfinite(loss) && (options_.by_loss ? loss < loss_ : higher);
  if (!better) return false;
  take(epoch, weights);
  score_ = score;
  loss_ = loss;
  validated_ = true;
  return true;
}

bool BestWeights::should_continue(int64_t epochs) const {
  return options_.patience == 0 || !validated_ || epochs - epoch_ < options_.patience;
}

nlohmann::json BestWeights::state() const {
  nlohmann::json state = {{"epoch", epoch_}};
  if (validated_) state.update({{"score", score_}, {"loss", loss_}});
  return state;
}

void BestWeights::restore(const nlohmann::json& state, NamedTensors weights) {
  epoch_ = state.at("epoch").get<int64_t>();
  validated_ = state.contains("score");
  if (validated_) {
    score_ = state.at("score").get<double>();
    loss_ = state.at("loss").get<double>();
  }
  weights_ = std::move(weights);
}

}  // namespace lase
