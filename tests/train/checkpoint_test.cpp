#include "lase/train/checkpoint.h"

#include <cmath>

#include "torch_support.h"

namespace lase {
namespace {

class CheckpointFile : public FolderTest {};

// Parameters of equal shape.
Parameters parameters_in_order(const std::vector<std::string>& names) {
  Parameters parameters(7);
  for (const auto& name : names) parameters.matrix(name, 2, 3);
  return parameters;
}

TEST_F(CheckpointFile, StoresTensorsByNameRegardlessOfTheirOrder) {
  const Parameters before = parameters_in_order({"layer1.w1", "layer1.w2"});
  Checkpoint saved{.epoch = 3, .steps = 12};
  saved.weights = saved.average = saved.best = saved.first = saved.second = before.copy();
  for (auto* tensors : {&saved.first, &saved.second}) {
    for (auto& [name, value] : *tensors) value = value + static_cast<double>(name.back());
  }
  save_checkpoint(saved, path("c"));

  Parameters after = parameters_in_order({"layer1.w2", "layer1.w1"});
  const Checkpoint loaded = load_checkpoint(path("c"), after);
  EXPECT_EQ(loaded.epoch, 3);
  EXPECT_EQ(loaded.steps, 12);
  EXPECT_TRUE(loaded.snapshot.empty());
  for (auto& [name, value] : after.all()) value.set_data(at::zeros({2, 3}));
  after.set(loaded.weights);
  for (const auto& [name, value] : before.all()) {
    expect_same_bits(after.copy().at(name), value.detach(), name);
    expect_same_bits(loaded.first.at(name), saved.first.at(name), name);
    expect_same_bits(loaded.second.at(name), saved.second.at(name), name);
  }
}

TEST_F(CheckpointFile, StoresTheProgressOfTheRun) {
  Checkpoint saved;
  saved.epoch = 3;
  saved.progress.curve = {{{"epoch", 1}, {"loss", 0.5}},
                          {{"epoch", 2}, {"loss", 0.25}, {"val", NAN}}};
  saved.progress.best = {.epoch = 2, .validated = true, .score = 0.75, .loss = 1.5};
  saved.progress.learning_rate = {.factor = 0.5, .since_change = 1};
  save_checkpoint(saved, path("c"));
  const Progress loaded = load_checkpoint(path("c"), parameters_in_order({})).progress;
  EXPECT_EQ(loaded.best.epoch, 2);
  EXPECT_TRUE(loaded.best.validated);
  EXPECT_EQ(loaded.best.score, 0.75);
  EXPECT_EQ(loaded.best.loss, 1.5);
  EXPECT_EQ(loaded.learning_rate.factor, 0.5);
  EXPECT_EQ(loaded.learning_rate.since_change, 1);
  EXPECT_EQ(loaded.curve[0], saved.progress.curve[0]);
  EXPECT_TRUE(std::isnan(loaded.curve[1].value("val", 0.0)));
}

TEST_F(CheckpointFile, RejectsADamagedDescription) {
  using nlohmann::json;
  const auto rejects = [&](const auto& damage) {
    Checkpoint checkpoint{.epoch = 3};
    damage(checkpoint);
    save_checkpoint(checkpoint, path("c"));
    expect_error([&] { load_checkpoint(path("c"), parameters_in_order({})); },
                 {path("c"), "the description of the checkpoint is damaged"});
  };
  rejects([](Checkpoint& c) { c.epoch = -1; });
  rejects([](Checkpoint& c) { c.steps = -1; });
  rejects([](Checkpoint& c) { c.options = json::array(); });
  rejects([](Checkpoint& c) { c.options = {{"graph", 1}}; });
  rejects([](Checkpoint& c) { c.progress.best.epoch = 4; });
  rejects([](Checkpoint& c) { c.progress.learning_rate.since_change = -1; });
  for (const json& curve :
       {json::object(), json{1}, json{{{"epoch", 1}}}, json{{{"epoch", 0.5}, {"loss", 1}}},
        json{{{"epoch", 1}, {"loss", 1}, {"val", "high"}}}}) {
    rejects([&](Checkpoint& c) { c.progress.curve = curve; });
  }
  const NamedTensors values = parameters_in_order({"w"}).copy();
  rejects([&](Checkpoint& c) { c.snapshot = values; });  // without batches_left
}

TEST_F(CheckpointFile, RejectsParametersOfOtherNamesAndShapes) {
  const Parameters before = parameters_in_order({"layer1.w1"});
  const NamedTensors values = before.copy();
  save_checkpoint({.weights = values,
                   .average = values,
                   .best = values,
                   .first = values,
                   .second = values,
                   .snapshot = values,
                   .progress = {.batches_left = 1}},
                  path("c"));
  EXPECT_EQ(load_checkpoint(path("c"), before).snapshot.size(), 1U);
  expect_error([&] { load_checkpoint(path("c"), parameters_in_order({"layer1.w2"})); },
               {path("c"), "weight.layer1.w2"});
  Parameters wider(7);
  wider.matrix("layer1.w1", 2, 4);
  expect_error([&] { load_checkpoint(path("c"), wider); }, {path("c"), "weight.layer1.w1"});
  expect_error([&] { wider.set({}); }, {"layer1.w1"});
}

}  // namespace
}  // namespace lase
