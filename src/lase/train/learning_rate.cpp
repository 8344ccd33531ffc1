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
      return rate_ * plateau_.factor;
  }
  return rate_;
}

void LearningRate::validated(bool better) {
  ++plateau_.since_change;
  if (better) {
    plateau_.since_change = 0;
  } else if (patience_ > 0 && plateau_.since_change * 4 >= patience_) {
    plateau_.factor /= 2;
    plateau_.since_change = 0;
  }
}

}  // namespace lase
