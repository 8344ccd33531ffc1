#include <ATen/ATen.h>

#include "lase/kernels/cuda/rows.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"
#include "lase/ops/sum_arguments.h"

namespace lase::ops::cuda {

using at::Tensor;

namespace {

kernels::cuda::ColumnScale scale_of(const Tensor& w, const Tensor& mean, const Tensor& scale) {
  return {.rows = w.size(0),
          .columns = w.size(1),
          .mean = mean.data_ptr<float>(),
          .scale = scale.data_ptr<float>()};
}

}  // namespace

TwoTensors scale_weights(const Tensor& w, const Tensor& mean, const Tensor& scale) {
  if (w.scalar_type() != at::kFloat) return cpu::scale_weights(w, mean, scale);
  LaunchScope scope(w);
  const Tensor scaled = at::empty_like(w);
  const Tensor shift = at::empty({w.size(0)}, w.options());
  kernels::cuda::scale_columns(w.data_ptr<float>(), scale_of(w, mean, scale),
                               scaled.data_ptr<float>(), shift.data_ptr<float>(), scope.launch());
  return {scaled, shift};
}

Tensor scale_weights_backward(const MaybeTensor& dscaled, const MaybeTensor& dshift,
                              const Tensor& mean, const Tensor& scale) {
  if (mean.scalar_type() != at::kFloat) {
    return cpu::scale_weights_backward(dscaled, dshift, mean, scale);
  }
  LaunchScope scope(mean);
  const Tensor of_scaled = tensor_of(dscaled);
  const Tensor of_shift = tensor_of(dshift);
  const int64_t m = of_scaled.defined() ? of_scaled.size(0) : of_shift.size(0);
  const Tensor dw = at::empty({m, mean.size(0)}, mean.options());
  kernels::cuda::scale_columns_backward(pointer<float>(of_scaled), pointer<float>(of_shift),
                                        scale_of(dw, mean, scale), dw.data_ptr<float>(),
                                        scope.launch());
  return dw;
}

}  // namespace lase::ops::cuda
