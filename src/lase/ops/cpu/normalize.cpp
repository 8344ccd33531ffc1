#include "lase/ops/normalize.h"

#include <ATen/ATen.h>

#include "lase/ops/cpu/cpu.h"

namespace lase::ops::cpu {

using at::Tensor;

TwoTensors normalize_rows(const Tensor& x) {
  const Tensor norm = x.norm(2, 1, true);
  return {x / norm.clamp_min(kSmallestNorm), norm};
}

// dx = (dy − y ⟨y, dy⟩) / ‖x‖
Tensor normalize_rows_backward(const Tensor& dy, const Tensor& y, const Tensor& norm) {
  const Tensor along = (y * dy).sum(1, true).masked_fill(norm < kSmallestNorm, 0);
  return (dy - y * along) / norm.clamp_min(kSmallestNorm);
}

}  // namespace lase::ops::cpu
