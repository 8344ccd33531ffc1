#include <ATen/ATen.h>

#include "lase/ops/cpu/cpu.h"

namespace lase::ops::cpu {

using at::Tensor;

TwoTensors scale_weights(const Tensor& w, const Tensor& mean, const Tensor& scale) {
  const Tensor scaled = w * scale;
  return {scaled, -scaled.matmul(mean)};
}

Tensor scale_weights_backward(const MaybeTensor& dscaled, const MaybeTensor& dshift,
                              const Tensor& mean, const Tensor& scale) {
  Tensor dw = tensor_of(dscaled);
  if (dshift.has_value()) {
    const Tensor outer = dshift->unsqueeze(1) * mean;  // [m, k]
    dw = dw.defined() ? dw - outer : -outer;
  }
  return dw * scale;
}

}  // namespace lase::ops::cpu
