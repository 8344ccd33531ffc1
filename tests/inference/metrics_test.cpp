#include "lase/inference/metrics.h"

#include <cmath>
#include <limits>

#include "lase/base/random.h"
#include "lase/inference/objective.h"

#include "torch_support.h"

namespace lase {
namespace {

// Logits that predict the given class for each node.
at::Tensor predicting(const std::vector<int64_t>& predicted, int64_t classes) {
  at::Tensor logits = at::zeros({static_cast<int64_t>(predicted.size()), classes});
  for (size_t i = 0; i < predicted.size(); ++i) logits[static_cast<int64_t>(i)][predicted[i]] = 1;
  return logits;
}

TEST(Metrics, MatchAHandComputedExample) {
  // Labels 0 0 0 1 1 2, predicted 0 0 1 1 2 2: recall 2/3, 1/2 and 1/1, precision 2/2, 1/2 and 1/2.
  const Labels labels = single_labels({0, 0, 0, 1, 1, 2}, 3);
  const std::vector<int64_t> nodes = {0, 1, 2, 3, 4, 5};
  const Scores scores = score(predicting({0, 0, 1, 1, 2, 2}, 3), labels, nodes);
  EXPECT_EQ(scores.nodes, 6);
  EXPECT_DOUBLE_EQ(scores.accuracy, 4.0 / 6);
  EXPECT_DOUBLE_EQ(scores.micro_f1, 4.0 / 6);
  EXPECT_DOUBLE_EQ(scores.classes[0].recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.classes[0].precision(), 1);
  EXPECT_DOUBLE_EQ(scores.classes[0].f1(), 0.8);
  EXPECT_DOUBLE_EQ(scores.classes[1].f1(), 0.5);
  EXPECT_DOUBLE_EQ(scores.classes[2].f1(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.macro_f1, (0.8 + 0.5 + 2.0 / 3) / 3);
  EXPECT_EQ(scores.confusion,
            (decltype(scores.confusion){
                {{0, 0}, 2}, {{0, 1}, 1}, {{1, 1}, 1}, {{1, 2}, 1}, {{2, 2}, 1}}));
}

TEST(Metrics, UseOnlyTheGivenNodes) {
  const Labels labels = single_labels({0, -1, 1, 1}, 2);
  const Scores scores = score(predicting({0, 0, 1, 0}, 2), labels, std::vector<int64_t>{2, 0});
  EXPECT_EQ(scores.nodes, 2);
  EXPECT_DOUBLE_EQ(scores.micro_f1, 1);
}

TEST(Metrics, CountUnknownLabelsAsMisses) {
  const Labels labels = single_labels({0, 1, 2, 3}, 4);
  const Scores scores =
      score(predicting({0, 1, 1, 0}, 2), labels, std::vector<int64_t>{0, 1, 2, 3});
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.5);
  EXPECT_DOUBLE_EQ(scores.micro_f1, 0.5);
  EXPECT_DOUBLE_EQ(scores.classes[2].recall(), 0);
  EXPECT_EQ(scores.confused(3, 0), 1);
}

TEST(Metrics, ExcludeClassesThatNeverOccurFromTheMacroMean) {
  const Labels labels = single_labels({0, 1}, 5);
  EXPECT_DOUBLE_EQ(score(predicting({0, 1}, 5), labels, std::vector<int64_t>{0, 1}).macro_f1, 1);
}

TEST(Metrics, AreZeroWithoutNodes) {
  const Scores scores = score(predicting({0}, 2), single_labels({0}, 2), {});
  EXPECT_EQ(scores.micro_f1, 0);
  EXPECT_EQ(scores.accuracy, 0);
}

// An independent implementation of the definitions, class by class.
struct Counted {
  double micro_f1 = 0;
  double macro_f1 = 0;
};

Counted count(const std::vector<std::vector<bool>>& truth,
              const std::vector<std::vector<bool>>& predicted) {
  double all[3] = {};
  double sum = 0;
  double occurring = 0;
  for (size_t c = 0; c < truth[0].size(); ++c) {
    double both = 0;
    double is = 0;
    double said = 0;
    for (size_t i = 0; i < truth.size(); ++i) {
      both += truth[i][c] && predicted[i][c] ? 1 : 0;
      is += truth[i][c] ? 1 : 0;
      said += predicted[i][c] ? 1 : 0;
    }
    all[0] += both;
    all[1] += is;
    all[2] += said;
    if (is + said == 0) continue;
    const double precision = said > 0 ? both / said : 0;
    const double recall = is > 0 ? both / is : 0;
    sum += both > 0 ? 2 / (1 / precision + 1 / recall) : 0;
    ++occurring;
  }
  return {2 * all[0] / (all[1] + all[2]), sum / occurring};
}

TEST(Metrics, MatchTheirDefinitionsOnRandomLabels) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    constexpr int64_t kNodes = 30;
    constexpr int64_t kClasses = 6;
    std::vector<int32_t> label;
    Floats target;
    std::vector<int64_t> nodes;
    std::vector<std::vector<bool>> one_hot;
    std::vector<std::vector<bool>> several;
    for (int64_t i = 0; i < kNodes; ++i) {
      nodes.push_back(i);
      label.push_back(static_cast<int32_t>(random.below(kClasses - 1)));
      one_hot.emplace_back(kClasses);
      one_hot.back()[static_cast<size_t>(label.back())] = true;
      several.emplace_back();
      for (int64_t c = 0; c < kClasses; ++c) {
        several.back().push_back(random.chance(0.3));
        target.push_back(several.back().back() ? 1 : 0);
      }
    }
    const at::Tensor logits = random_tensor(random, {kNodes, kClasses}).to(at::kFloat);
    std::vector<std::vector<bool>> largest;
    std::vector<std::vector<bool>> positive;
    int64_t whole = 0;
    for (int64_t i = 0; i < kNodes; ++i) {
      largest.emplace_back(kClasses);
      largest.back()[static_cast<size_t>(logits[i].argmax().item<int64_t>())] = true;
      positive.emplace_back();
      for (int64_t c = 0; c < kClasses; ++c) {
        positive.back().push_back(logits[i][c].item<float>() > 0);
      }
      whole += positive.back() == several[static_cast<size_t>(i)] ? 1 : 0;
    }
    const Scores a = score(logits, single_labels(label, kClasses), nodes);
    const Counted b = count(one_hot, largest);
    EXPECT_NEAR(a.micro_f1, b.micro_f1, 1e-12);
    EXPECT_NEAR(a.macro_f1, b.macro_f1, 1e-12);
    const Scores c = score(logits, target_labels(Task::kMultiLabel, target, kClasses), nodes);
    const Counted d = count(several, positive);
    EXPECT_NEAR(c.micro_f1, d.micro_f1, 1e-12);
    EXPECT_NEAR(c.macro_f1, d.macro_f1, 1e-12);
    EXPECT_NEAR(c.accuracy, static_cast<double>(whole) / kNodes, 1e-12);
  }
}

TEST(Metrics, CountUnknownClassesOfMultipleLabelsAsMisses) {
  const Labels labels = target_labels(Task::kMultiLabel, {1, 0, 1, 0, 1, 0}, 3);
  const at::Tensor logits = at::tensor({1.0F, -1.0F, -1.0F, 1.0F}).view({2, 2});
  const Scores scores = score(logits, labels, std::vector<int64_t>{0, 1});
  EXPECT_DOUBLE_EQ(scores.micro_f1, 2.0 * 2 / (2 * 2 + 1));  // the third class is missed once
  EXPECT_DOUBLE_EQ(scores.accuracy, 0.5);
}

TEST(Metrics, IgnoreUnknownEntriesOfMultipleLabels) {
  const Labels labels = target_labels(Task::kMultiLabel, {1, kUnknown, 0, 1}, 2);
  const at::Tensor logits = at::tensor({1.0F, 1.0F, -1.0F, 1.0F}).view({2, 2});
  const Scores scores = score(logits, labels, std::vector<int64_t>{0, 1});
  EXPECT_DOUBLE_EQ(scores.micro_f1, 1);
  EXPECT_DOUBLE_EQ(scores.accuracy, 1);
}

TEST(Metrics, ForRegressionAreAbsoluteErrorAndR2) {
  const Labels labels = target_labels(Task::kRegression, {1, 2, 3, kUnknown, 6}, 1);
  const at::Tensor outputs = at::tensor({1.0F, 3.0F, 3.0F, 100.0F, 4.0F}).unsqueeze(1);
  const Scores scores = score(outputs, labels, std::vector<int64_t>{0, 1, 2, 3, 4});
  // Known targets 1 2 3 6 have mean 3, so Σ (y − ȳ)² = 14; errors 0 1 0 −2.
  EXPECT_DOUBLE_EQ(scores.absolute_error, 0.75);
  EXPECT_NEAR(scores.r2, 1 - 5.0 / 14, 1e-12);
  EXPECT_DOUBLE_EQ(make_objective(labels)->headline(scores).value, scores.r2);
}

TEST(Metrics, DefineR2ForConstantTargets) {
  const Labels labels = target_labels(Task::kRegression, {2, 2}, 1);
  const std::vector<int64_t> nodes = {0, 1};
  EXPECT_LE(score(at::tensor({5.0F, -1.0F}).unsqueeze(1), labels, nodes).r2, 0);
  EXPECT_EQ(score(at::tensor({2.0F, 2.0F}).unsqueeze(1), labels, nodes).r2, 1);
}

// Counts pairs: a positive node above a negative one, or half if they tie.
TEST(RankScores, MatchTheirDefinitions) {
  Random random(5);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Ranked> nodes;
    for (int i = 0; i < 30; ++i) {
      nodes.push_back({static_cast<float>(random.below(12)), random.chance(0.3)});
    }
    double pairs = 0;
    double ordered = 0;
    for (const auto& a : nodes) {
      for (const auto& b : nodes) {
        if (!a.positive || b.positive) continue;
        pairs += 1;
        ordered += a.score > b.score ? 1 : a.score == b.score ? 0.5 : 0;
      }
    }
    // Precision at the threshold of every positive node, on average.
    double precision = 0;
    double positives = 0;
    for (const auto& at : nodes) {
      if (!at.positive) continue;
      double above = 0;
      double right = 0;
      for (const auto& node : nodes) {
        if (node.score < at.score) continue;
        above += 1;
        right += node.positive ? 1 : 0;
      }
      precision += right / above;
      positives += 1;
    }
    if (pairs == 0) continue;
    const RankScores scores = rank_scores(nodes);
    EXPECT_NEAR(scores.roc_auc, ordered / pairs, 1e-12);
    EXPECT_NEAR(scores.average_precision, precision / positives, 1e-12);
  }
  std::vector<Ranked> one_class = {{1, true}, {2, true}};
  EXPECT_TRUE(std::isnan(rank_scores(one_class).roc_auc));
}

TEST(RankScores, TheBestOffsetHasTheHighestF1) {
  Random random(6);
  const auto f1_of = [](const std::vector<Ranked>& nodes, float offset) {
    ClassScore score;
    for (const auto& node : nodes) {
      const bool predicted = node.score > offset;
      score.true_positives += predicted && node.positive ? 1 : 0;
      score.false_positives += predicted && !node.positive ? 1 : 0;
      score.false_negatives += !predicted && node.positive ? 1 : 0;
    }
    return score.f1();
  };
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Ranked> nodes;
    for (int i = 0; i < 25; ++i) {
      nodes.push_back({static_cast<float>(random.below(20)) - 10, random.chance(0.3)});
    }
    const double best = f1_of(nodes, best_offset(nodes));
    for (float offset = -12; offset < 12; offset += 0.5F) {
      EXPECT_GE(best, f1_of(nodes, offset)) << offset;
    }
  }
  std::vector<Ranked> separable = {{3, true}, {1, true}, {-1, false}, {-4, false}};
  EXPECT_EQ(best_offset(separable), 0);  // no reason to move the threshold
}

}  // namespace
}  // namespace lase
