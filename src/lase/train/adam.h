#pragma once

#include <ATen/core/Tensor.h>
#include <vector>

#include "lase/model/parameters.h"

namespace lase {

struct AdamOptions {
  double weight_decay = 0;  // added to the gradient: w² / 2
  double clip = 0;          // every entry of a gradient to ±clip; 0: not
};

// Adam (Kingma and Ba 2015) with its state in the open, so that a checkpoint can hold all of it.
//
//   m ← β1 m + (1−β1) g      v ← β2 v + (1−β2) g²
//   w ← w − lr m̂ / (√v̂ + ε)
class Adam {
 public:
  Adam(Parameters& parameters, AdamOptions options);

  void zero_gradients();
  void step(double learning_rate);

  std::vector<at::Tensor>& first() { return m_; }
  std::vector<at::Tensor>& second() { return v_; }
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }

 private:
  Parameters& parameters_;
  AdamOptions options_;
  std::vector<at::Tensor> m_;
  std::vector<at::Tensor> v_;
  int64_t steps_ = 0;
};

}  // namespace lase
