#include "lase/ops/scale_weights.h"

#include "gpu_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using ops::scale_weights;

struct WeightsExample {
  Tensor w, mean, scale;
  Tensor outer_w, outer_shift;  // factors of the loss

  explicit WeightsExample(int64_t rows, int64_t columns) {
    Random random(1, rows, columns);
    w = random_tensor(random, {rows, columns});
    mean = random_tensor(random, {columns});
    scale = random_tensor(random, {columns}).abs() + 0.1;
    outer_w = random_tensor(random, {rows, columns});
    outer_shift = random_tensor(random, {rows});
  }
  WeightsExample to(const at::TensorOptions& options) const {
    WeightsExample moved = *this;
    for (Tensor* x : {&moved.w, &moved.mean, &moved.scale, &moved.outer_w, &moved.outer_shift}) {
      *x = x->to(options);
    }
    return moved;
  }
  // dW, if the loss reads either output or both.
  Tensor gradient(bool reads_w, bool reads_shift) const {
    const Tensor own = w.clone().requires_grad_(true);
    const auto scaled = scale_weights(own, mean, scale);
    Tensor loss = at::zeros({}, w.options());
    if (reads_w) loss = loss + (scaled.w * outer_w).sum();
    if (reads_shift) loss = loss + (scaled.shift * outer_shift).sum();
    loss.backward();
    return own.grad();
  }
};

// W ((f − mean) ⊙ scale) = W' f + shift
TEST(ScaleWeights, AppliesToAttributesAsTheyAreStored) {
  const WeightsExample example(5, 7);
  Random random(2);
  const Tensor f = random_tensor(random, {11, 7});
  const auto scaled = scale_weights(example.w, example.mean, example.scale);
  const Tensor expected = ((f - example.mean) * example.scale).matmul(example.w.t());
  expect_close(f.matmul(scaled.w.t()) + scaled.shift, expected, 1e-13, "W' f + shift");

  const auto without_scale = scale_weights(example.w, example.mean, {});
  expect_close(f.matmul(without_scale.w.t()) + without_scale.shift,
               (f - example.mean).matmul(example.w.t()), 1e-13, "mean alone");
  const auto without_mean = scale_weights(example.w, {}, example.scale);
  EXPECT_FALSE(without_mean.shift.defined());
  expect_close(without_mean.w, example.w * example.scale, 1e-15, "scale alone");
}

TEST(ScaleWeights, HasTheGradientOfItsEquation) {
  const WeightsExample example(5, 7);
  const Tensor of_w = example.outer_w * example.scale;
  const Tensor of_shift =
      example.outer_shift.unsqueeze(1) * (-example.mean * example.scale).unsqueeze(0);
  expect_close(example.gradient(true, true), of_w + of_shift, 1e-13, "both");
  expect_close(example.gradient(true, false), of_w, 1e-13, "W' alone");
  expect_close(example.gradient(false, true), of_shift, 1e-13, "shift alone");
}

TEST(GpuScaleWeights, GivesTheWeightsAndGradientsOfTheCpu) {
  LASE_NEEDS_GPU();
  for (const int64_t rows : {1, 9, 300}) {
    for (const int64_t columns : {1, 32, 45}) {
      const WeightsExample cpu = WeightsExample(rows, columns).to(at::kFloat);
      const WeightsExample gpu = cpu.to(at::Device(at::kCUDA, 0));
      const auto expected = scale_weights(cpu.w, cpu.mean, cpu.scale);
      const auto found = scale_weights(gpu.w, gpu.mean, gpu.scale);
      expect_close(found.w.cpu(), expected.w, 1e-6, "W'");
      expect_close(found.shift.cpu(), expected.shift, 1e-5, "shift");
      expect_close(gpu.gradient(true, true).cpu(), cpu.gradient(true, true), 1e-5, "dW");
      expect_close(gpu.gradient(false, true).cpu(), cpu.gradient(false, true), 1e-5, "dW, shift");
    }
  }
}

}  // namespace
}  // namespace lase
