#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "lase/model/parameters.h"

namespace lase {

// The weights of the best epoch so far, and whether it is worth looking for better ones.
class BestWeights {
 public:
  struct Options {
    bool by_loss = false;  // the best epoch has the lowest loss, not the highest score
    int64_t patience = 0;  // epochs without a better one before training stops; 0: never
  };
  explicit BestWeights(Options options) : options_(options) {}

  // Validated weights, after `epoch` epochs; whether they are the best. Equal scores are told apart
  // by the loss.
  bool offer(int64_t epoch, double score, double loss, const NamedTensors& weights);
  // The last weights, where nothing is validated.
  void take(int64_t epoch, const NamedTensors& weights);

  // Whether training goes on after so many epochs.
  bool patient(int64_t epochs) const;

  int64_t epoch() const { return epoch_; }  // 0: none yet
  bool validated() const { return validated_; }
  double score() const { return score_; }
  double loss() const { return loss_; }
  const NamedTensors& weights() const { return weights_; }

  // For a checkpoint, which keeps the weights as tensors.
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
