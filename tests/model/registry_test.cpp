// A layer type registered from outside the library and trained like any other.
#include "lase/model/layers/registry.h"

#include <ATen/ATen.h>

#include "lase/base/error.h"
#include "lase/inference/inference.h"
#include "lase/model/model.h"
#include "lase/model/model_file.h"
#include "lase/ops/linear.h"
#include "lase/train/trainer.h"

#include "torch_support.h"

namespace lase {
namespace {

//   h'(u) = tanh(W (h(u) + Σ_{v ∈ N(u)} h(v)))
class Toy : public Layer {
 public:
  Toy(Parameters& parameters, const LayerShape& shape)
      : w_(parameters.matrix(shape.name + ".w", 2 * shape.out, shape.in)) {}

  Sums sums(const LayerInput& in) const override {
    ops::GatedSumInput sum;
    sum.h = in.state.h;
    sum.amplifier = ops::Amplifier::kNone;
    sum.aggregate = ops::Aggregate::kSum;
    return {sum};
  }
  State update(const LayerInput& in, const Sums&, const SumValues& s) const override {
    const at::Tensor own = in.state.h.at(in.block.target).dense();
    return {{ops::linear({own + s[0], {}}, w_).tanh(), {}}, {}};
  }

 private:
  at::Tensor w_;
};

const LayerType& toy() {
  static const bool registered = [] {
    register_layer(
        {.name = "toy",
         .title = "A toy",
         .make = [](const ModelOptions&, Parameters& parameters,
                    const LayerShape& shape) { return std::make_unique<Toy>(parameters, shape); },
         .out_width = [](const ModelOptions&, int64_t width) { return 2 * width; },
         .check =
             [](const ModelOptions& options) {
               require(options.depth == 1, "depth: not supported by toy");
             }});
    return true;
  }();
  EXPECT_TRUE(registered);
  return layer_type("toy");
}

class Registry : public FolderTest {};

TEST_F(Registry, TrainsSavesAndLoadsARegisteredLayer) {
  EXPECT_EQ(toy().title, "A toy");
  const Graph graph = toy_graph({.nodes = 300, .links = 900, .split = true});
  TrainOptions options;
  options.model.model = toy().name;
  options.model.widths = {8, 6};
  options.epochs = 30;
  options.batch = 32;
  options.sampling = {.fanout = {2}, .strategy = Strategy::kSnapshot, .refresh_every = 3};
  double first = 0;
  double last = 0;
  options.progress = [&](const EpochReport& report) {
    if (report.epoch == 1) first = report.loss;
    last = report.loss;
  };
  const TrainResult result = train(graph, options);
  EXPECT_LT(last, first);
  EXPECT_GT(result.refreshes, 1);
  EXPECT_EQ(result.trained.model->parameters().all()[1].second.size(1), 16);  // twice the width 8
  save_model(result.trained, path("toy.model"));
  const TrainedModel loaded = load_model(path("toy.model"));
  expect_same_weights(*loaded.model, *result.trained.model);
}

TEST_F(Registry, RunsTheChecksOfALayerType) {
  const ModelShape shape{.node_features = 3, .link_attributes = 2, .outputs = 2};
  expect_error([&] { Model({.model = toy().name, .depth = 2}, shape, 1); },
               {"not supported by toy"});
}

TEST_F(Registry, RejectsDuplicateAndUnknownNames) {
  expect_error([] { register_layer({.name = "sage", .title = "Another"}); }, {"'sage'"});
  expect_error([] { layer_type("gat"); }, {"no model", "'gat'"});
}

// An option is listed as unused exactly if another value of it does not change the outputs.
TEST(UnusedOptions, AreThoseWithoutEffectOnTheOutputs) {
  const Graph graph = toy_graph({});
  const ModelShape shape{.node_features = graph.nodes.features.columns,
                         .link_attributes = graph.link_attributes.columns,
                         .outputs = 3};
  const Inputs inputs(graph, no_scaling(graph));
  const auto outputs = [&](const ModelOptions& options) {
    return infer(Model(options, shape, 1), inputs, graph).logits;
  };
  ModelOptions changed;
  changed.widths = {6, 6};
  changed.combine = CombineChoice::kMultiply;
  changed.amplifier = AmplifierChoice::kNone;
  changed.aggregate = ops::Aggregate::kSum;
  changed.gate = false;
  changed.depth = 2;
  changed.normalize = false;
  const nlohmann::json other = to_json(changed);
  for (const std::string type : {"lase", "sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"}) {
    const ModelOptions usual{.model = type};
    const at::Tensor expected = outputs(usual);
    EXPECT_EQ(unused_options(usual), Strings{}) << type;
    for (const auto* name :
         {"widths", "combine", "amplifier", "aggregate", "gate", "depth", "normalize"}) {
      nlohmann::json json = to_json(usual);
      json[name] = other.at(name);
      const ModelOptions options = model_option_table().from_json(json);
      const at::Tensor found = outputs(options);
      const bool same = at::equal(found, expected);
      EXPECT_EQ(unused_options(options), same ? Strings{name} : Strings{}) << type << ", " << name;
    }
  }
}

}  // namespace
}  // namespace lase
