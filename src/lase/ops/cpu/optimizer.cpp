#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <algorithm>

#include "lase/kernels/kernels.h"
#include "lase/ops/cpu/cpu.h"

namespace lase::ops::cpu {

using at::Tensor;

void adam_step(at::TensorList w, at::TensorList g, at::TensorList m, at::TensorList v,
               const Tensor& factors, double weight_decay, double clip) {
  const auto* factor = factors.data_ptr<double>();
  const kernels::AdamStep step{
      .rate = factor[0], .correct2 = factor[1], .weight_decay = weight_decay, .clip = clip};
  for (size_t i = 0; i < w.size(); ++i) {
    AT_DISPATCH_FLOATING_TYPES(w[i].scalar_type(), "adam_step", [&] {
      kernels::adam_step(step, g[i].data_ptr<scalar_t>(), w[i].numel(), w[i].data_ptr<scalar_t>(),
                         m[i].data_ptr<scalar_t>(), v[i].data_ptr<scalar_t>());
    });
  }
}

void average_step(at::TensorList average, at::TensorList w, const Tensor& decay) {
  const double kept = *decay.data_ptr<double>();
  for (size_t i = 0; i < w.size(); ++i) {
    const Tensor& to = average[i];
    to.mul_(kept).add_(w[i], 1 - kept);
  }
}

void set_numbers(const Tensor& numbers, at::IntArrayRef values) {
  std::copy(values.begin(), values.end(), numbers.data_ptr<int64_t>());
}

}  // namespace lase::ops::cpu
