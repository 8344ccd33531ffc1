#include <ATen/ATen.h>

#include "lase/kernels/cuda/rows.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/cuda/launch.h"
#include "lase/ops/sum_arguments.h"

namespace lase::ops::cuda {

using at::Tensor;

Tensor concat_relu(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != at::kFloat) return at::cat({a, b}, 1).relu();
  LaunchScope scope(a);
  Tensor y = at::empty({a.size(0), a.size(1) + b.size(1)}, a.options());
  kernels::cuda::concat_relu(a.data_ptr<float>(), b.data_ptr<float>(),
                             {.rows = a.size(0), .left = a.size(1), .right = b.size(1)},
                             y.data_ptr<float>(), scope.launch());
  return y;
}

TwoTensors concat_relu_backward(const Tensor& dy, const Tensor& y, int64_t p, bool needs_a,
                                bool needs_b) {
  if (y.scalar_type() != at::kFloat) {
    return cpu::concat_relu_backward(dy, y, p, needs_a, needs_b);
  }
  LaunchScope scope(y);
  const int64_t n = y.size(0);
  const int64_t q = y.size(1) - p;
  Tensor da = needs_a ? at::empty({n, p}, y.options()) : Tensor();
  Tensor db = needs_b ? at::empty({n, q}, y.options()) : Tensor();
  kernels::cuda::concat_relu_backward(dy.data_ptr<float>(), y.data_ptr<float>(),
                                      {.rows = n, .left = p, .right = q}, mutable_pointer(da),
                                      mutable_pointer(db), scope.launch());
  return {da, db};
}

}  // namespace lase::ops::cuda
