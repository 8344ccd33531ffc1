#include "lase/ops/optimizer.h"

#include <ATen/ATen.h>
#include <array>
#include <bit>

#include "lase/ops/library.h"

namespace lase::ops {

using at::Tensor;

StepNumbers::StepNumbers(const at::Device& device)
    : all_(at::zeros({4}, at::TensorOptions(device).dtype(at::kLong))) {}

void StepNumbers::set(const Values& values) {
  using Signature = void(const Tensor&, at::IntArrayRef);
  static const auto op = operator_named<Signature>("lase::set_numbers");
  const std::array bits = {
      std::bit_cast<int64_t>(values.dropout_key), std::bit_cast<int64_t>(values.adam_rate),
      std::bit_cast<int64_t>(values.adam_correct2), std::bit_cast<int64_t>(values.average_decay)};
  op.call(all_, bits);
}

Tensor StepNumbers::adam_factors() const { return all_.narrow(0, 1, 2).view(at::kDouble); }
Tensor StepNumbers::average_decay() const { return all_.narrow(0, 3, 1).view(at::kDouble); }

void adam_step(const AdamTensors& tensors, const Tensor& factors, const AdamLimits& limits) {
  using Signature = void(at::TensorList, at::TensorList, at::TensorList, at::TensorList,
                         const Tensor&, double, double);
  static const auto op = operator_named<Signature>("lase::adam_step");
  op.call(tensors.w, tensors.g, tensors.m, tensors.v, factors, limits.weight_decay, limits.clip);
}

void average_step(const std::vector<Tensor>& average, const std::vector<Tensor>& w,
                  const Tensor& decay) {
  using Signature = void(at::TensorList, at::TensorList, const Tensor&);
  static const auto op = operator_named<Signature>("lase::average_step");
  op.call(average, w, decay);
}

}  // namespace lase::ops
