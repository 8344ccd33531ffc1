#include "lase/train/learning_rate.h"

#include <cmath>
#include <numbers>

namespace lase {

LearningRate::LearningRate(const TrainOptions& options)
    : schedule_(options.schedule),
      rate_(options.learning_rate),
      epochs_(options.epochs),
      patience_(options.patience) {}

double LearningRate::at(int64_t epoch) const {
  switch (schedule_) {
    case Schedule::kConstant:
      break;
    case Schedule::kCosine: {
      const double done = static_cast<double>(epoch) / static_cast<double>(epochs_);
      return rate_ * (1 + std::cos(done * std::numbers::pi)) / 2;
    }
    case Schedule::kPlateau:
      return rate_ * factor_;
  }
  return rate_;
}

void LearningRate::validated(bool better) {
  ++since_change_;
  if (better) {
    since_change_ = 0;
  } else if (patience_ > 0 && since_change_ * 4 >= patience_) {
    factor_ /= 2;
    since_change_ = 0;
  }
}

nlohmann::json LearningRate::state() const {
  return {{"factor", factor_}, {"since_change", since_change_}};
}

void LearningRate::restore(const nlohmann::json& state) {
  factor_ = state.at("factor").get<double>();
  since_change_ = state.at("since_change").get<int64_t>();
}

}  // namespace lase
