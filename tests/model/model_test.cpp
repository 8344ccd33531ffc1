// Every architecture against the equations of the paper, and its gradients against numeric ones.

#include "lase/model/model.h"

#include <cmath>

#include "lase/base/error.h"
#include "lase/inference/inference.h"

#include "model/reference.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using ops::Aggregate;

// Covers every option that affects the computation.
std::vector<ModelOptions> every_option() {
  std::vector<ModelOptions> all;
  const auto add = [&](ModelOptions options) { all.push_back(std::move(options)); };
  ModelOptions base;
  base.widths = {4, 3};
  for (const auto combine :
       {CombineChoice::kAdd, CombineChoice::kMultiply, CombineChoice::kConcat}) {
    for (const char* architecture : {"lase", "sage", "concat", "graphsage"}) {
      ModelOptions options = base;
      options.model = architecture;
      options.combine = combine;
      add(options);
    }
  }
  base.widths = {3, 3};
  base.model = "rw";
  add(base);
  for (const int64_t depth : {0, 1, 2}) {
    ModelOptions options = base;
    options.model = "wl";
    options.depth = depth;
    add(options);
  }
  for (const char* architecture : {"gcn", "raw"}) {
    ModelOptions options = base;
    options.model = architecture;
    add(options);
  }
  for (const char* architecture : {"lase", "sage", "rw", "concat"}) {
    for (const auto amplifier :
         {AmplifierChoice::kSigmoid, AmplifierChoice::kLinear, AmplifierChoice::kNone}) {
      for (const auto aggregate : {Aggregate::kSum, Aggregate::kMean, Aggregate::kMax}) {
        for (const bool gate : {true, false}) {
          ModelOptions options = base;
          options.model = architecture;
          options.amplifier = amplifier;
          options.aggregate = aggregate;
          options.gate = gate;
          add(options);
        }
      }
    }
  }
  for (const char* architecture : {"lase", "sage", "gcn", "raw", "concat", "graphsage"}) {
    ModelOptions options = base;
    options.model = architecture;
    options.project = 2;
    options.normalize = false;
    add(options);
  }
  return all;
}

std::string describe(const ModelOptions& options, Layout layout) {
  return join(options.model, ", ", name_of(options.combine), ", ", name_of(options.amplifier), ", ",
              name_of(options.aggregate), options.gate ? ", gate" : "", ", depth ", options.depth,
              ", project ", options.project.value_or(0), ", ", layout_name(layout));
}

// A model in double precision with random biases, which are initialized to zero otherwise.
std::shared_ptr<Model> random_model(const ModelOptions& options, const Graph& graph) {
  const ModelShape shape{.node_features = graph.nodes.features.columns,
                         .link_attributes = graph.link_attributes.columns,
                         .outputs = 2};
  auto model = std::make_shared<Model>(options, shape, 5);
  to_double(model->parameters());
  Random random(6);
  for (auto& [name, value] : model->parameters().all()) {
    if (name.ends_with("bias")) value.set_data(random_tensor(random, value.sizes().vec()));
  }
  return model;
}

Scaling random_scaling(const Graph& graph) {
  Random random(8);
  const auto part = [&](int64_t n) { return random_tensor(random, {n}); };
  const int64_t d = graph.nodes.features.columns;
  const int64_t k = graph.link_attributes.columns;
  return {.nodes = NodeScaling::kStandard,
          .node_mean = part(d),
          .node_scale = part(d).abs() + 0.5,
          .link_mean = part(k),
          .link_scale = part(k).abs() + 0.5};
}

Batch double_batch(const Graph& graph, const std::vector<int64_t>& seeds, const Model& model) {
  Batch batch = whole_batch(graph, seeds, model.block_count());
  to_double(batch);
  return batch;
}

TEST(Model, MatchesTheReferenceInEveryLayout) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.layout = layout});
    // Standardizing inside the layers must equal standardizing the attributes themselves.
    const Scaling scaling = random_scaling(graph);
    const Inputs inputs = double_inputs(graph, scaling);
    for (const ModelOptions& options : every_option()) {
      const auto model = random_model(options, graph);
      const ReferenceOutputs expected = reference_outputs(*model, graph, scaling);
      const Batch batch = double_batch(graph, all_nodes(graph), *model);
      const Tensor found = model->forward(inputs, batch, {});
      expect_close(found, to_tensor(expected.logits), 1e-9, describe(options, layout));
    }
  }
}

TEST(Model, MatchesTheReferenceWithoutLinkAttributesAndWithWidthOne) {
  const Graph bare = toy_graph({.features = 1, .attributes = 0});
  const Graph narrow = toy_graph({.features = 1, .attributes = 1, .directed = true});
  for (const Graph* graph : {&bare, &narrow}) {
    for (ModelOptions options : every_option()) {
      options.widths = {1};
      const auto model = random_model(options, *graph);
      const Scaling scaling = random_scaling(*graph);
      const auto expected = reference_outputs(*model, *graph, scaling);
      const Tensor found = model->forward(double_inputs(*graph, scaling),
                                          double_batch(*graph, all_nodes(*graph), *model), {});
      expect_close(found, to_tensor(expected.logits), 1e-9, describe(options, Layout::kDense));
    }
  }
}

// With many link attributes, LASE sums W3 f(e) instead of f(e).
TEST(Model, MatchesTheReferenceWithManyLinkAttributes) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.attributes = 300, .layout = layout});
    const Scaling scaling = random_scaling(graph);
    const Inputs inputs = double_inputs(graph, scaling);
    for (const auto amplifier :
         {AmplifierChoice::kNone, AmplifierChoice::kLinear, AmplifierChoice::kSigmoid}) {
      const ModelOptions options{.model = "lase", .widths = {3, 2}, .amplifier = amplifier};
      const auto model = random_model(options, graph);
      const Batch batch = double_batch(graph, all_nodes(graph), *model);
      expect_close(model->forward(inputs, batch, {}),
                   to_tensor(reference_outputs(*model, graph, scaling).logits), 1e-9,
                   describe(options, layout));
      const LayerInput in{model->start(inputs, batch.nodes), batch.blocks[0], inputs.links(), {}};
      for (const auto& sum : model->layer(0).sums(in)) EXPECT_LT(sum.width(), 50);
    }
  }
}

TEST(Model, HasCorrectGradients) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.nodes = 7, .links = 10, .features = 3, .layout = layout});
    const Inputs inputs = double_inputs(graph, random_scaling(graph));
    Random random(9);
    const Tensor outer = random_tensor(random, {graph.node_count(), 2});
    for (const ModelOptions& options : every_option()) {
      const auto model = random_model(options, graph);
      const Batch batch = double_batch(graph, all_nodes(graph), *model);
      const auto loss = [&] { return (model->forward(inputs, batch, {}) * outer).sum(); };
      for (const auto& [name, value] : model->parameters().all()) {
        expect_gradient(loss, value, name + ", " + describe(options, layout), 1e-6);
      }
    }
  }
}

// Figure 3 of the paper: two nodes whose neighborhoods have the same nodes and the same links, but
// paired differently, so that neither nodes nor links alone distinguish them.
Graph figure3() {
  RawGraph raw;
  raw.nodes.names = make_string_table(Strings{"u", "w", "a", "b", "c", "d"});
  raw.nodes.features = Attributes::dense(Floats{1, 1, 1, 1, 2, 0, 0, 3, 2, 0, 0, 3}, 6, 2);
  raw.attributes.columns = 1;
  const auto link = [&](int32_t u, int32_t v, float attribute) {
    raw.source.push_back(u);
    raw.target.push_back(v);
    raw.attributes.values.push_back(attribute);
  };
  link(0, 2, 1);  // u: strong link to a, weak link to b
  link(0, 3, -1);
  link(1, 4, -1);  // w: the reverse
  link(1, 5, 1);
  return build_graph(std::move(raw)).graph;
}

TEST(Model, DistinguishesFigure3OnlyByNodesAndLinksTogether) {
  const Graph graph = figure3();
  const auto distance = [&](const std::string& architecture, bool gate, uint64_t seed) {
    ModelOptions options{.model = architecture, .widths = {8}, .gate = gate};
    const Model model(options, {.node_features = 2, .link_attributes = 1, .outputs = 2}, seed);
    const Inputs inputs(graph, no_scaling(graph));
    const Tensor h = infer(model, inputs, graph).embedding;
    return (h[0] - h[1]).abs().max().item<float>();
  };
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    EXPECT_LT(distance("concat", false, seed), 1e-6F);
    EXPECT_LT(distance("graphsage", false, seed), 1e-6F);
    EXPECT_GT(distance("sage", false, seed), 1e-3F);
    EXPECT_GT(distance("sage", true, seed), 1e-3F);
    EXPECT_GT(distance("rw", false, seed), 1e-3F);
  }
}

TEST(Model, IsInitializedByItsSeed) {
  const ModelShape shape{.node_features = 3, .link_attributes = 2, .outputs = 2};
  const Model a({}, shape, 1);
  const Model b({}, shape, 1);
  const Model c({}, shape, 2);
  expect_same_weights(a, b);
  EXPECT_FALSE(at::equal(a.parameters().all()[0].second, c.parameters().all()[0].second));
}

TEST(Model, RejectsInvalidOptions) {
  const ModelShape shape{.node_features = 3, .link_attributes = 2, .outputs = 2};
  const auto rejects = [&](const ModelOptions& options, std::initializer_list<std::string> parts) {
    expect_error([&] { Model(options, shape, 1); }, parts);
  };
  const std::string rw = "rw";
  const std::string wl = "wl";
  rejects({.model = rw, .widths = {4, 3}}, {"widths", "rw", "equal"});
  rejects({.model = wl, .widths = {4, 3}}, {"widths", "wl", "equal"});
  rejects({.model = rw, .project = 5}, {"project", "rw"});
  rejects({.widths = {}}, {"widths", "at least one"});
  rejects({.widths = {4, 0}}, {"widths '4,0'"});
  rejects({.widths = {70'000}}, {"widths '70000'"});
  rejects({.dropout = 1}, {"dropout 1"});
  rejects({.dropout = -0.1}, {"dropout -0.1"});
  rejects({.project = -1}, {"project -1"});
  rejects({.input_dropout = 0.2}, {"input_dropout 0.2", "not projected"});
  rejects({.project = 2, .input_dropout = 1}, {"input_dropout 1"});
  rejects({.model = wl, .depth = -1}, {"depth -1"});
  expect_error([&] { Model({}, {.node_features = 3, .outputs = 0}, 1); }, {"at least one class"});
  // A matrix with too many entries is rejected before memory is allocated.
  rejects({.widths = {65'536, 65'536}}, {"widths", "65536 × 131072", "too large"});
  rejects({.widths = {4, 4}, .dropout = std::nan("")}, {"dropout nan"});
  expect_error([] { model_option_table().from_json({{"model", "gat"}}); }, {"model", "gat"});
  EXPECT_NO_THROW(Model({.model = "raw", .widths = {}}, shape, 1));
}

TEST(Model, ProjectsManyNodeFeatures) {
  const auto width = [](const std::string& model, int64_t features) {
    return *Model({.model = model}, {.node_features = features, .outputs = 2}, 1).options().project;
  };
  EXPECT_EQ(width("lase", 1024), 0);
  EXPECT_EQ(width("lase", 1025), 64);
  EXPECT_EQ(width("graphsage", 1025), 64);
  EXPECT_EQ(width("rw", 1025), 0);  // projects them to the width of its layers
  EXPECT_EQ(width("raw", 1025), 0);
  EXPECT_EQ(*Model({.project = 0}, {.node_features = 1025, .outputs = 2}, 1).options().project, 0);
}

// Only in training, only if features are projected, and on average without effect on W f(u).
TEST(Model, DropsNodeFeaturesBeforeTheirProjection) {
  for (const Layout layout : kLayouts) {
    const Graph graph = toy_graph({.feature_layout = layout});
    const Inputs inputs(graph, no_scaling(graph));
    const Batch batch = whole_batch(graph, {1, 2, 3}, 2);
    const ModelShape shape{graph.nodes.features.columns, graph.link_attributes.columns, 2};
    const auto changes = [&](double input_dropout, const ops::Dropout& dropout) {
      const Model model({.project = 3, .input_dropout = input_dropout, .dropout = 0}, shape, 1);
      return !at::equal(model.forward(inputs, batch, dropout), model.forward(inputs, batch, {}));
    };
    EXPECT_TRUE(changes(0.5, {.rate = 0, .key = 7}));
    EXPECT_FALSE(changes(0, {.rate = 0, .key = 7}));
    EXPECT_FALSE(changes(0.5, {}));
    const Model model({.project = 3}, shape, 1);
    EXPECT_FALSE(model.steady());
    const Tensor exact = model.start(inputs, batch.nodes).h.dense();
    Tensor mean = at::zeros_like(exact);
    constexpr int kRuns = 2000;
    for (int run = 0; run < kRuns; ++run) {
      const ops::Dropout dropout{.rate = 0.5, .key = Random(5, run).bits()};
      mean += model.start(inputs, batch.nodes, dropout).h.dense().detach() / kRuns;
    }
    expect_close(mean, exact.detach(), 0.2, std::string(layout_name(layout)));
  }
  EXPECT_TRUE(Model({}, {.node_features = 3, .outputs = 2}, 1).steady());
}

TEST(Model, RejectsWeightsThatDoNotFitIntoMemory) {
  expect_error([] { Parameters(1).matrix("w", 10'000'000, 10'000'000); },
               {"the weights need", "choose smaller widths"});
}

TEST(Model, ReadsEveryOptionByName) {
  const auto& table = model_option_table();
  for (const auto& name : table.at("model").words) {
    EXPECT_EQ(table.from_json({{"model", name}}).model, name);
    EXPECT_EQ(layer_type(name).name, name);
  }
  const ModelOptions options = table.from_json(
      {{"combine", "multiply"}, {"amplifier", "linear"}, {"aggregate", "max"}, {"gate", "none"}});
  EXPECT_EQ(options.combine, CombineChoice::kMultiply);
  EXPECT_EQ(options.amplifier, AmplifierChoice::kLinear);
  EXPECT_EQ(options.aggregate, Aggregate::kMax);
  EXPECT_FALSE(options.gate);
}

}  // namespace
}  // namespace lase
