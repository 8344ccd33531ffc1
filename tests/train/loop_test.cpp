// The components of the training loop, each in isolation.
#include <ATen/ATen.h>
#include <limits>

#include "lase/base/error.h"
#include "lase/train/best_weights.h"
#include "lase/train/checkpoints.h"
#include "lase/train/learning_rate.h"
#include "lase/train/weight_average.h"

#include "torch_support.h"

namespace lase {
namespace {

NamedTensors weights(float value) { return {{"w", at::full({2}, value)}}; }
float value_of(const NamedTensors& tensors) { return tensors.at("w")[0].item<float>(); }

TEST(LearningRate, FollowsItsSchedule) {
  TrainOptions options;
  options.learning_rate = 0.1;
  options.epochs = 4;
  EXPECT_EQ(LearningRate(options).at(3), 0.1);
  options.schedule = Schedule::kCosine;
  EXPECT_NEAR(LearningRate(options).at(0), 0.1, 1e-15);
  EXPECT_NEAR(LearningRate(options).at(2), 0.05, 1e-15);
}

TEST(LearningRate, IsHalvedAfterAQuarterOfThePatience) {
  TrainOptions options;
  options.learning_rate = 0.1;
  options.schedule = Schedule::kPlateau;
  options.patience = 8;
  LearningRate rate(options);
  rate.validated(false);
  rate.validated(true);
  rate.validated(false);
  EXPECT_EQ(rate.at(0), 0.1);
  LearningRate resumed(options);
  resumed.restore(rate.state());
  for (auto* each : {&rate, &resumed}) {
    each->validated(false);
    EXPECT_EQ(each->at(0), 0.05);
    each->validated(false);
    EXPECT_EQ(each->at(0), 0.05);
  }
}

TEST(WeightAverage, FollowsTheWeightsCloselyAtFirst) {
  Parameters parameters(1);
  parameters.zeros("w", 2);
  WeightAverage average(parameters, 0.5);
  const auto update = [&](int64_t step) {
    average.update(parameters, at::tensor({average.decay(step)}, at::kDouble));
  };
  parameters.set(weights(1));
  update(1);  // decay 0
  EXPECT_EQ(value_of(average.values()), 1);
  parameters.set(weights(12));
  update(2);  // decay 1 / 11
  EXPECT_FLOAT_EQ(value_of(average.values()), 11);
  parameters.set(weights(1));
  update(1000);  // decay 0.5
  EXPECT_FLOAT_EQ(value_of(average.values()), 6);
  expect_error([&] { WeightAverage(parameters, 1); }, {"ema_decay 1"});
}

TEST(BestWeights, HaveTheHighestScoreThenTheLowestLoss) {
  BestWeights best({});
  NamedTensors given = weights(1);
  EXPECT_TRUE(best.offer(1, 0.5, 2.0, given));
  given.at("w").fill_(7);  // the kept weights are a copy
  EXPECT_EQ(value_of(best.weights()), 1);
  EXPECT_FALSE(best.offer(2, 0.4, 1.0, weights(2)));
  EXPECT_FALSE(best.offer(3, 0.5, 2.0, weights(3)));
  EXPECT_TRUE(best.offer(4, 0.5, 1.5, weights(4)));
  EXPECT_FALSE(best.offer(5, 0.9, std::numeric_limits<double>::quiet_NaN(), weights(5)));
  EXPECT_EQ(best.epoch(), 4);
  EXPECT_EQ(value_of(best.weights()), 4);
}

TEST(BestWeights, HaveTheLowestLossIfSelectedByLoss) {
  BestWeights best({.by_loss = true});
  EXPECT_TRUE(best.offer(1, 0.5, 2.0, weights(1)));
  EXPECT_TRUE(best.offer(2, 0.4, 1.0, weights(2)));
  EXPECT_FALSE(best.offer(3, 0.9, 1.5, weights(3)));
  EXPECT_EQ(best.score(), 0.4);
}

TEST(BestWeights, StopTrainingOnlyAfterValidation) {
  BestWeights best({.patience = 3});
  best.take(1, weights(1));
  EXPECT_TRUE(best.should_continue(100));
  best.offer(2, 0.5, 2.0, weights(2));
  BestWeights resumed({.patience = 3});
  resumed.restore(best.state(), weights(2));
  for (const auto* each : {&best, &resumed}) {
    EXPECT_TRUE(each->should_continue(4));
    EXPECT_FALSE(each->should_continue(5));
    EXPECT_EQ(each->loss(), 2.0);
  }
  BestWeights unlimited({});
  unlimited.offer(1, 0.5, 2.0, weights(1));
  EXPECT_TRUE(unlimited.should_continue(1000));
}

class CheckpointsTest : public FolderTest {};

TEST_F(CheckpointsTest, AreDueAtTheIntervalButNotAtTheEnd) {
  const Checkpoints checkpoints({.path = path("c"), .every = 2});
  EXPECT_FALSE(checkpoints.due(1, 6));
  EXPECT_TRUE(checkpoints.due(2, 6));
  EXPECT_FALSE(checkpoints.due(6, 6));
  EXPECT_FALSE(Checkpoints({}).due(2, 6));
  expect_error([&] { Checkpoints({.path = path("c"), .every = 0}); }, {"checkpoint_every 0"});
}

TEST_F(CheckpointsTest, AreLoadedOnlyForTheSameOptions) {
  Parameters parameters(1);
  parameters.zeros("w", 2);
  const NamedTensors values = weights(3);
  const Checkpoint saved{.epoch = 2,
                         .weights = values,
                         .average = values,
                         .best = values,
                         .first = values,
                         .second = values,
                         .options = {{"seed", 1}}};
  Checkpoints checkpoints({.path = path("c"), .every = 1, .resume = true});
  EXPECT_FALSE(checkpoints.load(parameters, saved.options));  // not written yet
  checkpoints.save(saved);
  EXPECT_EQ(checkpoints.error(), "");
  EXPECT_EQ(value_of(checkpoints.load(parameters, saved.options)->weights), 3);
  expect_error(
      [&] {
        checkpoints.load(parameters, {{"seed", 2}});
      },
      {path("c"), "different options (seed 1 → 2)"});
  EXPECT_FALSE(Checkpoints({.path = path("c")}).load(parameters, saved.options));  // not requested

  Checkpoints nowhere({.path = path("no/such/folder/c")});
  nowhere.save(saved);
  EXPECT_NE(nowhere.error(), "");
}

}  // namespace
}  // namespace lase
