// The one operation of every architecture against its equations in plain loops, in double:
//
//   s(u) = Σ_i w_i λ_i h(v_i) ⊙ a(e_i)     λ = σ(p_u + q_v + V f(e))     a = σ(U f(e) + shift)
//
// with the gradients derived by hand.

#include "lase/ops/gated_sum.h"

#include <cmath>

#include "lase/model/options.h"

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
  Layout layout;
  Amplifier amplifier;
  Aggregate aggregate;
  bool gate;
  bool shift;
};

struct Example {
  Block block;
  Attributes attributes;
  ops::AttributeTensors f;
  ops::GatedSumInput in;
  Tensor outer;  // [targets, d]: the gradient from above
};

Example make_example(const Case& c, const Setting& setting) {
  Random random(7, c.targets, c.sources, setting.layout);
  Example example;
  const auto arcs = static_cast<int64_t>(c.row.size());
  constexpr int64_t kLinks = 5;
  std::vector<int64_t> source;
  std::vector<int64_t> link;
  std::vector<float> weight;
  for (int64_t i = 0; i < arcs; ++i) {
    source.push_back(static_cast<int64_t>(random.below(static_cast<uint64_t>(c.sources))));
    link.push_back(static_cast<int64_t>(random.below(kLinks)));
    weight.push_back(0.5F + static_cast<float>(random.below(8)) / 4);
  }
  example.block.sources = c.sources;
  example.block.target = at::arange(c.targets, at::kLong);
  example.block.row = index_tensor(c.row);
  example.block.source = index_tensor(source);
  example.block.link = index_tensor(link);
  example.block.weight = at::tensor(at::ArrayRef<float>(weight), at::kFloat);
  example.block.degree = at::ones({c.sources});
  example.attributes = random_attributes(random, setting.layout, kLinks, c.attributes);
  example.f = ops::AttributeTensors(example.attributes);
  to_double(example.f);
  auto& in = example.in;
  in.amplifier = setting.amplifier;
  in.aggregate = setting.aggregate;
  const auto parameter = [&](std::vector<int64_t> shape) {
    return random_tensor(random, std::move(shape)).requires_grad_(true);
  };
  in.h = parameter({c.sources, c.width});
  if (setting.amplifier != Amplifier::kNone) in.u = parameter({c.width, c.attributes});
  if (setting.amplifier != Amplifier::kNone && setting.shift) in.u_shift = parameter({c.width});
  if (setting.gate) {
    in.p = parameter({c.targets});
    in.q = parameter({c.sources});
    in.v = parameter({c.attributes});
  }
  example.outer = random_tensor(random, {c.targets, c.width});
  return example;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Reference {
  Tensor s, h, u, u_shift, p, q, v;  // the sum, and gradients of ⟨outer, s⟩
  Doubles gate;
  Matrix amplifier;
};

Reference reference(const Example& example) {
  const auto& [block, attributes, unused, in, outer_tensor] = example;
  const int64_t width = in.h.size(1);
  const int64_t k = attributes.columns;
  const auto at2 = [](const Tensor& t, int64_t i, int64_t j) {
    return t.data_ptr<double>()[i * t.size(1) + j];
  };
  const auto at1 = [](const Tensor& t, int64_t i) { return t.data_ptr<double>()[i]; };
  const auto add = [](Tensor& t, int64_t i, double x) { t.data_ptr<double>()[i] += x; };
  const Matrix f = to_rows(attributes);
  const auto* row = block.row.data_ptr<int64_t>();
  const auto* source = block.source.data_ptr<int64_t>();
  const auto* link = block.link.data_ptr<int64_t>();
  const auto* weight = block.weight.data_ptr<float>();
  Reference out;
  out.s = at::zeros({block.targets(), width}, at::kDouble);
  out.h = at::zeros({block.sources, width}, at::kDouble);
  out.u = at::zeros({width, k}, at::kDouble);
  out.u_shift = at::zeros({width}, at::kDouble);
  out.p = at::zeros({block.targets()}, at::kDouble);
  out.q = at::zeros({block.sources}, at::kDouble);
  out.v = at::zeros({k}, at::kDouble);
  Doubles total(static_cast<size_t>(block.targets()));
  for (int64_t i = 0; i < block.arcs(); ++i)
    total[static_cast<size_t>(row[i])] += double{weight[i]};
  // a(e), its derivative, and λ of each arc.
  Matrix slope;
  for (int64_t i = 0; i < block.arcs(); ++i) {
    const Doubles& x = f[static_cast<size_t>(link[i])];
    Doubles a(static_cast<size_t>(width), 1);
    Doubles da(static_cast<size_t>(width), 0);
    for (int64_t d = 0; d < width && in.amplifier != Amplifier::kNone; ++d) {
      double z = in.u_shift.defined() ? at1(in.u_shift, d) : 0;
      for (int64_t j = 0; j < k; ++j) z += at2(in.u, d, j) * x[static_cast<size_t>(j)];
      const bool curved = in.amplifier == Amplifier::kSigmoid;
      a[static_cast<size_t>(d)] = curved ? sigmoid(z) : z;
      da[static_cast<size_t>(d)] = curved ? sigmoid(z) * (1 - sigmoid(z)) : 1;
    }
    double gate = 1;
    if (in.p.defined()) {
      double z = at1(in.p, row[i]) + at1(in.q, source[i]);
      for (int64_t j = 0; j < k; ++j) z += at1(in.v, j) * x[static_cast<size_t>(j)];
      gate = sigmoid(z);
    }
    out.amplifier.push_back(a);
    slope.push_back(da);
    out.gate.push_back(gate);
  }
  // Each term counts with a factor: w, w / Σ w, or 1 for the largest and 0 for the others.
  const auto term = [&](int64_t i, int64_t d) {
    const auto n = static_cast<size_t>(i);
    return out.gate[n] * at2(in.h, source[i], d) * out.amplifier[n][static_cast<size_t>(d)];
  };
  const auto factor = [&](int64_t i, int64_t d) -> double {
    if (in.aggregate == Aggregate::kSum) return double{weight[i]};
    if (in.aggregate == Aggregate::kMean) {
      return double{weight[i]} / total[static_cast<size_t>(row[i])];
    }
    // The first of equal terms stands for all.
    for (int64_t j = 0; j < block.arcs(); ++j) {
      if (row[j] != row[i]) continue;
      if (term(j, d) > term(i, d) || (j < i && term(j, d) == term(i, d))) return 0;
    }
    return 1;
  };
  for (int64_t i = 0; i < block.arcs(); ++i) {
    const auto n = static_cast<size_t>(i);
    const Doubles& x = f[static_cast<size_t>(link[i])];
    double gate_gradient = 0;
    for (int64_t d = 0; d < width; ++d) {
      const double g = factor(i, d) * at2(outer_tensor, row[i], d);
      const double h = at2(in.h, source[i], d);
      const double a = out.amplifier[n][static_cast<size_t>(d)];
      add(out.s, row[i] * width + d, factor(i, d) * term(i, d));
      add(out.h, source[i] * width + d, g * out.gate[n] * a);
      const double dz = g * out.gate[n] * h * slope[n][static_cast<size_t>(d)];
      add(out.u_shift, d, dz);
      for (int64_t j = 0; j < k; ++j) add(out.u, d * k + j, dz * x[static_cast<size_t>(j)]);
      gate_gradient += g * h * a;
    }
    const double dz = gate_gradient * out.gate[n] * (1 - out.gate[n]);
    add(out.p, row[i], dz);
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
          }
        }
      }
    }
  }
}

std::string describe(const Case& c, const Setting& setting) {
  return c.name + ", " + std::string(layout_name(setting.layout)) + ", " +
         std::string(name_of(setting.amplifier)) + ", " + std::string(name_of(setting.aggregate)) +
         (setting.gate ? ", gate" : "");
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
      check(example.in.h, expected.h, "h");
      check(example.in.u, expected.u, "U");
      check(example.in.u_shift, expected.u_shift, "shift");
      check(example.in.p, expected.p, "p");
      check(example.in.q, expected.q, "q");
      check(example.in.v, expected.v, "V");
    });
  }
}

TEST(GatedSum, ShowsItsGatesAndAmplifiers) {
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

TEST(GatedSum, SumsWithoutAttributesWhereNothingReadsThem) {
  const Setting setting{Layout::kDense, Amplifier::kNone, Aggregate::kSum, true, false};
  Example example = make_example(cases()[0], setting);
  example.in.v = Tensor();  // no V, so that f is not touched
  example.in.f = nullptr;
  EXPECT_TRUE(ops::gated_sum(example.in, example.block).isfinite().all().item<bool>());
}

// In single precision, a large negative term is still a term.
TEST(GatedSum, TakesTheLargestOfNegativeTerms) {
  ops::GatedSumInput in;
  in.amplifier = Amplifier::kNone;
  in.aggregate = Aggregate::kMax;
  in.h = at::tensor({-3.0F, -1e30F, -2.0F}).unsqueeze(1);
  Block block;
  block.sources = 3;
  block.target = at::arange(3, at::kLong);
  block.row = index_tensor({0, 0, 2});
  block.source = index_tensor({0, 2, 1});
  block.link = index_tensor({0, 0, 0});
  block.weight = at::ones({3});
  const Tensor s = ops::gated_sum(in, block);
  EXPECT_EQ(s[0][0].item<float>(), -2);
  EXPECT_EQ(s[1][0].item<float>(), 0);
  EXPECT_EQ(s[2][0].item<float>(), -1e30F);
}

}  // namespace
}  // namespace lase
