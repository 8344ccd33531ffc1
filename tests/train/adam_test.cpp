#include "lase/train/adam.h"

#include <cmath>

#include "torch_support.h"

namespace lase {
namespace {

void step(Adam& adam, double learning_rate) {
  ops::StepNumbers::Values values;
  adam.begin_step(learning_rate, values);
  ops::StepNumbers numbers(at::kCPU);
  numbers.set(values);
  adam.update(numbers.adam_factors());
}

// Three steps on one number with given gradients, by the equations of Kingma and Ba.
TEST(Adam, MatchesItsEquations) {
  Parameters parameters(1);
  parameters.zeros("w", 1);
  at::Tensor& w = parameters.all()[0].second;
  w.set_data(at::tensor({0.5}, at::kDouble));
  Adam adam(parameters, {.weight_decay = 0.1, .clip = 2});
  double expected = 0.5;
  double m = 0;
  double v = 0;
  const double gradients[] = {1.5, -10, 0.25};  // the second is clipped
  const double rates[] = {0.1, 0.1, 0.05};
  for (int t = 1; t <= 3; ++t) {
    w.mutable_grad() = at::tensor({gradients[t - 1]}, at::kDouble);
    step(adam, rates[t - 1]);
    const double clipped = std::max(-2.0, std::min(2.0, gradients[t - 1]));
    const double g = clipped + 0.1 * expected;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    const double m_hat = m / (1 - std::pow(0.9, t));
    const double v_hat = v / (1 - std::pow(0.999, t));
    expected -= rates[t - 1] * m_hat / (std::sqrt(v_hat) + 1e-8);
    EXPECT_NEAR(w.item<double>(), expected, 1e-12) << "step " << t;
  }
  EXPECT_EQ(adam.steps(), 3);
  EXPECT_NEAR(adam.moments().first.at("w").item<double>(), m, 1e-12);
  EXPECT_NEAR(adam.moments().second.at("w").item<double>(), v, 1e-12);
}

TEST(Adam, PropagatesNanGradients) {
  Parameters parameters(1);
  parameters.zeros("w", 2);
  at::Tensor& w = parameters.all()[0].second;
  Adam adam(parameters, {.clip = 1});
  w.mutable_grad() = at::tensor({std::nanf(""), 1.0F}, at::kFloat);
  step(adam, 0.1);
  EXPECT_TRUE(std::isnan(w[0].item<float>()));
  EXPECT_TRUE(std::isfinite(w[1].item<float>()));
}

TEST(Adam, DoesNotChangeParametersWithoutGradient) {
  Parameters parameters(1);
  parameters.matrix("a", 2, 2);
  parameters.matrix("b", 2, 2);
  const at::Tensor before = parameters.all()[1].second.detach().clone();
  Adam adam(parameters, {.weight_decay = 0.5});
  adam.zero_gradients();
  parameters.all()[0].second.sum().backward();
  step(adam, 0.1);
  expect_same_bits(parameters.all()[1].second.detach(), before, "b");
  adam.zero_gradients();
  EXPECT_FALSE(parameters.all()[0].second.grad().defined());
}

}  // namespace
}  // namespace lase
