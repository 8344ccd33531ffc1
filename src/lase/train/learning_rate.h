#pragma once

#include <cstdint>

#include "lase/train/options.h"
#include "lase/train/stored_checkpoint.h"

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
  const Progress::Rate& state() const { return plateau_; }
  void restore(const Progress::Rate& state) { plateau_ = state; }

 private:
  Schedule schedule_;
  double rate_;
  int64_t epochs_;
  int64_t patience_;
  Progress::Rate plateau_;
};

}  // namespace lase
