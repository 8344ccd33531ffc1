// The result for a row does not depend on the other rows in the call: blocks are shuffled and
// split, and every row must be bitwise identical.

#include <numeric>

#include "lase/model/model.h"
#include "lase/ops/gated_sum.h"
#include "lase/ops/linear.h"
#include "lase/ops/row_dot.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using ops::Aggregate;
using ops::Amplifier;

// Row lengths around the tiles and runs of the kernel, long rows next to short ones.
const std::vector<int64_t> kLengths = {0, 1,    3,   5000, 2,   63, 64, 65, 0, 511, 512,
                                       1, 1025, 513, 30,   100, 1,  7,  17, 2, 2100};

struct Example {
  Block block;
  Attributes attributes;
  ops::AttributeTensors f;
  ops::GatedSumInput in;
  ops::GatedSumInput baseline;  // for gated_change
  Tensor factor;                // [targets, d]
  Tensor ds;                    // [targets, columns of s]
};

struct Setting {
  Layout layout;
  Amplifier amplifier;
  bool gate;
  int64_t width;
  int64_t attributes;
};

Tensor random_index(Random& random, int64_t n, int64_t below) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < n; ++i) {
    values.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(below))));
  }
  return index_tensor(values);
}

ops::GatedSumInput random_input(Random& random, const Setting& setting, int64_t targets,
                                int64_t sources) {
  ops::GatedSumInput in;
  in.amplifier = setting.amplifier;
  in.aggregate = Aggregate::kMean;
  in.links = setting.gate;
  in.h = {random_floats(random, {sources, setting.width}), {}};
  if (setting.amplifier != Amplifier::kNone) {
    in.u = random_floats(random, {setting.width, setting.attributes});
    in.u_shift = random_floats(random, {setting.width});
  }
  if (setting.gate) {
    in.p = random_floats(random, {targets});
    // Computed before the sum, or within it.
    const bool before = setting.width % 2 == 0;
    if (before) in.q = random_floats(random, {sources});
    if (!before) in.v_h = random_floats(random, {setting.width});
    in.v = random_floats(random, {setting.attributes});
  }
  return in;
}

Example make_example(const Setting& setting) {
  constexpr int64_t kSources = 60;
  constexpr int64_t kLinks = 50;
  Random random(11, setting.layout, setting.amplifier, setting.gate, setting.width);
  Example example;
  Block& block = example.block;
  const auto targets = std::ssize(kLengths);
  std::vector<int64_t> row_ptr = {0};
  for (const int64_t length : kLengths) row_ptr.push_back(row_ptr.back() + length);
  block.sources = kSources;
  block.target = at::arange(targets, at::kLong);
  block.row_ptr = index_tensor(row_ptr);
  block.source = random_index(random, row_ptr.back(), kSources).to(at::kInt);
  block.link = random_index(random, row_ptr.back(), kLinks).to(at::kInt);
  block.weight = random_floats(random, {row_ptr.back()});
  block.degree = at::arange(1, kSources + 1, at::kLong).to(at::kFloat);
  example.attributes = random_attributes(random, setting.layout, kLinks, setting.attributes);
  example.f = ops::AttributeTensors(example.attributes);
  example.in = random_input(random, setting, targets, kSources);
  example.baseline = random_input(random, setting, targets, kSources);
  example.factor = random_floats(random, {targets, setting.width});
  const int64_t columns = setting.width + (setting.gate ? 1 + setting.attributes : 0);
  example.ds = random_floats(random, {targets, columns});
  return example;
}

// The positions of the arcs of these rows, concatenated.
Tensor arcs_of(const Block& block, const std::vector<int64_t>& rows) {
  std::vector<int64_t> arcs;
  for (const int64_t u : rows) {
    const auto first = block.row_ptr[u].item<int64_t>();
    for (int64_t i = 0; i < kLengths[static_cast<size_t>(u)]; ++i) arcs.push_back(first + i);
  }
  return index_tensor(arcs);
}

Example take(const Example& whole, const std::vector<int64_t>& rows) {
  Example part = whole;
  const Tensor index = index_tensor(rows);
  const Tensor arcs = arcs_of(whole.block, rows);
  std::vector<int64_t> row_ptr = {0};
  for (const int64_t u : rows) {
    row_ptr.push_back(row_ptr.back() + kLengths[static_cast<size_t>(u)]);
  }
  part.block.row_ptr = index_tensor(row_ptr);
  part.block.target = whole.block.target.index_select(0, index);
  for (Tensor* x : {&part.block.source, &part.block.link, &part.block.weight}) {
    *x = x->index_select(0, arcs);
  }
  for (Tensor* x : {&part.in.p, &part.baseline.p, &part.factor, &part.ds}) {
    if (x->defined()) *x = x->index_select(0, index);
  }
  return part;
}

struct Results {
  Tensor s, change, gate, norm, dp;
};

Results compute(Example example) {
  example.in.f = example.baseline.f = &example.f;
  Results results;
  if (example.in.p.defined()) example.in.p = example.in.p.clone().requires_grad_(true);
  const Tensor s = ops::gated_sum(example.in, example.block);
  if (example.in.p.defined()) {
    (s * example.ds).sum().backward();
    results.dp = example.in.p.grad();
  }
  results.s = s.detach();
  results.change = ops::gated_change(example.in, example.baseline, example.block).detach();
  const auto score = [&](ops::Score kind) {
    return ops::gated_sum_with_scores(example.in, example.block, kind, example.factor).score;
  };
  results.gate = score(ops::Score::kGate);
  results.norm = score(ops::Score::kNorm);
  return results;
}

std::vector<std::vector<int64_t>> subsets() {
  const auto n = std::ssize(kLengths);
  std::vector<int64_t> all(static_cast<size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  std::vector<int64_t> backwards(all.rbegin(), all.rend());
  std::vector<int64_t> shuffled;
  for (int64_t u = 0; u < n; ++u) shuffled.push_back((u * 8 + 5) % n);
  const auto half = all.begin() + n / 2;
  std::vector<std::vector<int64_t>> result = {
      backwards, shuffled, {all.begin(), half}, {half, all.end()}};
  for (const int64_t u : all) result.push_back({u});
  return result;
}

TEST(FusedGatedSum, GivesARowTheSameBitsInEveryCall) {
  for (const Layout layout : kLayouts) {
    for (const auto amplifier : {Amplifier::kSigmoid, Amplifier::kLinear, Amplifier::kNone}) {
      for (const bool gate : {true, false}) {
        for (const auto& [width, attributes] : {std::pair{5, 33}, std::pair{70, 3}}) {
          const Example whole = make_example({layout, amplifier, gate, width, attributes});
          const Results expected = compute(whole);
          for (const auto& rows : subsets()) {
            const Results found = compute(take(whole, rows));
            const Tensor index = index_tensor(rows);
            const Tensor arcs = arcs_of(whole.block, rows);
            expect_same_bits(found.s, expected.s.index_select(0, index), "s");
            expect_same_bits(found.change, expected.change.index_select(0, index), "change");
            expect_same_bits(found.gate, expected.gate.index_select(0, arcs), "gate");
            expect_same_bits(found.norm, expected.norm.index_select(0, arcs), "norm");
            if (gate) expect_same_bits(found.dp, expected.dp.index_select(0, index), "dp");
            ASSERT_FALSE(testing::Test::HasFailure())
                << layout_name(layout) << " " << width << " " << rows.size() << " rows";
          }
        }
      }
    }
  }
}

TEST(Linear, GivesARowTheSameBitsInEveryCall) {
  Random random(12);
  for (const auto& [d, m] : {std::pair{1, 1}, {7, 3}, {64, 48}, {602, 64}, {129, 1}}) {
    const Tensor x = random_floats(random, {700, d});
    const Tensor w = random_floats(random, {m, d});
    const Tensor dy = random_floats(random, {700, m});
    const auto both = [&](const Tensor& index) {
      const Tensor rows = x.index_select(0, index).requires_grad_(true);
      const Tensor y = ops::linear({rows, {}}, w);
      y.backward(dy.index_select(0, index));
      return std::pair{y.detach(), rows.grad()};
    };
    const auto [y, dx] = both(at::arange(700, at::kLong));
    std::vector<Tensor> indices = {at::arange(699, -1, -1, at::kLong),
                                   random_index(random, 1000, 700), at::arange(0, 699, at::kLong),
                                   at::arange(3, 700, at::kLong)};
    for (int64_t i = 0; i < 700; i += 37) indices.push_back(index_tensor({i}));
    for (const Tensor& index : indices) {
      const auto [found, gradient] = both(index);
      expect_same_bits(found, y.index_select(0, index), "y");
      expect_same_bits(gradient, dx.index_select(0, index), "dx");
      expect_same_bits(ops::linear({x, index}, w), found, "by index");
      ASSERT_FALSE(testing::Test::HasFailure()) << d << " " << m << " " << index.size(0);
    }
  }
}

TEST(RowDot, GivesARowTheSameBitsInEveryCall) {
  Random random(13);
  for (const int64_t d : {1, 5, 16, 37, 602}) {
    const Tensor x = random_floats(random, {1300, d});
    const Tensor v = random_floats(random, {d});
    const Tensor y = ops::row_dot({x, {}}, v);
    const Tensor index = random_index(random, 700, 1300);
    expect_same_bits(ops::row_dot({x, index}, v), y.index_select(0, index), "shuffled");
    for (int64_t i = 0; i < 1300; i += 111) {
      expect_same_bits(ops::row_dot({x, index_tensor({i})}, v), y.slice(0, i, i + 1), "alone");
    }
  }
}

TEST(AttributeProduct, GivesARowTheSameBitsInEveryCall) {
  Random random(14);
  for (const Layout layout : kLayouts) {
    const Attributes matrix = random_attributes(random, layout, 600, 19);
    const ops::AttributeTensors f(matrix);
    const Tensor u = random_floats(random, {21, 19});
    const Tensor y = ops::attribute_product(f, at::arange(600, at::kLong), u);
    const Tensor index = random_index(random, 257, 600);
    expect_same_bits(ops::attribute_product(f, index, u), y.index_select(0, index), "shuffled");
    for (int64_t i = 0; i < 600; i += 59) {
      expect_same_bits(ops::attribute_product(f, index_tensor({i}), u), y.slice(0, i, i + 1),
                       "alone");
    }
  }
}

TEST(Model, GivesANodeTheSameBitsInEveryBatch) {
  const Graph graph = toy_graph({.nodes = 300, .links = 3000, .features = 9, .attributes = 5});
  const Inputs inputs(graph, fit_scaling(graph, std::vector<bool>(300, true), NodeScaling::kNone));
  for (const std::string name : {"sage", "rw", "wl", "concat", "gcn", "graphsage"}) {
    ModelOptions options;
    options.model = name;
    options.widths = {13, 13};
    const Model model(options, {.node_features = 9, .link_attributes = 5, .outputs = 3}, 1);
    const Tensor all =
        model.forward(inputs, whole_batch(graph, all_nodes(graph), model.block_count()), {});
    for (const auto& nodes : std::vector<std::vector<int64_t>>{{17}, {299}, {8, 200, 31}}) {
      const Tensor some = model.forward(inputs, whole_batch(graph, nodes, model.block_count()), {});
      expect_same_bits(some.detach(), all.detach().index_select(0, index_tensor(nodes)), name);
    }
  }
}

}  // namespace
}  // namespace lase
