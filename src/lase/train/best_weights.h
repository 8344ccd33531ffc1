#pragma once

#include <cstdint>

#include "lase/model/parameters.h"
#include "lase/train/stored_checkpoint.h"

namespace lase {

// The weights of the best epoch so far, and early stopping.
class BestWeights {
 public:
  struct Options {
    bool by_loss = false;  // select by the lowest loss, not by the highest score
    int64_t patience = 0;  // epochs without improvement before training stops; 0: never
  };
  explicit BestWeights(Options options) : options_(options) {}

  // Offers weights validated after `epoch` epochs; returns whether they are the best. The loss
  // breaks ties between equal scores.
  bool offer(int64_t epoch, double score, double loss, const NamedTensors& weights);
  // Keeps the last weights, if there is no validation.
  void take(int64_t epoch, const NamedTensors& weights);

  // Whether training continues after this many epochs.
  bool should_continue(int64_t epochs) const;

  int64_t epoch() const { return best_.epoch; }  // 0: none yet
  bool validated() const { return best_.validated; }
  double score() const { return best_.score; }
  double loss() const { return best_.loss; }
  const NamedTensors& weights() const { return weights_; }

  // For a checkpoint, which stores the weights as tensors.
  const Progress::Best& state() const { return best_; }
  void restore(const Progress::Best& state, NamedTensors weights);

 private:
  Options options_;
  Progress::Best best_;
  NamedTensors weights_;
};

}  // namespace lase
