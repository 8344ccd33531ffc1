#include "lase/kernels/cuda/optimizer.h"

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>

#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"

namespace lase::ops::cuda {

using at::Tensor;

void adam_step(at::TensorList w, at::TensorList g, at::TensorList m, at::TensorList v,
               const Tensor& factors, double weight_decay, double clip) {
  if (w.empty()) return;
  LaunchScope scope(w[0]);
  AT_DISPATCH_FLOATING_TYPES(w[0].scalar_type(), "adam_step", [&] {
    std::vector<kernels::cuda::AdamArrays<scalar_t>> all;
    for (size_t i = 0; i < w.size(); ++i) {
      all.push_back({.w = w[i].data_ptr<scalar_t>(),
                     .g = g[i].data_ptr<scalar_t>(),
                     .m = m[i].data_ptr<scalar_t>(),
                     .v = v[i].data_ptr<scalar_t>(),
                     .n = w[i].numel()});
    }
    kernels::cuda::adam_step<scalar_t>(
        all, {.weight_decay = weight_decay, .clip = clip, .factors = factors.data_ptr<double>()},
        scope.launch());
  });
}

void average_step(at::TensorList average, at::TensorList w, const Tensor& decay) {
  if (w.empty()) return;
  LaunchScope scope(w[0]);
  AT_DISPATCH_FLOATING_TYPES(w[0].scalar_type(), "average_step", [&] {
    std::vector<kernels::cuda::AverageArrays<scalar_t>> all;
    for (size_t i = 0; i < w.size(); ++i) {
      all.push_back({.average = average[i].data_ptr<scalar_t>(),
                     .w = w[i].data_ptr<scalar_t>(),
                     .n = w[i].numel()});
    }
    kernels::cuda::average_step<scalar_t>(all, decay.data_ptr<double>(), scope.launch());
  });
}

void set_numbers(const Tensor& numbers, at::IntArrayRef values) {
  LaunchScope scope(numbers);
  kernels::cuda::set_numbers({values.data(), values.size()}, numbers.data_ptr<int64_t>(),
                             scope.launch());
}

}  // namespace lase::ops::cuda
