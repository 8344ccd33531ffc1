#include "lase/inference/objective.h"

#include <cmath>
#include <limits>

#include "lase/base/error.h"

#include "torch_support.h"

namespace lase {
namespace {

double cross_entropy(const Doubles& logits, size_t label) {
  double sum = 0;
  for (const double value : logits) sum += std::exp(value);
  return std::log(sum) - logits[label];
}

const std::vector<int64_t> kNodes = {0, 2, 3};

std::unique_ptr<Objective> fitted(const Labels& labels, const std::vector<int64_t>& training,
                                  bool balance) {
  auto objective = make_objective(labels);
  objective->fit(training, balance);
  return objective;
}

TEST(ObjectiveLoss, OfSingleLabelsIsTheMeanCrossEntropy) {
  const Labels labels = single_labels({1, -1, 0, 2, 0}, 3);
  Random random(1);
  const at::Tensor logits = random_tensor(random, {3, 3}).to(at::kFloat);
  const Matrix rows = to_rows(logits);
  const auto objective = fitted(labels, kNodes, false);
  const double expected =
      (cross_entropy(rows[0], 1) + cross_entropy(rows[1], 0) + cross_entropy(rows[2], 2)) / 3;
  EXPECT_NEAR(objective->loss(logits, kNodes).mean().item<float>(), expected, 1e-6);
}

// If balanced, every class has the same total weight over the training nodes.
TEST(ObjectiveLoss, WeightsClassesByTheirInverseFrequency) {
  const Labels labels = single_labels({0, 0, 0, 1, 1, 2}, 4);
  const std::vector<int64_t> training = {0, 1, 2, 3, 4, 5};
  Random random(2);
  const at::Tensor logits = random_tensor(random, {6, 4}).to(at::kFloat);
  const Matrix rows = to_rows(logits);
  double sum = 0;
  for (size_t i = 0; i < 6; ++i) {
    const auto label = static_cast<size_t>(labels.label[static_cast<int64_t>(i)]);
    const double count[] = {3, 2, 1};
    sum += cross_entropy(rows[i], label) / count[label];
  }
  const auto objective = fitted(labels, training, true);
  EXPECT_NEAR(objective->loss(logits, training).mean().item<float>(), sum / 3, 1e-6);
}

TEST(ObjectiveLoss, OfMultipleLabelsIgnoresUnknownEntries) {
  const Labels labels =
      target_labels(Task::kMultiLabel, {1, 0, kUnknown, kUnknown, 0, kUnknown}, 2);
  const std::vector<int64_t> nodes = {0, 1, 2};
  Random random(3);
  const at::Tensor logits = random_tensor(random, {3, 2}).to(at::kFloat);
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const Matrix z = to_rows(logits);
  const double expected = (softplus(-z[0][0]) + softplus(z[0][1]) + softplus(z[2][0])) / 3;
  const auto objective = fitted(labels, nodes, false);
  at::Tensor leaf = logits.clone().requires_grad_(true);
  const at::Tensor value = objective->loss(leaf, nodes).mean();
  EXPECT_NEAR(value.item<float>(), expected, 1e-6);
  value.backward();
  EXPECT_TRUE(leaf.grad().isfinite().all().item<bool>());
  EXPECT_EQ(leaf.grad()[1].abs().sum().item<float>(), 0);
  EXPECT_EQ(leaf.grad()[2][1].item<float>(), 0);
}

TEST(ObjectiveLoss, OfRegressionIsTheSquaredErrorOfStandardizedTargets) {
  const Labels labels = target_labels(Task::kRegression,
                                      {1, 10,        //
                                       3, kUnknown,  //
                                       5, 30,        //
                                       99, 99},
                                      2);
  const std::vector<int64_t> training = {0, 1, 2};
  const auto objective = fitted(labels, training, false);
  // Means 3 and 20, standard deviations √(8/3) and 10.
  EXPECT_NEAR(objective->target_scale().mean[0].item<float>(), 3, 1e-6);
  EXPECT_NEAR(objective->target_scale().mean[1].item<float>(), 20, 1e-5);
  EXPECT_NEAR(objective->target_scale().scale[0].item<float>(), 1 / std::sqrt(8.0 / 3), 1e-6);
  EXPECT_NEAR(objective->target_scale().scale[1].item<float>(), 0.1, 1e-6);
  const at::Tensor outputs = at::tensor({0.5F, 0.0F, 1.0F, 7.0F, 0.0F, 2.0F}).view({3, 2});
  const double s = std::sqrt(8.0 / 3);
  const double expected = (std::pow(0.5 + 2 / s, 2) + 1 + 1 + std::pow(2 / s, 2) + 1) / 5;
  EXPECT_NEAR(objective->loss(outputs, training).mean().item<float>(), expected, 1e-5);
}

TEST(ObjectiveLoss, IsZeroWithoutKnownTargets) {
  const Labels labels = target_labels(Task::kRegression, {1, 2, kUnknown}, 1);
  const auto objective = fitted(labels, std::vector<int64_t>{0, 1}, false);
  EXPECT_EQ(objective->loss(at::ones({1, 1}), std::vector<int64_t>{2}).mean().item<float>(), 0);
}

TEST(ObjectiveLoss, IsFiniteForConstantTargets) {
  const Labels labels = target_labels(Task::kRegression, {4, 4}, 1);
  const std::vector<int64_t> nodes = {0, 1};
  const auto objective = fitted(labels, nodes, false);
  EXPECT_TRUE(objective->loss(at::zeros({2, 1}), nodes).mean().isfinite().item<bool>());
}

// Sums, counts and gradients of unequal shards add up to those of the whole batch.
TEST(ObjectiveLoss, IsAdditiveOverShardsOfABatch) {
  const Floats some = {1, 0, kUnknown, 1, 0, kUnknown, kUnknown, kUnknown, 1, 1, 0, 1};
  const std::vector<int64_t> all = {0, 1, 2, 3, 4, 5};
  Random random(4);
  const at::Tensor values = random_tensor(random, {6, 2}).to(at::kFloat);
  for (const Labels& labels :
       {single_labels({0, 0, 1, 0, 0, 1}, 2), target_labels(Task::kMultiLabel, some, 2),
        target_labels(Task::kRegression, some, 2)}) {
    const auto objective = fitted(labels, all, true);
    const at::Tensor whole = values.clone().requires_grad_(true);
    objective->loss(whole, all).mean().backward();
    for (const int64_t cut : {1, 2, 5}) {
      const at::Tensor leaf = values.clone().requires_grad_(true);
      const std::span<const int64_t> nodes = all;
      const LossSum a =
          objective->loss(leaf.narrow(0, 0, cut), nodes.first(static_cast<size_t>(cut)));
      const LossSum b =
          objective->loss(leaf.narrow(0, cut, 6 - cut), nodes.subspan(static_cast<size_t>(cut)));
      const LossSum both{a.sum + b.sum, a.count + b.count};
      const LossSum expected = objective->loss(values, all);
      const std::string what = join(task_name(labels.task), ", cut at ", cut);
      expect_close(both.sum.detach(), expected.sum, 1e-6, what);
      expect_close(both.count, expected.count, 1e-6, what);
      both.mean().backward();
      expect_close(leaf.grad(), whole.grad(), 1e-6, what);
    }
  }
}

// 45 nodes of class 0 and 5 of class 1.
Labels imbalanced() {
  std::vector<int32_t> label(50);
  for (size_t i = 0; i < label.size(); ++i) label[i] = i % 10 == 9 ? 1 : 0;
  return single_labels(label, 2);
}

std::vector<int64_t> numbers_to(int64_t count) {
  std::vector<int64_t> all(static_cast<size_t>(count));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
  return all;
}

TEST(ObjectiveSelection, DependsOnTheTaskAndTheBalance) {
  const auto selected = [](const Labels& labels, const std::vector<int64_t>& training,
                           const std::string& wanted = "auto") {
    return make_objective(labels)->select(wanted, training).metric;
  };
  const Labels rare = imbalanced();
  EXPECT_EQ(selected(rare, numbers_to(50)), "average_precision");
  EXPECT_EQ(selected(rare, {8, 9, 18, 19}), "micro_f1");
  EXPECT_EQ(selected(rare, numbers_to(50), "roc_auc"), "roc_auc");
  EXPECT_EQ(selected(rare, numbers_to(50), "f1=label 1"), "f1=label 1");
  std::vector<int32_t> three(30);
  three[28] = 1;
  three[29] = 2;
  EXPECT_EQ(selected(single_labels(three, 3), numbers_to(30)), "macro_f1");
  const Labels targets = target_labels(Task::kRegression, {1, 2}, 1);
  EXPECT_EQ(selected(targets, {0, 1}), "r2");
  EXPECT_EQ(selected(targets, {0, 1}, "absolute_error"), "absolute_error");
  expect_error(
      [&] {
        selected(targets, {0, 1}, "roc_auc");
      },
      {"select 'roc_auc'", "absolute_error"});
  expect_error([&] { selected(rare, {0, 9}, "f1=nobody"); }, {"f1=nobody", "f1=CLASS"});
}

// The rare class is found although its probability never exceeds one half.
TEST(ObjectiveSelection, TunesTheThresholdOfARareClass) {
  const Labels labels = imbalanced();
  const auto nodes = numbers_to(50);
  at::Tensor logits = at::zeros({50, 2});
  for (int64_t u = 0; u < 50; ++u) logits[u][1] = labels.label[u] == 1 ? -2.0F : -4.0F;
  auto objective = make_objective(labels);
  objective->set_decision(objective->select("auto", nodes));
  EXPECT_EQ(objective->score(logits, nodes).classes[1].f1(), 0);
  EXPECT_EQ(objective->score(logits, nodes).average_precision, 1);
  objective->tune_decision(logits, nodes);
  EXPECT_EQ(objective->score(logits, nodes).classes[1].f1(), 1);
  EXPECT_EQ(objective->decision_values(logits).argmax(1).sum().item<int64_t>(), 5);
  objective->set_decision(objective->select("accuracy", nodes));
  objective->tune_decision(logits, nodes);
  EXPECT_TRUE(objective->decision().offset.empty());
}

TEST(ObjectiveSelection, TunesTheThresholdOfEveryLabel) {
  Floats target;
  for (int u = 0; u < 40; ++u) {
    target.push_back(u % 2 == 0 ? 1 : 0);
    target.push_back(u == 0 ? 1 : 0);  // too few to tune
  }
  const Labels labels = target_labels(Task::kMultiLabel, target, 2);
  at::Tensor logits = at::zeros({40, 2});
  for (int64_t u = 0; u < 40; ++u) logits[u][0] = u % 2 == 0 ? -1.0F : -3.0F;
  auto objective = make_objective(labels);
  objective->set_decision(objective->select("auto", numbers_to(40)));
  objective->tune_decision(logits, numbers_to(40));
  EXPECT_EQ(objective->decision().offset, (Floats{-2, 0}));
  EXPECT_EQ(objective->score(logits, numbers_to(40)).classes[0].f1(), 1);
}

TEST(ObjectiveSelection, LogLossIsTheMeanNegativeLogProbability) {
  const Labels labels = single_labels({1, 0, 2}, 3);
  Random random(9);
  const at::Tensor logits = random_tensor(random, {3, 3}).to(at::kFloat);
  const Matrix rows = to_rows(logits);
  const double expected =
      (cross_entropy(rows[0], 1) + cross_entropy(rows[1], 0) + cross_entropy(rows[2], 2)) / 3;
  EXPECT_NEAR(make_objective(labels)->score(logits, numbers_to(3)).log_loss, expected, 1e-6);
}

}  // namespace
}  // namespace lase
