#pragma once

#include <ATen/core/Tensor.h>
#include <utility>

#include "lase/model/parameters.h"
#include "lase/train/options.h"

namespace lase {

// Adam with accessible state, so that a checkpoint can store all of it; the equations are in
// kernels.h.
class Adam {
 public:
  Adam(Parameters& parameters, AdamOptions options);

  void zero_gradients();
  void step(double learning_rate);

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
