#include "lase/ops/concat_relu.h"

#include <ATen/ATen.h>

#include "lase/base/random.h"
#include "lase/ops/workspace.h"

#include "gpu_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

// Compares y and both gradients with torch's own cat and relu.
void expect_same_as_torch(at::ScalarType type) {
  Random random(3);
  const Tensor a = random_tensor(random, {700, 5}).to(type);
  const Tensor b = random_tensor(random, {700, 1200}).to(type);
  const Tensor outer = random_tensor(random, {700, 1205}).to(type);
  std::vector<Tensor> found;
  std::vector<Tensor> expected;
  for (auto* results : {&found, &expected}) {
    const Tensor x = a.clone().requires_grad_(true);
    const Tensor z = b.clone().requires_grad_(true);
    const Tensor y = results == &found ? ops::concat_relu(x, z) : at::cat({x, z}, 1).relu();
    (y * outer).sum().backward();
    *results = {y.detach(), x.grad(), z.grad()};
  }
  for (size_t i = 0; i < found.size(); ++i) expect_same_bits(found[i], expected[i], "concat_relu");
}

TEST(ConcatRelu, MatchesTorch) {
  for (const auto type : {at::kDouble, at::kFloat}) {
    expect_same_as_torch(type);
    const Workspace workspace;
    expect_same_as_torch(type);
  }
}

TEST(GpuConcatRelu, GivesTheRowsAndGradientsOfTheCpu) {
  LASE_NEEDS_GPU();
  const at::Device gpu(at::kCUDA, 0);
  Random random(4);
  const Tensor a = random_floats(random, {300, 5});
  const Tensor b = random_floats(random, {300, 67});
  const Tensor outer = random_floats(random, {300, 72});
  const auto run = [&](const at::Device& device) {
    const Tensor x = a.to(device).requires_grad_(true);
    const Tensor z = b.to(device).requires_grad_(true);
    const Tensor y = ops::concat_relu(x, z);
    (y * outer.to(device)).sum().backward();
    return std::vector<Tensor>{y.detach().cpu(), x.grad().cpu(), z.grad().cpu()};
  };
  const auto found = run(gpu);
  const auto expected = run(at::kCPU);
  for (size_t i = 0; i < found.size(); ++i) expect_same_bits(found[i], expected[i], "concat_relu");
}

TEST(ConcatRelu, HasAGradientForOneInputOnly) {
  const Tensor a = at::ones({2, 3});
  const Tensor b = at::ones({2, 2}).requires_grad_(true);
  ops::concat_relu(a, b).sum().backward();
  expect_same_bits(b.grad(), at::ones({2, 2}), "b");
  EXPECT_FALSE(ops::concat_relu(a, a).requires_grad());
}

}  // namespace
}  // namespace lase
