#include "lase/ops/gradient_sum.h"

#include <ATen/ATen.h>

#include "lase/base/random.h"
#include "lase/ops/linear.h"
#include "lase/ops/row_dot.h"
#include "lase/ops/workspace.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

// Four operators of this library and, with `others`, one of torch read h = 2x. Returns the gradient
// of x.
Tensor gradient(bool summed, bool others) {
  Random random(5);
  const auto tensor = [&](const std::vector<int64_t>& shape) {
    return random_tensor(random, shape).to(at::kFloat);
  };
  const Tensor x = tensor({300, 900}).requires_grad_(true);
  const Tensor w = tensor({7, 900});
  const Tensor v = tensor({900});
  const Tensor outer = tensor({300, 900});
  const Tensor index = index_tensor({4, 2, 2, 299});
  Tensor h = x * 2;
  if (summed) h = ops::sum_gradients(h);
  Tensor loss = ops::linear({h, index}, w).sum() + ops::linear({h, {}}, w).pow(2).sum() +
                ops::row_dot({h, index}, v).sum() + ops::row_dot({h, {}}, v).sum();
  if (others) loss = loss + (h * outer).sum();
  loss.backward();
  return x.grad();
}

TEST(GradientSum, MatchesTheAutogradEngine) {
  for (const bool others : {false, true}) {
    expect_close(gradient(true, others), gradient(false, others), 1e-5, "h");
    const Workspace workspace;
    expect_close(gradient(true, others), gradient(false, others), 1e-5, "h, workspace");
  }
}

TEST(GradientSum, IgnoresMatricesWithoutGradient) {
  const Tensor x = at::ones({2, 2});
  EXPECT_TRUE(ops::sum_gradients(x).is_same(x));
  EXPECT_FALSE(ops::sum_gradients(Tensor()).defined());
}

TEST(GradientSum, StartsFromZeroInEveryBackwardPass) {
  const Tensor x = at::ones({3, 2}).requires_grad_(true);
  const Tensor v = at::ones({2});
  const Tensor y = ops::row_dot({ops::sum_gradients(x), {}}, v).sum();
  y.backward({}, true);
  y.backward();
  expect_same_bits(x.grad(), at::full({3, 2}, 2.0), "twice");
}

}  // namespace
}  // namespace lase
