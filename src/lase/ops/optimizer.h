#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

namespace lase::ops {

// The numbers that change from step to step, on the device of the model: a recorded step reads the
// current ones when it is replayed.
class StepNumbers {
 public:
  struct Values {
    uint64_t dropout_key = 0;
    double adam_rate = 0;  // see kernels::AdamStep
    double adam_correct2 = 1;
    double average_decay = 0;
  };

  explicit StepNumbers(const at::Device& device);
  // Enqueued like any other work on the device; does not wait for it.
  void set(const Values& values);

  at::Tensor dropout_key() const { return all_.narrow(0, 0, 1); }  // int64, of the same bits
  at::Tensor adam_factors() const;                                 // double: rate, correct2
  at::Tensor average_decay() const;                                // double

 private:
  at::Tensor all_;  // int64 [4]: the bits of the values
};

// One step of Adam, in place, on several weights w with gradients g and moments m and v; the
// equations are in kernels.h.
struct AdamTensors {
  std::vector<at::Tensor> w, g, m, v;
};
struct AdamLimits {
  double weight_decay = 0;
  double clip = 0;
};
void adam_step(const AdamTensors& tensors, const at::Tensor& factors, const AdamLimits& limits);

// w̄ ← decay w̄ + (1 − decay) w, in place.
void average_step(const std::vector<at::Tensor>& average, const std::vector<at::Tensor>& w,
                  const at::Tensor& decay);

}  // namespace lase::ops
