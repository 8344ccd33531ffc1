// Inference layer by layer against the same model on one batch of whole neighbourhoods.

#include "lase/eval/inference.h"

#include "lase/base/error.h"

#include "torch_support.h"

namespace lase {
namespace {

constexpr Architecture kAll[] = {
    Architecture::kSage, Architecture::kRw,        Architecture::kWl, Architecture::kConcat,
    Architecture::kGcn,  Architecture::kGraphSage, Architecture::kRaw};

Model small_model(Architecture architecture, const Graph& graph) {
  ModelOptions options{.architecture = architecture, .widths = {5, 5}, .depth = 2};
  const ModelShape shape{.node_features = graph.nodes.features.columns,
                         .link_attributes = graph.link_attributes.columns,
                         .outputs = 3};
  return {options, shape, 1};
}

TEST(Inference, EqualsTheModelOnWholeNeighborhoodsForAnyStretch) {
  for (const Layout layout : kLayouts) {
    const Graph graph =
        toy_graph({.nodes = 60, .links = 200, .layout = layout, .feature_layout = layout});
    const Inputs inputs(graph, no_scaling(graph));
    for (const Architecture architecture : kAll) {
      const Model model = small_model(architecture, graph);
      const Batch batch = whole_batch(graph, all_nodes(graph), model.block_count());
      const at::Tensor expected = model.forward(inputs, batch, {}).detach();
      for (const int64_t arcs : {1, 7, 100, 1 << 17}) {
        const Outputs outputs = infer(model, inputs, all_neighborhoods(graph), arcs);
        const std::string what = join(name_of(architecture), ", ", arcs, " arcs");
        expect_close(outputs.logits, expected, 1e-5, what);
        EXPECT_EQ(outputs.embedding.size(0), graph.node_count());
        EXPECT_FALSE(outputs.logits.requires_grad());
      }
    }
  }
}

TEST(Inference, ByDrawsEqualsTheExactOneWhereEveryRowIsDrawnWhole) {
  const Graph graph = toy_graph({.nodes = 60, .links = 200});
  const Inputs inputs(graph, no_scaling(graph));
  for (const Architecture architecture : kAll) {
    const Model model = small_model(architecture, graph);
    const Outputs exact = infer(model, inputs, all_neighborhoods(graph));
    const std::vector<int64_t> fanouts(static_cast<size_t>(model.block_count()), 60);
    for (const int64_t batch : {7, 1024}) {
      const Outputs drawn =
          infer_sampled(model, inputs, all_neighborhoods(graph), fanouts, 1, batch);
      expect_close(drawn.logits, exact.logits, 1e-5, join(name_of(architecture), ", ", batch));
      expect_close(drawn.embedding, exact.embedding, 1e-5, "embedding");
    }
  }
}

TEST(Inference, ByDrawsDependsOnItsSeedAlone) {
  const Graph graph = toy_graph({.nodes = 60, .links = 300});
  const Inputs inputs(graph, no_scaling(graph));
  const Model model = small_model(Architecture::kSage, graph);
  const std::vector<int64_t> fanouts = {2, 2};
  const auto logits = [&](uint64_t seed) {
    return infer_sampled(model, inputs, all_neighborhoods(graph), fanouts, seed).logits;
  };
  EXPECT_TRUE(at::equal(logits(1), logits(1)));
  EXPECT_FALSE(at::equal(logits(1), logits(2)));
}

}  // namespace
}  // namespace lase
