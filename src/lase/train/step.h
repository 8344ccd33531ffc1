#pragma once

#include <functional>

#include "lase/inference/objective.h"
#include "lase/model/model.h"
#include "lase/train/adam.h"
#include "lase/train/batch_stream.h"

namespace lase {

// One training step on a sampled batch:
//
//   outputs = model(batch)
//   L       = Σ loss / count
//   g       = ∂L/∂w            then the gradient hook
//   w       ← Adam(w, g)
class TrainStep {
 public:
  // Called between the backward pass and the optimizer, for example to sum gradients across
  // processes.
  using GradientHook = std::function<void(Parameters& parameters)>;

  // `model`, `inputs` and `objective` must outlive the step.
  TrainStep(Model& model, const Inputs& inputs, const Objective& objective, AdamOptions adam,
            GradientHook hook = {});

  struct Options {
    ops::Dropout dropout = {};
    double learning_rate = 0;
  };
  struct Result {
    at::Tensor loss;  // scalar, on the device of the model; to read it is to wait for a GPU
    // False if the loss is infinite or NaN, which is checked on the CPU only.
    bool updated = false;
    double forward_seconds = 0;
    double backward_seconds = 0;
    double optimizer_seconds = 0;
  };
  Result run(const BatchStream::Item& item, const Options& options);

  Adam& adam() { return adam_; }
  const Adam& adam() const { return adam_; }

 private:
  Model& model_;
  const Inputs& inputs_;
  const Objective& objective_;
  Adam adam_;
  GradientHook hook_;
};

}  // namespace lase
