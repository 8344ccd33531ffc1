#include "lase/ops/library.h"

#include <thread>

#include "lase/base/error.h"
#include "lase/ops/gated_sum.h"
#include "lase/ops/linear.h"
#include "lase/ops/row_dot.h"
#include "lase/ops/workspace.h"
#include "lase/sampler/sampler.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using ops::MaybeTensor;

TEST(Library, RegistersEveryOperator) {
  for (const char* name : {"gated_sum",
                           "gated_change",
                           "gated_sum_scores",
                           "gated_sum_backward",
                           "largest_arcs",
                           "adam_step",
                           "average_step",
                           "set_numbers",
                           "linear",
                           "linear_backward",
                           "cached_rows",
                           "concat_relu",
                           "concat_relu_backward",
                           "normalize_rows",
                           "normalize_rows_backward",
                           "scale_weights",
                           "scale_weights_backward",
                           "row_dot",
                           "row_dot_backward",
                           "sparse_rows",
                           "attribute_product",
                           "attribute_rows"}) {
    const auto found = c10::Dispatcher::singleton().findSchema({join("lase::", name), ""});
    EXPECT_TRUE(found.has_value()) << name;
  }
}

// With boxed values, as Python calls it.
TEST(Library, CallsOperatorsThroughTheDispatcher) {
  Random random(21);
  const Tensor x = random_floats(random, {300, 7});
  const Tensor w = random_floats(random, {5, 7});
  const Tensor v = random_floats(random, {7});
  const auto call = [](const char* name, std::vector<c10::IValue> stack) {
    const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, "");
    op.callBoxed(&stack);
    return stack;
  };
  const auto y = call("lase::linear", {x, c10::IValue(), w, 0.0, int64_t{0}, c10::IValue()});
  expect_same_bits(y[0].toTensor(), ops::linear({x, {}}, w), "linear");
  const auto dot = call("lase::row_dot", {x, c10::IValue(), v});
  expect_same_bits(dot[0].toTensor(), ops::row_dot({x, {}}, v), "row_dot");
}

TEST(Library, SumsThroughTheDispatcher) {
  const Graph graph = toy_graph({.nodes = 40, .links = 200, .attributes = 3});
  const Batch batch = whole_batch(graph, all_nodes(graph), 1);
  const Block& block = batch.blocks[0];
  Random random(22);
  const ops::AttributeTensors f(graph.link_attributes);
  ops::GatedSumInput in;
  in.h = {random_floats(random, {block.sources, 6}), {}};
  in.f = &f;
  in.u = random_floats(random, {6, 3});
  in.p = random_floats(random, {block.targets()});
  in.q = random_floats(random, {block.sources});
  using Signature = ops::TwoTensors(const ops::TensorList&, int64_t, int64_t,
                                    const ops::TensorList&, int64_t, bool, const ops::TensorList&);
  const auto op = ops::operator_named<Signature>("lase::gated_sum");
  const auto [s, gate] =
      op.call(ops::list_of({block.row_ptr, block.source, block.link, block.weight}),
              static_cast<int64_t>(f.layout), f.columns, ops::list_of({f.values}),
              static_cast<int64_t>(in.amplifier), in.links,
              ops::list_of({in.h.matrix, Tensor(), in.u, Tensor(), in.p, in.q}));
  expect_same_bits(s, ops::gated_sum(in, block), "s");
  expect_close(gate, ops::gates(in, block), 1e-6, "gate");
}

// The order precomputed by the sampler gives the same gradients as the backward pass without it.
TEST(Library, UsesTheSourceOrderOfABlock) {
  const Graph graph = toy_graph({.nodes = 60, .links = 500, .attributes = 3});
  const auto seeds = all_nodes(graph);
  const std::vector<int64_t> fanouts = {4, 5};
  const Batch plain = sample_batch(graph, seeds, {.fanouts = fanouts}, {});
  const Batch ordered = sample_batch(graph, seeds, {.fanouts = fanouts, .ordered_from = 1}, {});
  EXPECT_FALSE(ordered.blocks[0].by_source.defined());
  const Block& block = ordered.blocks[1];
  ASSERT_TRUE(block.by_source.defined() && block.arc_target.defined());
  EXPECT_FALSE(plain.blocks[1].by_source.defined());
  const Tensor by_source = block.source.index_select(0, block.by_source);
  EXPECT_TRUE((by_source.slice(0, 1) >= by_source.slice(0, 0, -1)).all().item<bool>());
  const auto gradient = [&](const Block& over) {
    Random random(23);
    ops::GatedSumInput in;
    in.amplifier = ops::Amplifier::kNone;
    const Tensor h = random_floats(random, {over.sources, 6}).requires_grad_(true);
    in.h = {h, {}};
    ops::gated_sum(in, over).pow(2).sum().backward();
    return h.grad();
  };
  expect_same_bits(gradient(block), gradient(plain.blocks[1]), "dh");
}

TEST(Library, MovesToTheSameDeviceWithoutCopies) {
  const Graph graph = toy_graph({.nodes = 30, .links = 90, .layout = Layout::kSparse});
  const at::Device cpu(at::kCPU);
  const Batch batch =
      sample_batch(graph, all_nodes(graph), {.fanouts = {2}, .ordered_from = 0}, {});
  const Batch moved = batch.to(cpu);
  EXPECT_TRUE(moved.nodes.is_same(batch.nodes));
  EXPECT_TRUE(moved.blocks[0].source.is_same(batch.blocks[0].source));
  EXPECT_TRUE(moved.blocks[0].by_source.is_same(batch.blocks[0].by_source));
  EXPECT_EQ(moved.blocks[0].sources, batch.blocks[0].sources);
  const ops::AttributeTensors f(graph.link_attributes);
  EXPECT_TRUE(f.to(cpu).values.is_same(f.values));
  EXPECT_TRUE(f.to(cpu).row_ptr.is_same(f.row_ptr));
  EXPECT_EQ(f.to(cpu).layout, Layout::kSparse);
  const ops::Rows rows{f.values.view({-1, 1}), batch.nodes};
  EXPECT_TRUE(rows.to(cpu).matrix.is_same(rows.matrix));
  EXPECT_TRUE(rows.to(cpu).index.is_same(rows.index));
  const Inputs inputs(graph, no_scaling(graph));
  expect_same_bits(inputs.to(cpu, graph, 0).rows(batch.nodes).dense(),
                   inputs.rows(batch.nodes).dense(), "inputs");
  Parameters parameters(3);
  const Tensor w = parameters.matrix("w", 4, 5);
  const void* previous = w.data_ptr();
  parameters.to(cpu);
  EXPECT_EQ(w.data_ptr(), previous);
}

constexpr int64_t kLarge = int64_t{1} << 20;  // floats

TEST(Workspace, ReusesABufferThatATensorReturned) {
  const Workspace workspace;
  const void* first = ops::empty({kLarge}).data_ptr();
  const Tensor again = ops::empty({kLarge - 5});  // of the same size class
  EXPECT_EQ(again.data_ptr(), first);
  const Tensor beside = ops::empty({kLarge});
  EXPECT_NE(beside.data_ptr(), first);
  // A small tensor does not occupy a large buffer.
  const void* place = ops::empty({4, 4}).data_ptr();
  EXPECT_NE(place, first);
}

TEST(Workspace, CanBeSharedWithAnotherThread) {
  Tensor outlives;
  {
    const Workspace workspace;
    const void* first = ops::empty({kLarge}).data_ptr();
    std::thread([pool = Workspace::share(), first] {
      EXPECT_EQ(Workspace::share(), nullptr);
      const Workspace joined(pool);
      EXPECT_EQ(ops::empty({kLarge}).data_ptr(), first);
    }).join();
    outlives = ops::empty({2, kLarge}).fill_(3);
  }
  EXPECT_EQ(Workspace::share(), nullptr);
  EXPECT_EQ(outlives.sum().item<float>(), 6 * static_cast<float>(kLarge));
}

TEST(Workspace, GathersRows) {
  const Workspace workspace;
  Random random(24);
  const Tensor matrix = random_floats(random, {50, 3000});
  const Tensor index = at::arange(400, at::kLong).remainder(50);
  expect_same_bits(ops::gather(matrix, index), matrix.index_select(0, index), "rows");
}

}  // namespace
}  // namespace lase
