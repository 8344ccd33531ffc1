#include "lase/ops/concat_relu.h"

#include <ATen/ATen.h>

#include "lase/base/random.h"
#include "lase/ops/workspace.h"

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

TEST(ConcatRelu, HasAGradientForOneInputOnly) {
  const Tensor a = at::ones({2, 3});
  const Tensor b = at::ones({2, 2}).requires_grad_(true);
  ops::concat_relu(a, b).sum().backward();
  expect_same_bits(b.grad(), at::ones({2, 2}), "b");
  EXPECT_FALSE(ops::concat_relu(a, a).requires_grad());
}

}  // namespace
}  // namespace lase
