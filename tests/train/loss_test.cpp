#include "lase/train/loss.h"

#include <cmath>
#include <limits>

#include "torch_support.h"

namespace lase {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

double cross_entropy(const Doubles& logits, size_t label) {
  double sum = 0;
  for (const double value : logits) sum += std::exp(value);
  return std::log(sum) - logits[label];
}

const std::vector<int64_t> kNodes = {0, 2, 3};

TEST(Loss, OfOneLabelIsTheMeanCrossEntropy) {
  const Labels labels = single_labels({1, -1, 0, 2, 0}, 3);
  Random random(1);
  const at::Tensor logits = random_tensor(random, {3, 3}).to(at::kFloat);
  const Matrix rows = to_rows(logits);
  const Loss loss(labels, kNodes, false);
  const double expected =
      (cross_entropy(rows[0], 1) + cross_entropy(rows[1], 0) + cross_entropy(rows[2], 2)) / 3;
  EXPECT_NEAR(loss(logits, kNodes).item<float>(), expected, 1e-6);
}

// Balanced, every class of the training nodes weighs the same in the sum over them.
TEST(Loss, WeighsClassesByTheInverseOfTheirNumber) {
  const Labels labels = single_labels({0, 0, 0, 1, 1, 2}, 4);
  const std::vector<int64_t> training = {0, 1, 2, 3, 4, 5};
  Random random(2);
  const at::Tensor logits = random_tensor(random, {6, 4}).to(at::kFloat);
  const Matrix rows = to_rows(logits);
  double sum = 0;
  for (size_t i = 0; i < 6; ++i) {
    const auto label = static_cast<size_t>(labels.label[static_cast<int64_t>(i)]);
    const double number[] = {3, 2, 1};
    sum += cross_entropy(rows[i], label) / number[label];
  }
  const Loss loss(labels, training, true);
  EXPECT_NEAR(loss(logits, training).item<float>(), sum / 3, 1e-6);
}

TEST(Loss, OfSeveralLabelsLeavesOutWhatIsUnknown) {
  const Labels labels =
      target_labels(Task::kMultiLabel, {1, 0, kUnknown, kUnknown, 0, kUnknown}, 2);
  const std::vector<int64_t> nodes = {0, 1, 2};
  Random random(3);
  const at::Tensor logits = random_tensor(random, {3, 2}).to(at::kFloat);
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const Matrix z = to_rows(logits);
  const double expected = (softplus(-z[0][0]) + softplus(z[0][1]) + softplus(z[2][0])) / 3;
  const Loss loss(labels, nodes, false);
  at::Tensor leaf = logits.clone().requires_grad_(true);
  const at::Tensor value = loss(leaf, nodes);
  EXPECT_NEAR(value.item<float>(), expected, 1e-6);
  value.backward();
  EXPECT_TRUE(leaf.grad().isfinite().all().item<bool>());
  EXPECT_EQ(leaf.grad()[1].abs().sum().item<float>(), 0);
  EXPECT_EQ(leaf.grad()[2][1].item<float>(), 0);
}

TEST(Loss, OfNumbersIsTheSquaredErrorOfStandardisedTargets) {
  const Labels labels = target_labels(Task::kRegression,
                                      {1, 10,        //
                                       3, kUnknown,  //
                                       5, 30,        //
                                       99, 99},
                                      2);
  const std::vector<int64_t> training = {0, 1, 2};
  const Loss loss(labels, training, false);
  // Means 3 and 20, deviations √(8/3) and 10.
  EXPECT_NEAR(loss.target_mean()[0].item<float>(), 3, 1e-6);
  EXPECT_NEAR(loss.target_mean()[1].item<float>(), 20, 1e-5);
  EXPECT_NEAR(loss.target_scale()[0].item<float>(), 1 / std::sqrt(8.0 / 3), 1e-6);
  EXPECT_NEAR(loss.target_scale()[1].item<float>(), 0.1, 1e-6);
  const at::Tensor outputs = at::tensor({0.5F, 0.0F, 1.0F, 7.0F, 0.0F, 2.0F}).view({3, 2});
  const double s = std::sqrt(8.0 / 3);
  const double expected = (std::pow(0.5 + 2 / s, 2) + 1 + 1 + std::pow(2 / s, 2) + 1) / 5;
  EXPECT_NEAR(loss(outputs, training).item<float>(), expected, 1e-5);
}

TEST(Loss, OfNodesOfWhichNothingIsKnownIsZero) {
  const Labels labels = target_labels(Task::kRegression, {1, 2, kUnknown}, 1);
  const Loss loss(labels, std::vector<int64_t>{0, 1}, false);
  EXPECT_EQ(loss(at::ones({1, 1}), std::vector<int64_t>{2}).item<float>(), 0);
}

TEST(Loss, OfTargetsThatNeverVaryIsFinite) {
  const Labels labels = target_labels(Task::kRegression, {4, 4}, 1);
  const std::vector<int64_t> nodes = {0, 1};
  const Loss loss(labels, nodes, false);
  EXPECT_TRUE(loss(at::zeros({2, 1}), nodes).isfinite().item<bool>());
}

}  // namespace
}  // namespace lase
