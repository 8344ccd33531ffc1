#include "lase/train/checkpoint.h"

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
  Checkpoint saved{.epoch = 3, .steps = 12, .progress = nlohmann::json::object()};
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

TEST_F(CheckpointFile, RejectsParametersOfOtherNamesAndShapes) {
  const Parameters before = parameters_in_order({"layer1.w1"});
  const NamedTensors values = before.copy();
  save_checkpoint({.weights = values,
                   .average = values,
                   .best = values,
                   .first = values,
                   .second = values,
                   .snapshot = values},
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
