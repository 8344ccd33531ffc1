#include <ATen/ATen.h>

#include "lase/ops/cpu/cpu.h"
#include "lase/ops/workspace.h"

namespace lase::ops::cpu {

using at::Tensor;

Tensor concat_relu(const Tensor& a, const Tensor& b) {
  const int64_t p = a.size(1);
  Tensor y = ops::empty({a.size(0), p + b.size(1)}, a.options());
  Tensor left = y.slice(1, 0, p);
  Tensor right = y.slice(1, p);
  at::clamp_min_out(left, a, 0);
  at::clamp_min_out(right, b, 0);
  return y;
}

TwoTensors concat_relu_backward(const Tensor& dy, const Tensor& y, int64_t p, bool needs_a,
                                bool needs_b) {
  // dx = dy ⊙ [y > 0] for columns first … last.
  const auto gradient = [&](int64_t first, int64_t last) {
    Tensor dx = ops::empty({y.size(0), last - first}, y.options());
    at::threshold_backward_out(dx, dy.slice(1, first, last), y.slice(1, first, last), 0);
    return dx;
  };
  return {needs_a ? gradient(0, p) : Tensor(), needs_b ? gradient(p, y.size(1)) : Tensor()};
}

}  // namespace lase::ops::cpu
