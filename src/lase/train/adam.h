#pragma once

#include <ATen/core/Tensor.h>
#include <utility>

#include "lase/model/parameters.h"
#include "lase/ops/optimizer.h"
#include "lase/train/options.h"

namespace lase {

// Adam with accessible state, so that a checkpoint can store all of it; the equations are in
// kernels.h.
class Adam {
 public:
  Adam(Parameters& parameters, AdamOptions options);

  void zero_gradients();
  // Counts a step and computes its factors.
  void begin_step(double learning_rate, ops::StepNumbers::Values& numbers);
  // Updates the parameters that have a gradient; `factors` are those of StepNumbers.
  void update(const at::Tensor& factors);

  // Updated in place by step(); set() requires a tensor for every parameter.
  struct Moments {
    NamedTensors first;   // m
    NamedTensors second;  // v
    int64_t steps = 0;
  };
  const Moments& moments() const { return moments_; }
  void set(Moments moments) { moments_ = std::move(moments); }
  int64_t steps() const { return moments_.steps; }

 private:
  Parameters& parameters_;
  AdamOptions options_;
  Moments moments_;
};

}  // namespace lase
