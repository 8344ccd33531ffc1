// Every strategy gives unbiased estimates of the sums of every layer, and thus of the gradient of
// any linear function of them with respect to the parameters.

#include "lase/train/estimator.h"

#include <cmath>

#include "lase/base/error.h"
#include "lase/inference/inference.h"
#include "lase/train/batch_stream.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

constexpr Strategy kStrategies[] = {Strategy::kUniform, Strategy::kGate, Strategy::kMinVar,
                                    Strategy::kSnapshot};
constexpr const char* kLayered[] = {"lase", "sage", "rw", "wl", "concat", "gcn", "graphsage"};

Model small_model(const std::string& architecture, const Graph& graph, uint64_t seed = 7,
                  int64_t project = 0) {
  ModelOptions options;
  options.project = project;
  options.model = architecture;
  options.widths = {4, 4};
  return {
      options,
      {graph.nodes.features.columns, graph.link_attributes.columns, graph.nodes.labels.classes()},
      seed};
}

Graph busy_graph(Layout layout) { return toy_graph({.nodes = 26, .links = 220, .layout = layout}); }

// Perturbs every parameter, as training steps do.
void perturb(Model& model, double by) {
  c10::NoGradGuard no_grad;
  Random random(11);
  for (auto& [name, value] : model.parameters().all()) {
    value.add_(random_tensor(random, value.sizes().vec()).to(at::kFloat), by);
  }
}

// Sample mean and its standard error.
struct Mean {
  double sum = 0;
  double squares = 0;
  int64_t n = 0;
  void add(double x) {
    sum += x;
    squares += x * x;
    ++n;
  }
  double mean() const { return sum / static_cast<double>(n); }
  double error() const {
    const double variance = std::max(0.0, squares / static_cast<double>(n) - mean() * mean());
    return std::sqrt(variance / static_cast<double>(n));
  }
};

// One layer, with all nodes as targets.
class OneLayer {
 public:
  OneLayer(const Graph& graph, const Inputs& inputs, const Model& model, int64_t l)
      : graph_(static_cast<const Adjacency&>(graph)), inputs_(inputs), model_(model), l_(l) {
    seeds_ = all_nodes(graph);
    state_ = exact_pass(model, inputs, graph_)[static_cast<size_t>(l)].baseline.state;
    Random random(5);
    const Block block = whole_block(graph_, degrees(graph_), 0, graph.node_count());
    for (const auto& part : model.layer(l).sums({state_, block, inputs.links(), {}})) {
      outer_.push_back(random_tensor(random, {graph.node_count(), part.width()}).to(at::kFloat));
    }
    for (const auto& [name, value] : model.parameters().all()) {
      direction_.push_back(random_tensor(random, value.sizes().vec()).to(at::kFloat));
    }
    exact_ = functions(block, nullptr);
  }

  // ⟨outer, s⟩, and its derivative along a direction in parameter space.
  using Functions = std::pair<double, double>;
  const Functions& exact() const { return exact_; }

  Functions sampled(Estimator& estimator, int64_t epoch) const {
    const auto at = static_cast<size_t>(l_);
    const Sampling& all = estimator.sampling();
    Sampling one{.fanouts = {all.fanouts[at]},
                 .replacement = all.replacement,
                 .link_dropout = all.link_dropout};
    if (!all.probabilities.empty()) one.probabilities = {all.probabilities[at]};
    Batch batch = sample_batch(graph_, seeds_, one, {2, epoch, 0});
    batch.blocks.resize(static_cast<size_t>(model_.block_count()), batch.blocks[0]);
    if (estimator.snapshot() == nullptr) return functions(batch.blocks[at], nullptr);
    const Baseline baseline = estimator.snapshot()->of(batch);
    return functions(batch.blocks[at], &baseline);
  }

 private:
  Functions functions(const Block& block, const Baseline* baseline) const {
    const LayerInput in{state_, block, inputs_.links(), {}};
    const Layer& layer = model_.layer(l_);
    const auto parts = layer.sums(in);
    std::vector<Tensor> s;
    if (baseline != nullptr) {
      s = layer.estimate(parts, in, baseline->model->layer(l_),
                         baseline->layers[static_cast<size_t>(l_)]);
    } else {
      for (const auto& part : parts) s.push_back(ops::gated_sum(part, block));
    }
    Tensor value = at::zeros({});
    for (size_t i = 0; i < s.size(); ++i) value = value + (s[i] * outer_[i]).sum();
    double slope = 0;
    for (const auto& [name, parameter] : model_.parameters().all()) {
      parameter.mutable_grad() = Tensor();
    }
    if (value.requires_grad()) value.backward();
    for (size_t i = 0; i < direction_.size(); ++i) {
      const Tensor& gradient = model_.parameters().all()[i].second.grad();
      if (gradient.defined()) slope += (gradient * direction_[i]).sum().item<double>();
    }
    return {value.item<double>(), slope};
  }

  Adjacency graph_;
  const Inputs& inputs_;
  const Model& model_;
  int64_t l_;
  std::vector<int64_t> seeds_;
  State state_;
  std::vector<Tensor> outer_;
  std::vector<Tensor> direction_;
  Functions exact_;
};

void expect_unbiased(const std::string& architecture, Layout layout,
                     const SamplingOptions& options) {
  const Graph graph = busy_graph(layout);
  const Inputs inputs(graph, no_scaling(graph));
  Model model = small_model(architecture, graph);
  const Adjacency& all = graph;
  Estimator estimator(options, model, inputs, all, {graph.node_count(), graph.node_count()});
  estimator.refresh();
  perturb(model, 0.2);  // the snapshot and the probabilities are now stale
  for (int64_t l = 0; l < model.block_count(); ++l) {
    const OneLayer layer(graph, inputs, model, l);
    Mean value;
    Mean slope;
    for (int64_t epoch = 0; epoch < 200; ++epoch) {
      const auto [v, g] = layer.sampled(estimator, epoch);
      value.add(v);
      slope.add(g);
    }
    const std::string what =
        join(architecture, ", ", layout_name(layout), ", ", name_of(options.strategy), ", ",
             name_of(options.replacement), ", fan-out ", options.fanout[0], ", layer ", l + 1);
    // The first layer of GraphSAGE sums features, which do not depend on parameters.
    const bool constant = architecture == "graphsage" && l == 0;
    EXPECT_EQ(value.error() > 1e-6, !(constant && options.strategy == Strategy::kSnapshot)) << what;
    EXPECT_NEAR(value.mean(), layer.exact().first, 4 * value.error() + 1e-5) << what;
    EXPECT_NEAR(slope.mean(), layer.exact().second, 4 * slope.error() + 1e-4) << what;
  }
}

TEST(Estimator, IsUnbiasedInEveryLayoutForAnyFanout) {
  for (const Layout layout : kLayouts) {
    for (const Strategy strategy : kStrategies) {
      for (const Replacement replacement : {Replacement::kWith, Replacement::kWithout}) {
        for (const int64_t fanout : {1, 3, 10}) {
          expect_unbiased("sage", layout,
                          {.fanout = {fanout}, .strategy = strategy, .replacement = replacement});
        }
      }
    }
  }
}

TEST(Estimator, IsUnbiasedForEveryArchitecture) {
  for (const std::string architecture : kLayered) {
    for (const Strategy strategy : kStrategies) {
      for (const Refresh refresh : {Refresh::kEager, Refresh::kLazy}) {
        if (strategy != Strategy::kSnapshot && refresh == Refresh::kLazy) continue;
        expect_unbiased(architecture, Layout::kDense,
                        {.fanout = {3}, .strategy = strategy, .refresh = refresh});
      }
    }
  }
}

TEST(Estimator, IsUnbiasedWithLinkDropout) {
  for (const std::string architecture : {"lase", "sage"}) {
    expect_unbiased(architecture, Layout::kDense,
                    {.fanout = {kWholeNeighborhood}, .link_dropout = 0.4});
    expect_unbiased(architecture, Layout::kSparse,
                    {.fanout = {3}, .strategy = Strategy::kUniform, .link_dropout = 0.4});
  }
}

// The estimate of the normalizer z(u) stays positive, even if the terms of the sample shrank most.
TEST(Estimator, KeepsTheNormalizerAboveHalfOfItsBaseline) {
  const Graph graph = busy_graph(Layout::kDense);
  const Inputs inputs(graph, no_scaling(graph));
  Model model = small_model("lase", graph);
  const Adjacency& all = graph;
  Estimator estimator({.fanout = {1}, .strategy = Strategy::kSnapshot}, model, inputs, all,
                      {26, 26});
  estimator.refresh();
  perturb(model, 2);  // gates far from those of the snapshot
  const auto seeds = all_nodes(graph);
  int64_t floored = 0;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    const Batch batch = sample_batch(all, seeds, estimator.sampling(), {1, epoch, 0});
    const Baseline baseline = estimator.snapshot()->of(batch);
    const State state = model.start(inputs, batch.nodes);
    const LayerInput in{state, batch.blocks[0], inputs.links(), {}};
    const Layer& layer = model.layer(0);
    const auto [sum, column] = layer.normalizer().value();
    const Tensor z =
        layer.estimate(layer.sums(in), in, baseline.model->layer(0), baseline.layers[0])[sum]
            .select(1, column)
            .detach();
    const Tensor least = 0.5 * baseline.layers[0].sums[sum].select(1, column);
    EXPECT_TRUE((z >= least).all().item<bool>());
    floored += (z == least).logical_and(least > 0).sum().item<int64_t>();
  }
  EXPECT_GT(floored, 0);
}

// The change since the snapshot is zero.
TEST(Estimator, SnapshotIsExactRightAfterARefresh) {
  for (const Layout layout : kLayouts) {
    for (const std::string architecture : kLayered) {
      const Graph graph = busy_graph(layout);
      const Inputs inputs(graph, no_scaling(graph));
      const Model model = small_model(architecture, graph);
      const Adjacency& all = graph;
      const Tensor exact =
          model.forward(inputs, whole_batch(graph, {3, 1, 4}, model.block_count()), {}).detach();
      for (const Refresh refresh : {Refresh::kEager, Refresh::kLazy}) {
        Estimator estimator({.fanout = {1}, .strategy = Strategy::kSnapshot, .refresh = refresh},
                            model, inputs, all, {3, 3});
        estimator.refresh();
        const std::vector<int64_t> seeds = {3, 1, 4};
        const Batch batch = sample_batch(all, seeds, estimator.sampling(), {1, 0, 0});
        const Baseline baseline = estimator.snapshot()->of(batch);
        expect_close(model.forward(inputs, batch, {}, &baseline).detach(), exact, 1e-5,
                     join(architecture, ", ", name_of(refresh)));
      }
    }
  }
}

// A lazy snapshot reuses the rows of earlier batches until the next refresh.
void expect_lazy_matches_eager(const std::string& architecture, Layout layout, int64_t project) {
  const Graph graph =
      toy_graph({.nodes = 26, .links = 220, .layout = Layout::kSparse, .feature_layout = layout});
  const Inputs inputs(graph, no_scaling(graph));
  Model model = small_model(architecture, graph, 7, project);
  const Adjacency& all = graph;
  const auto make = [&](Refresh refresh) {
    return Estimator({.fanout = {2}, .strategy = Strategy::kSnapshot, .refresh = refresh}, model,
                     inputs, all, {4, 4});
  };
  Estimator eager = make(Refresh::kEager);
  Estimator lazy = make(Refresh::kLazy);
  for (int64_t batch_number = 0; batch_number < 12; ++batch_number) {
    if (batch_number % 4 == 0) {
      perturb(model, 0.1);
      eager.refresh();
      lazy.refresh();
    }
    perturb(model, 0.05);
    const std::vector<int64_t> seeds = {batch_number, batch_number + 7, 20 + batch_number % 5};
    const Batch batch = sample_batch(all, seeds, eager.sampling(), {1, 0, batch_number});
    const Baseline one = eager.snapshot()->of(batch);
    const Baseline other = lazy.snapshot()->of(batch);
    expect_close(model.forward(inputs, batch, {}, &other).detach(),
                 model.forward(inputs, batch, {}, &one).detach(), 1e-5,
                 join(architecture, " ", batch_number));
  }
}

TEST(Estimator, LazySnapshotsMatchEagerOnes) {
  for (const Layout layout : kLayouts) {
    for (const std::string architecture : kLayered) {
      expect_lazy_matches_eager(architecture, layout, 0);
    }
    expect_lazy_matches_eager("sage", layout, 5);
  }
}

TEST(Estimator, CountsBatchesUntilTheNextRefresh) {
  const Graph graph = busy_graph(Layout::kDense);
  const Inputs inputs(graph, no_scaling(graph));
  const Model model = small_model("sage", graph);
  const Adjacency& all = graph;
  Estimator estimator({.fanout = {2}, .strategy = Strategy::kMinVar, .refresh_every = 5}, model,
                      inputs, all, {4, 4});
  EXPECT_EQ(estimator.batches_left(), 0);
  estimator.refresh();
  EXPECT_EQ(estimator.batches_left(), 5);
  estimator.count_batches(3);
  EXPECT_EQ(estimator.batches_left(), 2);
  estimator.mark_stale();
  EXPECT_EQ(estimator.batches_left(), 0);
  EXPECT_EQ(estimator.refresh_count(), 1);
}

// Whole neighborhoods and uniform sampling need no exact pass.
TEST(Estimator, IsNotRefreshedIfThatIsUnnecessary) {
  const Graph graph = busy_graph(Layout::kDense);
  const Inputs inputs(graph, no_scaling(graph));
  const Model model = small_model("sage", graph);
  const Adjacency& all = graph;
  for (const SamplingOptions& options :
       {SamplingOptions{.fanout = {2}, .strategy = Strategy::kUniform},
        SamplingOptions{.fanout = {kWholeNeighborhood}, .strategy = Strategy::kSnapshot},
        SamplingOptions{.fanout = {25}, .strategy = Strategy::kMinVar}}) {
    Estimator estimator(options, model, inputs, all, {4, 4});
    EXPECT_GT(estimator.batches_left(), int64_t{1} << 60);
    estimator.mark_stale();
    EXPECT_GT(estimator.batches_left(), 0);
    EXPECT_EQ(estimator.snapshot(), nullptr);
  }
}

TEST(Estimator, IsLazyIfBatchesTouchFewNodes) {
  const Graph graph = toy_graph({.nodes = 4000, .links = 12'000});
  const Inputs inputs(graph, no_scaling(graph));
  const Model model = small_model("sage", graph);
  const Adjacency& all = graph;
  const auto lazy = [&](int64_t batch) {
    return Estimator({.fanout = {2}, .strategy = Strategy::kSnapshot}, model, inputs, all,
                     {batch, batch})
        .lazy();
  };
  EXPECT_TRUE(lazy(4));
  EXPECT_FALSE(lazy(512));
}

TEST(Estimator, ChoosesAStrategyForModelAndGraph) {
  const auto described = [&](int64_t nodes, const SamplingOptions& options,
                             ops::Aggregate aggregate = ops::Aggregate::kMean,
                             const std::string& architecture = "sage", int64_t seeds = 10'000) {
    const Graph graph = toy_graph({.nodes = nodes, .links = 20 * nodes});
    const Inputs inputs(graph, no_scaling(graph));
    const Adjacency& all = graph;
    ModelOptions model;
    model.model = architecture;
    model.aggregate = aggregate;
    return Estimator(options, Model(model, {4, 3, 3}, 1), inputs, all, {seeds, 512}).describe();
  };
  constexpr int64_t kSmall = 100;
  constexpr int64_t kLarge = 2000;
  constexpr auto kMax = ops::Aggregate::kMax;
  EXPECT_EQ(described(kSmall, {}), "whole neighborhoods, link dropout 0.3");
  EXPECT_EQ(described(kSmall, {.link_dropout = 0}), "whole neighborhoods");
  EXPECT_EQ(described(kLarge, {.strategy = Strategy::kUniform, .link_dropout = 0.25}),
            "uniform, fan-out 10,10, link dropout 0.25");
  EXPECT_EQ(described(kLarge, {}), "snapshot, fan-out 1,10, refreshed every 20 batches");
  EXPECT_EQ(described(kLarge, {.fanout = {3}, .refresh = Refresh::kLazy}),
            "snapshot, fan-out 3,3, refreshed every 20 batches, lazily");
  EXPECT_EQ(described(kLarge, {.fanout = {kWholeNeighborhood, 3}}),
            "snapshot, fan-out all,3, refreshed every 20 batches");
  EXPECT_EQ(described(kSmall, {.strategy = Strategy::kUniform}), "uniform, fan-out 10,10");
  EXPECT_EQ(described(kLarge, {.fanout = {kWholeNeighborhood}}),
            "whole neighborhoods, link dropout 0.3");
  EXPECT_EQ(described(kSmall, {}, kMax), "whole neighborhoods, link dropout 0.3");
  EXPECT_EQ(described(kLarge, {}, kMax), "uniform, fan-out 10,10");
  EXPECT_EQ(described(kLarge, {}, ops::Aggregate::kMean, "gcn"), "uniform, fan-out 10,10,10");
  constexpr int64_t kFewSeeds = 5000;
  EXPECT_EQ(described(kLarge, {}, ops::Aggregate::kMean, "sage", kFewSeeds),
            "whole neighborhoods, link dropout 0.3");
}

TEST(Estimator, DropsNoLinksIfFeaturesAreProjected) {
  const Graph graph = busy_graph(Layout::kDense);
  const Inputs inputs(graph, no_scaling(graph));
  const Adjacency& all = graph;
  ModelOptions options;
  options.project = 2;
  const Model model(options, {4, 3, 3}, 1);
  EXPECT_EQ(Estimator({}, model, inputs, all, {4, 4}).describe(), "whole neighborhoods");
  EXPECT_EQ(Estimator({.link_dropout = 0.2}, model, inputs, all, {4, 4}).describe(),
            "whole neighborhoods, link dropout 0.2");
}

TEST(Estimator, RejectsInvalidOptions) {
  const Graph graph = busy_graph(Layout::kDense);
  const Inputs inputs(graph, no_scaling(graph));
  ModelOptions options;
  options.model = "sage";
  options.aggregate = ops::Aggregate::kMax;
  const Model model(options, {4, 3, 3}, 1);
  const Adjacency& all = graph;
  expect_error(
      [&] {
        Estimator({.fanout = {2}, .strategy = Strategy::kMinVar}, model, inputs, all, {4, 4});
      },
      {"strategy min_var", "aggregate max"});
  expect_error(
      [&] {
        Estimator({.fanout = {2}, .refresh_every = 0}, model, inputs, all, {4, 4});
      },
      {"refresh_every 0"});
  options.aggregate = ops::Aggregate::kMean;
  const Model mean(options, {4, 3, 3}, 1);
  expect_error(
      [&] {
        Estimator({.fanout = {2}, .strategy = Strategy::kSnapshot, .link_dropout = 0.5}, mean,
                  inputs, all, {4, 4});
      },
      {"link_dropout 0.5", "snapshot", "fanout all"});
}

}  // namespace
}  // namespace lase
