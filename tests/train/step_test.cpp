#include "lase/train/step.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <limits>

#include "lase/model/model.h"

#include "torch_support.h"

namespace lase {
namespace {

// A step on all nodes of a small graph.
class StepTest : public testing::Test {
 protected:
  StepTest()
      : graph_(toy_graph({})),
        objective_(make_objective(graph_.nodes.labels)),
        inputs_(graph_, no_scaling(graph_)),
        model_({.widths = {5}}, {.node_features = 4, .link_attributes = 3, .outputs = 3}, 1),
        nodes_(all_nodes(graph_)) {
    objective_->fit(nodes_, false);
    item_.seeds = nodes_;
    item_.truth = objective_->truth(nodes_);
    item_.batch = whole_batch(graph_, nodes_, 1);
  }

  double loss() const {
    const auto outputs = model_.forward(inputs_, item_.batch, {});
    return objective_->loss(outputs, nodes_).mean().item<double>();
  }

  Graph graph_;
  std::unique_ptr<Objective> objective_;
  Inputs inputs_;
  Model model_;
  std::vector<int64_t> nodes_;
  BatchStream::Item item_;
};

TEST_F(StepTest, LowersTheLoss) {
  TrainStep step({model_, inputs_, *objective_}, {});
  const double before = loss();
  const auto result = step.run(item_, {.learning_rate = 0.01});
  EXPECT_TRUE(result.updated);
  EXPECT_NEAR(result.loss.item<float>(), before, 1e-6);
  EXPECT_EQ(step.adam().steps(), 1);
  EXPECT_LT(loss(), before);
}

// The gradient of a batch in chunks is that of the whole batch.
TEST_F(StepTest, SumsGradientsOverChunks) {
  const NamedTensors before = model_.parameters().copy();
  const auto trained = [&](int64_t chunks) {
    model_.parameters().set(before);
    TrainStep step({model_, inputs_, *objective_}, {});
    int64_t chunk = 0;
    const auto next = [&] {
      const auto [first, last] = part_of(std::ssize(nodes_), chunks, chunk++);
      BatchStream::Item item;
      item.seeds =
          std::span(nodes_).subspan(static_cast<size_t>(first), static_cast<size_t>(last - first));
      if (item.seeds.empty()) return item;
      item.truth = objective_->truth(item.seeds);
      item.batch = whole_batch(graph_, {item.seeds.begin(), item.seeds.end()}, 1);
      return item;
    };
    const auto result = step.run(chunks, next, {.learning_rate = 0.01});
    EXPECT_TRUE(result.updated);
    EXPECT_EQ(chunk, chunks);
    return std::pair(result.loss.item<float>(), step.adam().moments().first);
  };
  TrainStep step({model_, inputs_, *objective_}, {});
  const float loss = step.run(item_, {.learning_rate = 0.01}).loss.item<float>();
  for (const int64_t chunks : {2, 5, 20}) {
    const auto [found, moments] = trained(chunks);
    EXPECT_NEAR(found, loss, 1e-6);
    for (const auto& [name, expected] : step.adam().moments().first) {
      expect_close(moments.at(name), expected, 1e-6, name);
    }
  }
}

TEST_F(StepTest, KeepsTheWeightsIfTheLossIsNotFinite) {
  {
    c10::NoGradGuard no_grad;
    model_.parameters().all().back().second.fill_(std::numeric_limits<float>::infinity());
  }
  const NamedTensors before = model_.parameters().copy();
  TrainStep step({model_, inputs_, *objective_}, {});
  EXPECT_FALSE(step.run(item_, {.learning_rate = 0.01}).updated);
  EXPECT_EQ(step.adam().steps(), 0);
  for (const auto& [name, value] : model_.parameters().copy()) {
    EXPECT_TRUE(at::equal(value, before.at(name))) << name;
  }
}

}  // namespace
}  // namespace lase
