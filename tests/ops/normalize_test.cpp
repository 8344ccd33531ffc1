#include "lase/ops/normalize.h"

#include <cmath>

#include "gpu_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using ops::normalize_rows;

// Rows of lengths around 1, 0, and below the smallest.
Tensor normalize_example(Random& random, at::ScalarType type) {
  Tensor x = random_tensor(random, {70, 33});
  x.select(0, 3).zero_();
  x.select(0, 4).mul_(1e-15);
  return x.to(type);
}

TEST(NormalizeRows, DividesRowsByTheirLength) {
  Random random(1);
  const Tensor x = normalize_example(random, at::kDouble);
  const Matrix rows = to_rows(x);
  const Matrix found = to_rows(normalize_rows(x));
  for (size_t i = 0; i < rows.size(); ++i) {
    double squares = 0;
    for (const double value : rows[i]) squares += value * value;
    const double length = std::max(ops::kSmallestNorm, std::sqrt(squares));
    for (size_t j = 0; j < rows[i].size(); ++j) {
      EXPECT_NEAR(found[i][j], rows[i][j] / length, 1e-14) << i;
    }
  }
}

// dx and, for comparison, that of torch's own operations.
std::pair<Tensor, Tensor> normalize_gradients(const Tensor& x, const Tensor& outer) {
  const Tensor own = x.clone().requires_grad_(true);
  (normalize_rows(own) * outer).sum().backward();
  const Tensor plain = x.clone().requires_grad_(true);
  (plain / plain.norm(2, 1, true).clamp_min(ops::kSmallestNorm) * outer).sum().backward();
  return {own.grad(), plain.grad()};
}

TEST(NormalizeRows, HasTheGradientOfItsEquation) {
  Random random(2);
  const Tensor x = normalize_example(random, at::kDouble);
  const auto [found, expected] = normalize_gradients(x, random_tensor(random, {70, 33}));
  for (const int64_t row : {0, 3, 4, 69}) {  // short rows have gradients of another size
    expect_close(found[row], expected[row], 1e-12, "dx");
  }
}

TEST(GpuNormalizeRows, GivesTheRowsAndGradientsOfTheCpu) {
  LASE_NEEDS_GPU();
  const at::Device gpu(at::kCUDA, 0);
  Random random(3);
  const Tensor x = normalize_example(random, at::kFloat);
  const Tensor outer = random_floats(random, {70, 33});
  expect_close(normalize_rows(x.to(gpu)).cpu(), normalize_rows(x), 1e-6, "y");
  const auto of_gpu = normalize_gradients(x.to(gpu), outer.to(gpu)).first.cpu();
  const auto of_cpu = normalize_gradients(x, outer).first;
  for (const int64_t row : {0, 3, 4, 69}) {
    expect_close(of_gpu[row], of_cpu[row], 1e-5, "dx");
  }
}

}  // namespace
}  // namespace lase
