// Layer-wise inference against the same model on one batch of whole neighborhoods.

#include "lase/inference/inference.h"

#include "lase/base/error.h"
#include "lase/inference/nearest.h"

#include "torch_support.h"

namespace lase {
namespace {

constexpr const char* kAll[] = {"lase", "sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"};

Model small_model(const std::string& architecture, const Graph& graph) {
  ModelOptions options{.model = architecture, .widths = {5, 5}, .depth = 2};
  const ModelShape shape{.node_features = graph.nodes.features.columns,
                         .link_attributes = graph.link_attributes.columns,
                         .outputs = 3};
  return {options, shape, 1};
}

TEST(Inference, MatchesTheModelOnAWholeBatchForAnyChunkSize) {
  for (const Layout layout : kLayouts) {
    const Graph graph =
        toy_graph({.nodes = 60, .links = 200, .layout = layout, .feature_layout = layout});
    const Inputs inputs(graph, no_scaling(graph));
    for (const std::string architecture : kAll) {
      const Model model = small_model(architecture, graph);
      const Batch batch = whole_batch(graph, all_nodes(graph), model.block_count());
      const at::Tensor expected = model.forward(inputs, batch, {}).detach();
      for (const int64_t arcs : {1, 7, 100, 1 << 17}) {
        const Outputs outputs = infer(model, inputs, graph, Keep::kAll, arcs);
        const std::string what = join(architecture, ", ", arcs, " arcs");
        expect_close(outputs.logits, expected, 1e-5, what);
        EXPECT_EQ(outputs.embedding.size(0), graph.node_count());
        EXPECT_FALSE(outputs.logits.requires_grad());
      }
    }
  }
}

// Sums and norms of every layer, against explicitly computed terms.
TEST(Inference, ExactPassGivesSumsAndNormsOfTerms) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200});
  const Inputs inputs(graph, no_scaling(graph));
  const Adjacency& all = graph;
  const Block block = whole_block(all, degrees(all), 0, graph.node_count());
  const at::Tensor rows = at::repeat_interleave(block.row_ptr.diff());
  for (const std::string architecture : kAll) {
    const Model model = small_model(architecture, graph);
    const auto found = exact_pass(model, inputs, all, ops::Score::kNorm);
    ASSERT_EQ(static_cast<int64_t>(found.size()), model.block_count());
    State state = model.start(inputs, at::Tensor());
    for (int64_t l = 0; l < model.block_count(); ++l) {
      const LayerInput in{state, block, inputs.links(), {}};
      const auto sums = model.layer(l).sums(in);
      const std::string what = join(architecture, l);
      const LayerPass& pass = found[static_cast<size_t>(l)];
      if (state.h.defined()) {
        expect_close(pass.baseline.state.h.dense(), state.h.dense().detach(), 1e-5, what);
      }
      ASSERT_EQ(pass.baseline.sums.size(), sums.size());
      EXPECT_EQ(sums.size(), architecture == "concat" ? 2U : 1U);
      at::Tensor squares = at::zeros({block.arcs()});
      for (size_t i = 0; i < sums.size(); ++i) {
        const ops::GatedSumInput& sum = sums[i];
        at::Tensor x = sum.h.dense().index_select(0, block.source) * ops::amplifiers(sum, block);
        if (sum.links) x = at::cat({x, at::ones({block.arcs(), 1})}, 1);  // not f(e)
        x = x * ops::gates(sum, block).unsqueeze(1);
        const bool walks = (architecture == "rw" || architecture == "wl") && sum.p.defined();
        EXPECT_EQ(model.layer(l).factor(in).defined(), walks);
        if (walks) x = x * model.layer(l).factor(in).index_select(0, rows);
        squares = squares + (x * x).sum(1);
        expect_close(pass.baseline.sums[i], ops::gated_sum_reference(sum, block).detach(), 1e-5,
                     what);
      }
      expect_close(pass.score, squares.sqrt().detach(), 1e-5, what);
      state = model.step(l, state, block, inputs.links(), {});
    }
  }
}

TEST(Inference, WithSamplingIsExactIfTheFanoutCoversEveryRow) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200});
  const Inputs inputs(graph, no_scaling(graph));
  for (const std::string architecture : kAll) {
    const Model model = small_model(architecture, graph);
    const Outputs exact = infer(model, inputs, graph);
    const std::vector<int64_t> fanouts(static_cast<size_t>(model.block_count()), 60);
    for (const int64_t batch : {7, 1024}) {
      const Outputs sampled = infer_sampled(model, inputs, graph, fanouts, 1, batch);
      expect_close(sampled.logits, exact.logits, 1e-5, join(architecture, ", ", batch));
      expect_close(sampled.embedding, exact.embedding, 1e-5, "embedding");
    }
  }
}

TEST(Inference, WithSamplingDependsOnlyOnTheSeed) {
  const Graph graph = toy_graph({.nodes = 60, .links = 300});
  const Inputs inputs(graph, no_scaling(graph));
  const Model model = small_model("sage", graph);
  const std::vector<int64_t> fanouts = {2, 2};
  const auto logits = [&](uint64_t seed) {
    return infer_sampled(model, inputs, graph, fanouts, seed).logits;
  };
  EXPECT_TRUE(at::equal(logits(1), logits(1)));
  EXPECT_FALSE(at::equal(logits(1), logits(2)));
}

TEST(Inference, RejectsOutputsThatDoNotFitIntoMemory) {
  const Graph graph = toy_graph({.nodes = 20'000, .links = 10});
  const Inputs inputs(graph, no_scaling(graph));
  const Model model({.model = "sage", .widths = {2}},
                    {.node_features = graph.nodes.features.columns,
                     .link_attributes = graph.link_attributes.columns,
                     .outputs = 5000},
                    1);
  const MemoryLimit limit(100 << 20);
  expect_error([&] { infer(model, inputs, graph); }, {"the outputs for all nodes need"});
  const int64_t fanout[] = {1};
  expect_error([&] { infer_sampled(model, inputs, graph, fanout, 1); },
               {"the outputs for all nodes need"});
}

TEST(Inference, RejectsStatesThatDoNotFitIntoMemory) {
  const Graph graph = toy_graph({.nodes = 20'000, .links = 10});
  const Inputs inputs(graph, no_scaling(graph));
  const Model model({.model = "sage", .widths = {5000, 2}},
                    {.node_features = graph.nodes.features.columns,
                     .link_attributes = graph.link_attributes.columns,
                     .outputs = 2},
                    1);
  const MemoryLimit limit(100 << 20);
  expect_error([&] { infer(model, inputs, graph, Keep::kLogits, 1); },
               {"the states of all nodes need", "smaller widths"});
}

TEST(Inference, RejectsExactSumsThatDoNotFitIntoMemory) {
  const Graph graph = toy_graph({.nodes = 20'000, .links = 10, .features = 2000});
  const Inputs inputs(graph, no_scaling(graph));
  const Model model({.model = "sage", .widths = {2}, .project = 0},
                    {.node_features = graph.nodes.features.columns,
                     .link_attributes = graph.link_attributes.columns,
                     .outputs = 2},
                    1);
  const MemoryLimit limit(100 << 20);
  expect_error([&] { exact_pass(model, inputs, graph); },
               {"the exact sums of all nodes need", "refresh to lazy"});
}

TEST(NearestNodes, AreOrderedByTheCosine) {
  Random random(4);
  const at::Tensor embedding = random_tensor(random, {20, 5}).to(at::kFloat);
  const auto nearest = nearest_nodes(embedding, 3, 6);
  ASSERT_EQ(nearest.size(), 6U);
  const auto cosine = [&](int64_t u) {
    const at::Tensor a = embedding[3].to(at::kDouble);
    const at::Tensor b = embedding[u].to(at::kDouble);
    return (a.dot(b) / (a.norm() * b.norm())).item<double>();
  };
  for (size_t i = 0; i < nearest.size(); ++i) {
    EXPECT_NE(nearest[i].node, 3);
    EXPECT_NEAR(nearest[i].similarity, cosine(nearest[i].node), 1e-6);
    EXPECT_GE(nearest[i == 0 ? 0 : i - 1].similarity, nearest[i].similarity);
  }
  int64_t better = 0;
  const double last = cosine(nearest[5].node);
  for (int64_t u = 0; u < 20; ++u) better += u != 3 && cosine(u) > last ? 1 : 0;
  EXPECT_EQ(better, 5);
  EXPECT_EQ(nearest_nodes(embedding, 3, 100).size(), 19U);
}

}  // namespace
}  // namespace lase
