#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

#include "lase/train/trainer.h"

namespace lase {

// The learning rate per epoch:
//
//   constant   rate
//   cosine     rate (1 + cos(π epoch / epochs)) / 2
//   plateau    rate, halved after every `patience` / 4 validations without improvement
class LearningRate {
 public:
  explicit LearningRate(const TrainOptions& options);

  double at(int64_t epoch) const;  // epoch counts from 0
  void validated(bool better);     // after every validation

  // For a checkpoint.
  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  Schedule schedule_;
  double rate_;
  int64_t epochs_;
  int64_t patience_;
  double factor_ = 1;  // of the plateau schedule
  int64_t since_change_ = 0;
};

}  // namespace lase
