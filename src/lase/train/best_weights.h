#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "lase/model/parameters.h"

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

  int64_t epoch() const { return epoch_; }  // 0: none yet
  bool validated() const { return validated_; }
  double score() const { return score_; }
  double loss() const { return loss_; }
  const NamedTensors& weights() const { return weights_; }

  // For a checkpoint, which stores the weights as tensors.
  nlohmann::json state() const;
  void restore(const nlohmann::json& state, NamedTensors weights);

 private:
  Options options_;
  double score_ = -std::numeric_limits<double>::infinity();
  double loss_ = std::numeric_limits<double>::infinity();
  int64_t epoch_ = 0;
  bool validated_ = false;
  NamedTensors weights_;
};

}  // namespace lase
