#include "lase/ops/normalize.h"

#include <ATen/ATen.h>

#include "lase/kernels/cuda/rows.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"
#include "lase/ops/cuda/rows.h"

namespace lase::ops::cuda {

using at::Tensor;

TwoTensors normalize_rows(const Tensor& x) {
  if (x.scalar_type() != at::kFloat) return cpu::normalize_rows(x);
  LaunchScope scope(x);
  const Tensor y = at::empty_like(x);
  const Tensor norm = at::empty({x.size(0), 1}, x.options());
  kernels::cuda::normalize_rows(rows_of<float>({x, {}}), static_cast<float>(kSmallestNorm),
                                y.data_ptr<float>(), norm.data_ptr<float>(), scope.launch());
  return {y, norm};
}

Tensor normalize_rows_backward(const Tensor& dy, const Tensor& y, const Tensor& norm) {
  if (y.scalar_type() != at::kFloat) return cpu::normalize_rows_backward(dy, y, norm);
  LaunchScope scope(y);
  Tensor dx = at::empty_like(y);
  kernels::cuda::normalize_rows_backward(rows_of<float>({y, {}}), dy.data_ptr<float>(),
                                         norm.data_ptr<float>(), static_cast<float>(kSmallestNorm),
                                         dx.data_ptr<float>(), scope.launch());
  return dx;
}

}  // namespace lase::ops::cuda
