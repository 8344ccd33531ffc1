// Compares gated_sum with its equations in plain loops, in double precision:
//
//   s(u) = Σ_i w_i λ_i h(v_i) ⊙ a(e_i)     λ = σ(p_u + q_v + V f(e))     a = σ(U f(e) + shift)
//
// with the gradients derived by hand.

#include "lase/ops/gated_sum.h"

#include <algorithm>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/model/options.h"
#include "lase/ops/row_dot.h"

#include "gpu_support.h"
#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;
using ops::Aggregate;
using ops::Amplifier;

struct Case {
  std::string name;
  int64_t targets;
  int64_t sources;
  int64_t width;
  int64_t attributes;
  std::vector<int64_t> row;  // the target of each arc, ascending
  int64_t links = 5;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"several rows, some empty", 6, 9, 4, 3, {1, 1, 1, 2, 2, 4, 4, 4, 4}},
      {"one link", 3, 3, 2, 2, {1}},
      {"no arcs", 2, 4, 3, 2, {}},
      {"width one", 3, 5, 1, 1, {0, 0, 1, 2, 2}},
      {"a row for each arc", 4, 4, 3, 2, {0, 1, 2, 3}},
  };
  return all;
}

struct Setting {
  Layout layout = Layout::kDense;
  Amplifier amplifier = Amplifier::kSigmoid;
  Aggregate aggregate = Aggregate::kSum;
  bool gate = false;
  bool shift = false;
  bool links = false;
};

struct Example {
  Block block;
  Attributes attributes;
  ops::AttributeTensors f;
  ops::GatedSumInput in;
  Tensor outer;  // [targets, d], or [targets, d + 1 + k] with links: the upstream gradient
};

std::vector<int64_t> row_pointers(const std::vector<int64_t>& row, int64_t targets) {
  std::vector<int64_t> row_ptr(static_cast<size_t>(targets) + 1);
  for (const int64_t u : row) ++row_ptr[static_cast<size_t>(u) + 1];
  for (size_t u = 1; u < row_ptr.size(); ++u) row_ptr[u] += row_ptr[u - 1];
  return row_ptr;
}

// In double precision, with values that are exact in float32.
Example make_example(const Case& c, const Setting& setting) {
  Random random(7, c.targets, c.sources, setting.layout);
  Example example;
  const auto arcs = static_cast<int64_t>(c.row.size());
  std::vector<int64_t> source;
  std::vector<int64_t> link;
  std::vector<float> weight;
  for (int64_t i = 0; i < arcs; ++i) {
    source.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(c.sources))));
    link.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(c.links))));
    weight.push_back(0.5F + static_cast<float>(random.below(8)) / 4);
  }
  example.block.sources = c.sources;
  example.block.target = at::arange(c.targets, at::kLong).remainder(c.sources);
  example.block.row_ptr = index_tensor(row_pointers(c.row, c.targets));
  example.block.source = index_tensor(source).to(at::kInt);
  example.block.link = index_tensor(link).to(at::kInt);
  example.block.weight = at::tensor(at::ArrayRef<float>(weight), at::kFloat);
  std::vector<float> degree;
  for (int64_t v = 0; v < c.sources; ++v) degree.push_back(static_cast<float>(1 + v * 5 % 9));
  example.block.degree = at::tensor(at::ArrayRef<float>(degree), at::kFloat);
  example.attributes = random_attributes(random, setting.layout, c.links, c.attributes);
  example.f = ops::AttributeTensors(example.attributes);
  to_double(example.f);
  auto& in = example.in;
  in.amplifier = setting.amplifier;
  in.aggregate = setting.aggregate;
  in.links = setting.links;
  const auto parameter = [&](const std::vector<int64_t>& shape, double scale = 1) {
    const Tensor x = random_tensor(random, shape) * scale;
    return x.to(at::kFloat).to(at::kDouble).requires_grad_(true);
  };
  const double scale = 1 / std::sqrt(static_cast<double>(c.attributes));
  in.h = {parameter({c.sources, c.width}), {}};
  if (setting.amplifier != Amplifier::kNone) in.u = parameter({c.width, c.attributes}, scale);
  if (setting.amplifier != Amplifier::kNone && setting.shift) in.u_shift = parameter({c.width});
  if (setting.gate) {
    in.p = parameter({c.targets});
    in.q = parameter({c.sources});
    in.v = parameter({c.attributes}, scale);
  }
  const int64_t columns = c.width + (setting.links ? 1 + c.attributes : 0);
  example.outer = random_tensor(random, {c.targets, columns}).to(at::kFloat).to(at::kDouble);
  return example;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Reference {
  Tensor s, h, u, u_shift, p, q, v;  // the sum, and gradients of ⟨outer, s⟩
  Doubles gate;
  Matrix amplifier;
};

Reference reference(const Example& example) {
  const Block& block = example.block;
  const ops::GatedSumInput& in = example.in;
  const int64_t width = in.h.width();
  const int64_t k = example.attributes.columns;
  const auto at2 = [](const Tensor& t, int64_t i, int64_t j) {
    return t.data_ptr<double>()[i * t.size(1) + j];
  };
  const auto at1 = [](const Tensor& t, int64_t i) { return t.data_ptr<double>()[i]; };
  const auto add = [](Tensor& t, int64_t i, double x) { t.data_ptr<double>()[i] += x; };
  const Matrix f = to_rows(example.attributes);
  std::vector<int64_t> row;
  for (int64_t u = 0; u < block.targets(); ++u) {
    const int64_t arcs = (block.row_ptr[u + 1] - block.row_ptr[u]).item<int64_t>();
    row.insert(row.end(), static_cast<size_t>(arcs), u);
  }
  const auto* source = block.source.data_ptr<int32_t>();
  const auto* link = block.link.data_ptr<int32_t>();
  const auto* weight = block.weight.data_ptr<float>();
  Reference out;
  const int64_t columns = example.outer.size(1);  // of s
  out.s = at::zeros({block.targets(), columns}, at::kDouble);
  out.h = at::zeros({block.sources, width}, at::kDouble);
  out.u = at::zeros({width, k}, at::kDouble);
  out.u_shift = at::zeros({width}, at::kDouble);
  out.p = at::zeros({block.targets()}, at::kDouble);
  out.q = at::zeros({block.sources}, at::kDouble);
  out.v = at::zeros({k}, at::kDouble);
  const auto* degree = block.degree.data_ptr<float>();
  // a(e), its derivative, and λ of each arc.
  Matrix slope;
  for (int64_t i = 0; i < block.arcs(); ++i) {
    const Doubles& x = f[static_cast<size_t>(link[i])];
    Doubles a(static_cast<size_t>(width), 1);
    Doubles da(static_cast<size_t>(width), 0);
    for (int64_t d = 0; d < width && in.amplifier != Amplifier::kNone; ++d) {
      double z = in.u_shift.defined() ? at1(in.u_shift, d) : 0;
      for (int64_t j = 0; j < k; ++j) z += at2(in.u, d, j) * x[static_cast<size_t>(j)];
      const bool nonlinear = in.amplifier == Amplifier::kSigmoid;
      a[static_cast<size_t>(d)] = nonlinear ? sigmoid(z) : z;
      da[static_cast<size_t>(d)] = nonlinear ? sigmoid(z) * (1 - sigmoid(z)) : 1;
    }
    double gate = 1;
    if (in.p.defined()) {
      double z = at1(in.p, row[static_cast<size_t>(i)]) + at1(in.q, source[i]);
      for (int64_t j = 0; j < k; ++j) z += at1(in.v, j) * x[static_cast<size_t>(j)];
      gate = sigmoid(z);
    }
    out.amplifier.push_back(a);
    slope.push_back(da);
    out.gate.push_back(gate);
  }
  // The factor of each term: w, w / |N(u)|, or 1 for the maximum and 0 for the others.
  const auto term = [&](int64_t i, int64_t d) {
    const auto n = static_cast<size_t>(i);
    return out.gate[n] * at2(in.h.matrix, source[i], d) * out.amplifier[n][static_cast<size_t>(d)];
  };
  const auto factor = [&](int64_t i, int64_t d) -> double {
    if (in.aggregate == Aggregate::kSum) return double{weight[i]};
    if (in.aggregate == Aggregate::kMean) {
      return double{weight[i]} / double{degree[row[static_cast<size_t>(i)] % block.sources]};
    }
    // Ties: the first term is the maximum.
    for (int64_t j = 0; j < block.arcs(); ++j) {
      if (row[static_cast<size_t>(j)] != row[static_cast<size_t>(i)]) continue;
      if (term(j, d) > term(i, d) || (j < i && term(j, d) == term(i, d))) return 0;
    }
    return 1;
  };
  for (int64_t i = 0; i < block.arcs(); ++i) {
    const auto n = static_cast<size_t>(i);
    const Doubles& x = f[static_cast<size_t>(link[i])];
    double gate_gradient = 0;
    for (int64_t d = 0; d < width; ++d) {
      const double g = factor(i, d) * at2(example.outer, row[static_cast<size_t>(i)], d);
      const double h = at2(in.h.matrix, source[i], d);
      const double a = out.amplifier[n][static_cast<size_t>(d)];
      add(out.s, row[static_cast<size_t>(i)] * columns + d, factor(i, d) * term(i, d));
      add(out.h, source[i] * width + d, g * out.gate[n] * a);
      const double dz = g * out.gate[n] * h * slope[n][static_cast<size_t>(d)];
      add(out.u_shift, d, dz);
      for (int64_t j = 0; j < k; ++j) add(out.u, d * k + j, dz * x[static_cast<size_t>(j)]);
      gate_gradient += g * h * a;
    }
    // The terms λ [1; f(e)] of the links themselves.
    for (int64_t d = width; d < columns; ++d) {
      const double value = d == width ? 1 : x[static_cast<size_t>(d - width - 1)];
      add(out.s, row[n] * columns + d, factor(i, 0) * out.gate[n] * value);
      gate_gradient += factor(i, 0) * at2(example.outer, row[n], d) * value;
    }
    const double dz = gate_gradient * out.gate[n] * (1 - out.gate[n]);
    add(out.p, row[static_cast<size_t>(i)], dz);
    add(out.q, source[i], dz);
    for (int64_t j = 0; j < k; ++j) add(out.v, j, dz * x[static_cast<size_t>(j)]);
  }
  return out;
}

template <class Visit>
void for_each_setting(const Visit& visit) {
  for (const Layout layout : kLayouts) {
    for (const auto amplifier : {Amplifier::kSigmoid, Amplifier::kLinear, Amplifier::kNone}) {
      for (const auto aggregate : {Aggregate::kSum, Aggregate::kMean, Aggregate::kMax}) {
        for (const bool gate : {true, false}) {
          for (const bool shift : {true, false}) {
            visit(Setting{layout, amplifier, aggregate, gate, shift});
            if (aggregate == Aggregate::kMax) continue;
            visit(Setting{layout, amplifier, aggregate, gate, shift, /*links=*/true});
          }
        }
      }
    }
  }
}

std::string describe(const Case& c, const Setting& setting) {
  return c.name + ", " + std::string(layout_name(setting.layout)) + ", " +
         std::string(name_of(setting.amplifier)) + ", " + std::string(name_of(setting.aggregate)) +
         (setting.gate ? ", gate" : "") + (setting.links ? ", links" : "");
}

constexpr double kTolerance = 1e-10;

TEST(GatedSum, FollowsItsEquationAndEveryGradient) {
  for (const Case& c : cases()) {
    for_each_setting([&](const Setting& setting) {
      Example example = make_example(c, setting);
      example.in.f = &example.f;
      const std::string what = describe(c, setting);
      const Reference expected = reference(example);
      const Tensor s = ops::gated_sum(example.in, example.block);
      expect_close(s, expected.s, kTolerance, "s, " + what);
      (s * example.outer).sum().backward();
      const auto check = [&](const Tensor& x, const Tensor& gradient, const std::string& name) {
        if (!x.defined()) return;
        const Tensor found = x.grad().defined() ? x.grad() : at::zeros_like(gradient);
        expect_close(found, gradient, kTolerance, name + ", " + what);
      };
      check(example.in.h.matrix, expected.h, "h");
      check(example.in.u, expected.u, "U");
      check(example.in.u_shift, expected.u_shift, "shift");
      check(example.in.p, expected.p, "p");
      check(example.in.q, expected.q, "q");
      check(example.in.v, expected.v, "V");
    });
  }
}

// Shapes that cover every path of the fused kernel: widths around the vectors and column tiles of
// each instruction set, attributes around its tiles, rows within and across the chunks of threads.
std::vector<Case> fused_cases() {
  std::vector<Case> all = cases();
  const auto spread = [](int64_t targets, int64_t arcs, uint64_t seed) {
    Random random(seed);
    std::vector<int64_t> row;
    for (int64_t i = 0; i < arcs; ++i) {
      // Half of the arcs belong to one long row.
      const bool hub = random.uniform() < 0.5;
      row.push_back(hub ? targets / 2
                        : static_cast<int64_t>(random.below(static_cast<uint64_t>(targets))));
    }
    std::sort(row.begin(), row.end());
    return row;
  };
  for (const int64_t width : {3, 4, 7, 8, 15, 16, 17, 31, 47, 48, 49, 65, 96, 100}) {
    all.push_back({join("width ", width), 9, 12, width, 5, spread(9, 70, 3), 6});
  }
  for (const int64_t k : {7, 8, 9, 31, 32, 33, 64, 70}) {
    all.push_back({join("attributes ", k), 9, 12, 20, k, spread(9, 70, 4), 40});
  }
  all.push_back({"many chunks", 150, 40, 18, 5, spread(150, 5000, 5), 30});
  return all;
}

Example in_single_precision(const Example& wide) {
  Example example = wide;
  example.f = ops::AttributeTensors(example.attributes);
  auto& in = example.in;
  for (Tensor* x : {&in.h.matrix, &in.u, &in.u_shift, &in.p, &in.q, &in.v}) {
    if (x->defined()) *x = x->detach().to(at::kFloat).requires_grad_(true);
  }
  example.outer = example.outer.to(at::kFloat);
  return example;
}

TEST(FusedGatedSum, FollowsItsEquationAndEveryGradient) {
  for (const Case& c : fused_cases()) {
    for_each_setting([&](const Setting& setting) {
      if (setting.aggregate == Aggregate::kMax) return;
      const Example wide = make_example(c, setting);
      const Reference expected = reference(wide);
      Example example = in_single_precision(wide);
      example.in.f = &example.f;
      const std::string what = describe(c, setting);
      const Tensor s = ops::gated_sum(example.in, example.block);
      ASSERT_EQ(s.scalar_type(), at::kFloat);
      // Without fused multiply-add, sums over thousands of arcs are slightly less accurate.
      expect_close(s.to(at::kDouble), expected.s, 2e-5, "s, " + what);
      (s * example.outer).sum().backward();
      const auto check = [&](const Tensor& x, const Tensor& gradient, const std::string& name) {
        if (!x.defined()) return;
        const Tensor found = x.grad().defined() ? x.grad() : at::zeros_like(x);
        expect_close(found.to(at::kDouble), gradient, 1e-4, name + ", " + what);
      };
      check(example.in.h.matrix, expected.h, "h");
      check(example.in.u, expected.u, "U");
      check(example.in.u_shift, expected.u_shift, "shift");
      check(example.in.p, expected.p, "p");
      check(example.in.q, expected.q, "q");
      check(example.in.v, expected.v, "V");
    });
  }
}

// The same example on a GPU.
Example on_gpu(const Example& wide) {
  const at::Device gpu(at::kCUDA, 0);
  Example example = in_single_precision(wide);
  example.f = example.f.to(gpu);
  example.block = example.block.to(gpu);
  auto& in = example.in;
  for (Tensor* x : {&in.h.matrix, &in.u, &in.u_shift, &in.p, &in.q, &in.v}) {
    if (x->defined()) *x = x->detach().to(gpu).requires_grad_(true);
  }
  example.outer = example.outer.to(gpu);
  return example;
}

// A part of fused_cases(): each setting takes as long as its many small launches.
std::vector<Case> gpu_cases() {
  std::vector<Case> some = cases();
  for (const Case& c : fused_cases()) {
    const bool wide = c.width == 16 || c.width == 17 || c.width == 100;
    const bool attributed = c.attributes == 8 || c.attributes == 33 || c.attributes == 70;
    if (wide || attributed || c.name == "many chunks") some.push_back(c);
  }
  return some;
}

TEST(GpuGatedSum, FollowsItsEquationAndEveryGradient) {
  LASE_NEEDS_GPU();
  for (const Case& c : gpu_cases()) {
    for_each_setting([&](const Setting& setting) {
      const Example wide = make_example(c, setting);
      const Reference expected = reference(wide);
      const std::string what = describe(c, setting);
      std::vector<Tensor> first;
      const int repetitions = c.name == "many chunks" ? 2 : 1;
      for (int repetition = 0; repetition < repetitions; ++repetition) {
        Example example = on_gpu(wide);
        example.in.f = &example.f;
        const Tensor s = ops::gated_sum(example.in, example.block);
        expect_close(s.cpu().to(at::kDouble), expected.s, 2e-5, "s, " + what);
        (s * example.outer).sum().backward();
        const auto& in = example.in;
        std::vector<Tensor> found = {s.detach()};
        const auto check = [&](const Tensor& x, const Tensor& gradient, const std::string& name) {
          if (!x.defined()) return;
          found.push_back(x.grad().defined() ? x.grad() : at::zeros_like(x));
          expect_close(found.back().cpu().to(at::kDouble), gradient, 1e-4, name + ", " + what);
        };
        check(in.h.matrix, expected.h, "h");
        check(in.u, expected.u, "U");
        check(in.u_shift, expected.u_shift, "shift");
        check(in.p, expected.p, "p");
        check(in.q, expected.q, "q");
        check(in.v, expected.v, "V");
        // The maximum is composed of torch's operations.
        if (setting.aggregate == Aggregate::kMax) continue;
        if (first.empty()) first = found;
        for (size_t i = 0; i < found.size(); ++i) {
          expect_same_bits(found[i].cpu(), first[i].cpu(), "repetition, " + what);
        }
      }
    });
  }
}

TEST(GpuGatedSum, GivesTheScoresOfTheCpu) {
  LASE_NEEDS_GPU();
  for (const Case& c : fused_cases()) {
    for (const Layout layout : kLayouts) {
      const Setting setting{layout, Amplifier::kSigmoid, Aggregate::kMean, true, true};
      const Example wide = make_example(c, setting);
      Example cpu = in_single_precision(wide);
      cpu.in.f = &cpu.f;
      Example gpu = on_gpu(wide);
      gpu.in.f = &gpu.f;
      Random random(8);
      const Tensor factor = random_floats(random, {c.targets, c.width});
      for (const ops::Score score : {ops::Score::kGate, ops::Score::kNorm}) {
        const auto expected = ops::gated_sum_with_scores(cpu.in, cpu.block, score, factor);
        const auto found =
            ops::gated_sum_with_scores(gpu.in, gpu.block, score, factor.to(gpu.outer.device()));
        expect_close(found.s.cpu(), expected.s, 1e-5, "s, " + c.name);
        expect_close(found.score.cpu(), expected.score, 1e-5, "scores, " + c.name);
      }
    }
  }
}

TEST(GpuGatedSum, EstimatesChangesAsTheCpu) {
  LASE_NEEDS_GPU();
  const Case c = fused_cases().back();
  for (const Layout layout : kLayouts) {
    for (const bool links : {false, true}) {
      const Setting setting{layout, Amplifier::kSigmoid, Aggregate::kMean, true, true, links};
      const Example wide = make_example(c, setting);
      const auto change = [&](Example example) {
        example.in.f = &example.f;
        ops::GatedSumInput baseline = example.in;
        baseline.h.matrix = baseline.h.matrix.detach() * 0.9;
        baseline.u = baseline.u.detach() * 1.1;
        return ops::gated_change(example.in, baseline, example.block).detach().cpu();
      };
      expect_close(change(on_gpu(wide)), change(in_single_precision(wide)), 1e-4, "change");
    }
  }
}

// Rows of h through an index: the same sum, and the same gradients except for h.
TEST(FusedGatedSum, ReadsRowsThroughAnIndex) {
  const Case c{"index", 9, 12, 50, 5, {0, 0, 1, 1, 1, 3, 5, 5, 8}, 6};
  for (const Layout layout : kLayouts) {
    const Setting setting{layout, Amplifier::kSigmoid, Aggregate::kSum, true, true};
    Example plain = in_single_precision(make_example(c, setting));
    plain.in.f = &plain.f;
    Example indexed = in_single_precision(make_example(c, setting));
    indexed.in.f = &indexed.f;
    const Tensor reversed = at::arange(c.sources - 1, -1, -1, at::kLong);
    indexed.in.h = {plain.in.h.matrix.detach().index_select(0, reversed), reversed};
    const Tensor s = ops::gated_sum(plain.in, plain.block);
    const Tensor t = ops::gated_sum(indexed.in, indexed.block);
    expect_same_bits(t, s, "s");
    (s * plain.outer).sum().backward();
    (t * plain.outer).sum().backward();
    expect_close(indexed.in.u.grad(), plain.in.u.grad(), 1e-5, "U");
    expect_close(indexed.in.q.grad(), plain.in.q.grad(), 1e-5, "q");
  }
}

// q_v = ⟨V_v, h(v)⟩ computed within the sum: the same bits as with q, and the gradient hᵀ dq.
TEST(FusedGatedSum, ComputesTheGatesTermsOfSources) {
  for (const Case& c : fused_cases()) {
    for_each_setting([&](const Setting& setting) {
      if (setting.aggregate == Aggregate::kMax || !setting.gate) return;
      Example wide = make_example(c, setting);
      Random random(9);
      const Tensor v_h = random_floats(random, {c.width}) / std::sqrt(static_cast<float>(c.width));
      const Tensor h = wide.in.h.matrix.detach();
      wide.in.q = h.matmul(v_h.to(at::kDouble));
      const Reference expected = reference(wide);
      Example example = in_single_precision(wide);
      auto& in = example.in;
      in.f = &example.f;
      in.h.matrix = in.h.matrix.detach();
      in.q = ops::row_dot(in.h, v_h);
      const Tensor with_q = ops::gated_sum(in, example.block).detach();
      in.q = Tensor();
      in.v_h = v_h.clone().requires_grad_();
      const Tensor s = ops::gated_sum(in, example.block);
      const std::string what = describe(c, setting);
      expect_same_bits(s.detach(), with_q, what);
      expect_close(s.to(at::kDouble), expected.s, 2e-5, "s, " + what);
      (s * example.outer).sum().backward();
      expect_close(in.v_h.grad().to(at::kDouble), h.t().matmul(expected.q), 1e-4, "V_v, " + what);
      expect_close(in.p.grad().to(at::kDouble), expected.p, 1e-4, "p, " + what);
      const auto scores = ops::gated_sum_with_scores(in, example.block, ops::Score::kGate);
      for (int64_t i = 0; i < example.block.arcs(); ++i) {
        ASSERT_NEAR(scores.score[i].item<double>(), expected.gate[static_cast<size_t>(i)], 1e-6);
      }
      // Only one of the two states may need a gradient.
      ops::GatedSumInput baseline = in;
      for (const bool by_q : {false, true}) {
        baseline.v_h = by_q ? Tensor() : v_h * 0.5;
        baseline.q = by_q ? at::zeros({c.sources}) : Tensor();
        const Tensor change = ops::gated_change(in, baseline, example.block);
        const Tensor sum = change + ops::gated_sum_reference(baseline, example.block);
        expect_close(sum.detach(), s.detach(), 2e-4, "change, " + what);
      }
    });
  }
}

// The composed operations for the maximum would compute q for all sources of a block.
TEST(FusedGatedSum, ComputesTheGatesTermsOfSourcesOnlyInSumsOfFewArcs) {
  const auto fuses = [](int64_t arcs, Aggregate aggregate, bool needs_gradient) {
    Block block;
    block.sources = 10;
    block.source = at::zeros({arcs}, at::kInt);
    ops::GatedSumInput in;
    in.h = {at::zeros({10, 3}).requires_grad_(needs_gradient), {}};
    in.aggregate = aggregate;
    return ops::fuses_gate(in, block);
  };
  EXPECT_TRUE(fuses(10, Aggregate::kMean, false));
  EXPECT_TRUE(fuses(10, Aggregate::kSum, false));
  EXPECT_FALSE(fuses(10, Aggregate::kMax, false));
  EXPECT_FALSE(fuses(10, Aggregate::kMean, true));
  EXPECT_FALSE(fuses(1000, Aggregate::kMean, false));
}

TEST(FusedGatedSum, GivesTheSameBitsForAnyNumberOfThreads) {
  const Case c = fused_cases().back();
  for (const Layout layout : kLayouts) {
    const Setting setting{layout,        Amplifier::kSigmoid, Aggregate::kMean, true, true,
                          /*links=*/true};
    std::vector<Tensor> first;
    for (const int count : {1, 2, 3, 7}) {
      const ThreadLimit limit(count);
      Example example = in_single_precision(make_example(c, setting));
      example.in.f = &example.f;
      const Tensor s = ops::gated_sum(example.in, example.block);
      (s * example.outer).sum().backward();
      const auto& in = example.in;
      const std::vector<Tensor> found = {s.detach(),       in.h.matrix.grad(), in.u.grad(),
                                         in.p.grad(),      in.q.grad(),        in.v.grad(),
                                         in.u_shift.grad()};
      if (first.empty()) first = found;
      for (size_t i = 0; i < found.size(); ++i) expect_same_bits(found[i], first[i], "threads");
    }
  }
}

TEST(FusedGatedSum, GivesTheNormOfEveryTerm) {
  for (const Case& c : fused_cases()) {
    for (const Layout layout : kLayouts) {
      for (const bool with_factor : {false, true}) {
        const Setting setting{layout, Amplifier::kSigmoid, Aggregate::kSum, true, true};
        const Example wide = make_example(c, setting);
        const Reference expected = reference(wide);
        Example example = in_single_precision(wide);
        example.in.f = &example.f;
        Random random(8);
        const Tensor factor = random_tensor(random, {c.targets, c.width});
        const auto found =
            ops::gated_sum_with_scores(example.in, example.block, ops::Score::kNorm,
                                       with_factor ? factor.to(at::kFloat) : Tensor());
        const auto by_gate =
            ops::gated_sum_with_scores(example.in, example.block, ops::Score::kGate);
        expect_close(by_gate.s, found.s, 1e-6, "s, " + c.name);
        expect_close(found.s.to(at::kDouble), expected.s, 1e-5, "s, " + c.name);
        Doubles norms;
        for (size_t i = 0; i < c.row.size(); ++i) {
          const auto v = wide.block.source[static_cast<int64_t>(i)].item<int64_t>();
          double squares = 0;
          for (int64_t d = 0; d < c.width; ++d) {
            const double x = wide.in.h.matrix[v][d].item<double>() *
                             expected.amplifier[i][static_cast<size_t>(d)] *
                             (with_factor ? factor[c.row[i]][d].item<double>() : 1);
            squares += x * x;
          }
          norms.push_back(expected.gate[i] * std::sqrt(squares));
        }
        ASSERT_EQ(found.score.size(0), static_cast<int64_t>(norms.size()));
        for (size_t i = 0; i < norms.size(); ++i) {
          const auto at = static_cast<int64_t>(i);
          ASSERT_NEAR(found.score[at].item<double>(), norms[i], 1e-5 * (1 + norms[i])) << c.name;
          ASSERT_NEAR(by_gate.score[at].item<double>(), expected.gate[i], 1e-6) << c.name;
        }
      }
    }
  }
}

// Compared with the difference of two sums; the baseline receives no gradient.
TEST(GatedSum, GivesTheChangeFromABaseline) {
  for (const Case& c : fused_cases()) {
    for_each_setting([&](const Setting& setting) {
      if (setting.aggregate == Aggregate::kMax) return;
      const Example wide = make_example(c, setting);
      for (const bool single : {true, false}) {
        Example example = single ? in_single_precision(wide) : make_example(c, setting);
        example.in.f = &example.f;
        ops::GatedSumInput baseline = example.in;
        for (Tensor* x : {&baseline.h.matrix, &baseline.u, &baseline.u_shift, &baseline.p,
                          &baseline.q, &baseline.v}) {
          if (x->defined()) *x = (x->detach() * 0.75 + 0.125).requires_grad_(true);
        }
        const Tensor baseline_sum = ops::gated_sum_reference(baseline, example.block).detach();
        const Tensor change = ops::gated_change(example.in, baseline, example.block);
        const double tolerance = single ? 2e-4 : kTolerance;
        const std::string what = describe(c, setting);
        const Reference expected = reference(wide);
        expect_close((change + baseline_sum).to(at::kDouble), expected.s, tolerance, what);
        (change * example.outer).sum().backward();
        EXPECT_FALSE(baseline.h.matrix.grad().defined());
        if (c.row.empty()) return;
        expect_close(example.in.h.matrix.grad().to(at::kDouble), expected.h, tolerance, what);
        if (example.in.u.defined()) {
          expect_close(example.in.u.grad().to(at::kDouble), expected.u, 1e-4, what);
        }
      }
    });
  }
}

TEST(GatedSum, ReturnsGatesAndAmplifiers) {
  for (const Case& c : cases()) {
    for_each_setting([&](const Setting& setting) {
      Example example = make_example(c, setting);
      example.in.f = &example.f;
      const Reference expected = reference(example);
      const Tensor gates = ops::gates(example.in, example.block);
      const Tensor amplifiers = ops::amplifiers(example.in, example.block);
      ASSERT_EQ(gates.dim(), 1);
      ASSERT_EQ(amplifiers.sizes(), (at::IntArrayRef{example.block.arcs(), c.width}));
      const Doubles found = to_doubles(gates);
      ASSERT_EQ(found.size(), expected.gate.size());
      for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected.gate[i], kTolerance);
      if (!expected.amplifier.empty()) {
        expect_close(amplifiers, to_tensor(expected.amplifier), kTolerance, describe(c, setting));
      }
    });
  }
}

TEST(GatedSum, DoesNotNeedAttributesIfNothingReadsThem) {
  const Setting setting{Layout::kDense, Amplifier::kNone, Aggregate::kSum, true, false};
  Example example = make_example(cases()[0], setting);
  example.in.f = &example.f;
  example.in.v = Tensor();  // no V, so f is not read
  const Tensor expected = ops::gated_sum(example.in, example.block);
  example.in.f = nullptr;
  expect_close(ops::gated_sum(example.in, example.block), expected, kTolerance, "s");
}

// A large negative term in float32 is not mistaken for an empty row.
TEST(GatedSum, TakesTheLargestOfNegativeTerms) {
  ops::GatedSumInput in;
  in.amplifier = Amplifier::kNone;
  in.aggregate = Aggregate::kMax;
  in.h = {at::tensor({-3.0F, -1e30F, -2.0F}).unsqueeze(1), {}};
  Block block;
  block.sources = 3;
  block.target = at::arange(3, at::kLong);
  block.row_ptr = index_tensor({0, 2, 2, 3});
  block.source = index_tensor({0, 2, 1}).to(at::kInt);
  block.link = index_tensor({0, 0, 0}).to(at::kInt);
  const Tensor s = ops::gated_sum(in, block);
  EXPECT_EQ(s[0][0].item<float>(), -2);
  EXPECT_EQ(s[1][0].item<float>(), 0);
  EXPECT_EQ(s[2][0].item<float>(), -1e30F);
}

}  // namespace
}  // namespace lase
