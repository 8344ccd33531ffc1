#include "lase/inference/calibration.h"

#include <cmath>

#include "lase/inference/objective.h"

#include "torch_support.h"

namespace lase {
namespace {

constexpr int64_t kCalibrated = 200;

std::vector<int64_t> calibrated_nodes() {
  std::vector<int64_t> nodes;
  for (int64_t u = 0; u < kCalibrated; ++u) nodes.push_back(u);
  return nodes;
}

// Overconfident logits: three times those from which the labels were sampled, roughly.
struct Overconfident {
  at::Tensor logits;
  std::vector<int32_t> label = {};
  Floats target = {};

  explicit Overconfident(uint64_t seed) {
    Random random(seed);
    const at::Tensor z = random_tensor(random, {kCalibrated, 3});
    for (const auto& row : to_rows(z)) {
      double sum = 0;
      for (const double each : row) sum += std::exp(each);
      double point = random.uniform() * sum;
      int32_t c = 0;
      while (c < 2 && (point -= std::exp(row[static_cast<size_t>(c)])) > 0) ++c;
      label.push_back(c);
      for (const double each : row) {
        const bool known = !random.chance(0.2);
        const double p = 1 / (1 + std::exp(-each));
        target.push_back(!known ? kUnknown : random.chance(p) ? 1.0F : 0.0F);
      }
    }
    logits = (3 * z).to(at::kFloat);
  }
};

// The log loss in double by its definition.
double brute_force_loss(const Overconfident& data, Task task, double temperature) {
  const Matrix rows = to_rows(data.logits);
  double sum = 0;
  double count = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    double all = 0;
    for (const double z : rows[i]) all += std::exp(z / temperature);
    if (task == Task::kSingleLabel) {
      const auto y = static_cast<size_t>(data.label[i]);
      sum -= std::log(std::exp(rows[i][y] / temperature) / all);
      count += 1;
      continue;
    }
    for (size_t c = 0; c < 3; ++c) {
      const float y = data.target[3 * i + c];
      if (std::isnan(y)) continue;
      const double p = 1 / (1 + std::exp(-rows[i][c] / temperature));
      sum -= std::log(y == 1 ? p : 1 - p);
      count += 1;
    }
  }
  return sum / count;
}

TEST(Calibration, TheTemperatureHasTheLowestLogLoss) {
  const Overconfident data(3);
  const auto nodes = calibrated_nodes();
  for (const Task task : {Task::kSingleLabel, Task::kMultiLabel}) {
    const Labels labels = task == Task::kSingleLabel ? single_labels(data.label, 3)
                                                     : target_labels(task, data.target, 3);
    const auto objective = make_objective(labels);
    const double before = objective->score(data.logits, nodes).log_loss;
    const TemperatureFit fit = objective->calibrate(data.logits, nodes);
    EXPECT_EQ(objective->decision().temperature, fit.temperature);
    EXPECT_GT(fit.temperature, 2);
    EXPECT_LT(fit.temperature, 4.5);
    EXPECT_DOUBLE_EQ(fit.log_loss_before, before);
    EXPECT_NEAR(fit.log_loss, brute_force_loss(data, task, fit.temperature), 1e-12);
    for (double t = 0.2; t < 50; t *= 1.001) {
      ASSERT_LE(fit.log_loss, brute_force_loss(data, task, t) + 1e-12) << t;
    }
    const Scores after = objective->score(objective->predictions(data.logits), nodes);
    EXPECT_NEAR(after.log_loss, fit.log_loss, 1e-6);
    EXPECT_LT(after.calibration_error, objective->score(data.logits, nodes).calibration_error);
  }
}

TEST(Calibration, KeepsDecisions) {
  const Overconfident data(4);
  const auto nodes = calibrated_nodes();
  const auto objective = make_objective(single_labels(data.label, 3));
  objective->calibrate(data.logits, nodes);
  const at::Tensor predictions = objective->predictions(data.logits);
  EXPECT_FALSE(at::equal(predictions, data.logits));
  EXPECT_TRUE(at::equal(predictions.argmax(1), data.logits.argmax(1)));
  EXPECT_TRUE(at::equal(objective->probabilities(predictions).argmax(1), data.logits.argmax(1)));
  // Thresholds are tuned on calibrated logits.
  const auto several = make_objective(target_labels(Task::kMultiLabel, data.target, 3));
  several->set_decision(several->select("auto", nodes));
  several->tune_decision(data.logits, nodes);
  const at::Tensor decided = several->decision_values(data.logits).gt(0);
  several->calibrate(data.logits, nodes);
  several->tune_decision(several->predictions(data.logits), nodes);
  EXPECT_TRUE(
      at::equal(several->decision_values(several->predictions(data.logits)).gt(0), decided));
}

TEST(Calibration, TheTemperatureIsBounded) {
  EXPECT_NEAR(fit_temperature([](double beta) { return -beta; }).temperature, 0.1, 1e-6);
  EXPECT_NEAR(fit_temperature([](double beta) { return beta; }).temperature, 100, 1e-4);
  EXPECT_EQ(fit_temperature([](double) { return 2; }).temperature, 1);
  EXPECT_EQ(fit_temperature([](double) { return std::nan(""); }).temperature, 1);
  const auto parabola = fit_temperature([](double beta) { return (beta - 0.5) * (beta - 0.5); });
  EXPECT_NEAR(parabola.temperature, 2, 1e-5);
}

// Logits of the probabilities p and 1 − p.
at::Tensor odds(const Doubles& p) {
  at::Tensor logits = at::zeros({static_cast<int64_t>(p.size()), 2});
  for (size_t i = 0; i < p.size(); ++i) {
    logits[static_cast<int64_t>(i)][0] = std::log(p[i] / (1 - p[i]));
  }
  return logits;
}

TEST(Calibration, TheErrorMatchesAHandComputedExample) {
  // Class 0 has the probabilities 0.9 and 0.92 (one of two correct), 0.7 (correct), 0.3 (class 1
  // has 0.7; its label is unknown to the model).
  const Labels labels = single_labels({0, 1, 0, 2}, 3);
  const Scores scores =
      score(odds({0.9, 0.92, 0.7, 0.3}), labels, std::vector<int64_t>{0, 1, 2, 3});
  ASSERT_EQ(scores.calibration.size(), 2);
  EXPECT_EQ(scores.calibration[0].count, 2);
  EXPECT_NEAR(scores.calibration[0].confidence, 0.7, 1e-6);
  EXPECT_DOUBLE_EQ(scores.calibration[0].accuracy, 0.5);
  EXPECT_NEAR(scores.calibration[1].confidence, 0.91, 1e-6);
  EXPECT_DOUBLE_EQ(scores.calibration[1].accuracy, 0.5);
  EXPECT_NEAR(scores.calibration_error, 0.5 * 0.2 + 0.5 * 0.41, 1e-6);
}

TEST(Calibration, TheErrorPoolsKnownLabels) {
  // The second column of logits is 0, with a confidence of 1/2, and predicts no label.
  const Labels labels = target_labels(Task::kMultiLabel, {1, kUnknown, 1, 1, 0, 1}, 3);
  const Scores scores = score(odds({0.9, 0.2}), labels, std::vector<int64_t>{0, 1});
  // Confidence 0.9, correct; 0.8, wrong; 0.5, correct.
  ASSERT_EQ(scores.calibration.size(), 3);
  EXPECT_NEAR(scores.calibration_error, (0.5 + 0.8 + 0.1) / 3, 1e-6);
  EXPECT_DOUBLE_EQ(scores.calibration[0].accuracy, 1);
  EXPECT_DOUBLE_EQ(scores.calibration[1].accuracy, 0);
}

}  // namespace
}  // namespace lase
