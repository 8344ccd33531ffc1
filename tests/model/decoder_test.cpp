#include "lase/model/decoder.h"

#include "lase/sampler/pair_statistics.h"

#include "torch_support.h"

namespace lase {
namespace {

using at::Tensor;

constexpr int64_t kNodes = 7;
constexpr int64_t kWidth = 4;
constexpr int64_t kLinks = 5;
constexpr int64_t kAttributes = 3;

// A decoder in double precision with random parameters, and random pairs to score.
struct Toy {
  Toy(DecoderChoice choice, int64_t attributes, bool symmetric, int64_t outputs = 1)
      : parameters(2), shape{kWidth, attributes, outputs, symmetric} {
    ModelOptions options;
    options.decoder = choice;
    options.decoder_width = 6;
    decoder = make_decoder(options, parameters, shape);
    to_double(parameters);
    Random random(5);
    for (auto& [name, value] : parameters.all()) {
      value.set_data(random_tensor(random, value.sizes().vec()));
    }
    h = random_tensor(random, {kNodes, kWidth}).requires_grad_();
    const Attributes f = random_attributes(random, Layout::kDense, kLinks, attributes);
    links.f = ops::AttributeTensors(f);
    to_double(links.f);
    if (attributes > 0) {
      links.mean = random_tensor(random, {attributes});
      links.scale = random_tensor(random, {attributes});
    }
    pairs.source = index_tensor({0, 3, 6, 2, 2, 5, 1});
    pairs.target = index_tensor({1, 4, 0, 2, 6, 3, 0});
    if (attributes > 0) pairs.link = index_tensor({4, 0, 1, 1, 3, 2, 0});
    if (decoder->reads_statistics()) pairs.statistics = random_tensor(random, {7, kPairStatistics});
  }

  Tensor scores() const { return decoder->forward(h, pairs, links, {}); }
  Matrix parameter(const std::string& name) const {
    for (const auto& [key, value] : parameters.all()) {
      if (key == "decoder." + name) return to_rows(value.dim() == 1 ? value.unsqueeze(1) : value);
    }
    ADD_FAILURE() << "no parameter " << name;
    return {};
  }
  bool has(const std::string& name) const {
    for (const auto& [key, value] : parameters.all()) {
      if (key == "decoder." + name) return true;
    }
    return false;
  }
  // The attributes of the link of pair i, standardized.
  Doubles attributes_of(int64_t i) const {
    if (!pairs.link.defined()) return {};
    const Tensor f = links.f.values[pairs.link[i].item<int64_t>()];
    return to_doubles((f - links.mean) * links.scale);
  }
  Doubles row_of(const Tensor& end, int64_t i) const {
    return to_doubles(h[end[i].item<int64_t>()]);
  }

  Parameters parameters;
  DecoderShape shape;
  std::unique_ptr<Decoder> decoder;
  Tensor h;
  LinkAttributes links;
  Pairs pairs;
};

Doubles product(const Matrix& w, const Doubles& x) {
  Doubles y;
  for (const auto& weights : w) {
    double sum = 0;
    for (size_t j = 0; j < x.size(); ++j) sum += weights[j] * x[j];
    y.push_back(sum);
  }
  return y;
}

Doubles expected_outputs(DecoderChoice choice, const Toy& toy, int64_t pair) {
  const Doubles u = toy.row_of(toy.pairs.source, pair);
  const Doubles v = toy.row_of(toy.pairs.target, pair);
  const Doubles e = toy.attributes_of(pair);
  const Matrix bias = toy.parameter("bias");
  if (choice == DecoderChoice::kDot) {
    double dot = 0;
    for (size_t j = 0; j < u.size(); ++j) dot += u[j] * v[j];
    return {toy.parameter("scale")[0][0] * dot + bias[0][0]};
  }
  const bool symmetric = toy.shape.symmetric;
  const Doubles from = product(toy.parameter("source"), u);
  const Doubles to = product(toy.parameter(symmetric ? "source" : "target"), v);
  if (choice == DecoderChoice::kBilinear) {
    const Matrix diagonal = toy.parameter("diagonal");
    Doubles relation(from.size(), 0);
    if (!e.empty()) relation = product(toy.parameter("relation"), e);
    double sum = 0;
    for (size_t j = 0; j < from.size(); ++j) {
      sum += from[j] * diagonal[j][0] * (1 + relation[j]) * to[j];
    }
    return {sum + bias[0][0]};
  }
  const auto width = from.size() / 2;
  const Doubles statistics =
      product(toy.parameter("statistics"), to_doubles(toy.pairs.statistics[pair]));
  Doubles own(width, 0);
  if (!e.empty()) own = product(toy.parameter("attributes"), e);
  const Matrix hidden_bias = toy.parameter("hidden_bias");
  Doubles z;
  for (size_t j = 0; j < width; ++j) {
    z.push_back(std::max(0.0, from[j] + to[j] + from[width + j] * to[width + j] + own[j] +
                                  statistics[j] + hidden_bias[j][0]));
  }
  Doubles outputs = product(toy.parameter("out"), z);
  for (size_t c = 0; c < outputs.size(); ++c) outputs[c] += bias[c][0];
  return outputs;
}

struct Case {
  DecoderChoice choice = DecoderChoice::kDot;
  int64_t attributes = 0;
  bool symmetric = false;
  int64_t outputs = 1;
};
constexpr Case kCases[] = {{DecoderChoice::kDot, 0, true},
                           {DecoderChoice::kDot, kAttributes, false},
                           {DecoderChoice::kBilinear, 0, true},
                           {DecoderChoice::kBilinear, 0, false},
                           {DecoderChoice::kBilinear, kAttributes, false},
                           {DecoderChoice::kMlp, 0, true},
                           {DecoderChoice::kMlp, 0, false},
                           {DecoderChoice::kMlp, kAttributes, true, 3},
                           {DecoderChoice::kMlp, kAttributes, false, 3}};

TEST(Decoder, ComputesItsFormula) {
  for (const auto& [choice, attributes, symmetric, outputs] : kCases) {
    const Toy toy(choice, attributes, symmetric, outputs);
    Matrix expected;
    for (int64_t i = 0; i < toy.pairs.source.size(0); ++i) {
      expected.push_back(expected_outputs(choice, toy, i));
    }
    expect_close(toy.scores(), to_tensor(expected), 1e-12, std::string(name_of(choice)));
  }
}

TEST(Decoder, HasExactGradients) {
  for (const auto& [choice, attributes, symmetric, outputs] : kCases) {
    const Toy toy(choice, attributes, symmetric, outputs);
    Random random(9);
    const Tensor weights = random_tensor(random, {toy.pairs.source.size(0), outputs});
    const auto f = [&] { return (toy.scores() * weights).sum(); };
    expect_gradient(f, toy.h, "h");
    for (const auto& [name, value] : toy.parameters.all()) expect_gradient(f, value, name);
  }
}

TEST(Decoder, IsSymmetricIfRequested) {
  for (const auto& [choice, attributes, symmetric, outputs] : kCases) {
    Toy toy(choice, attributes, symmetric, outputs);
    const Tensor scores = toy.scores();
    std::swap(toy.pairs.source, toy.pairs.target);
    const Tensor exchanged = toy.scores();
    if (symmetric || choice == DecoderChoice::kDot) {
      expect_close(exchanged, scores, 1e-12, std::string(name_of(choice)));
    } else {
      EXPECT_FALSE(at::allclose(exchanged, scores)) << name_of(choice);
    }
  }
}

TEST(Decoder, ScoresThatAreProductsFollowFromTheirFactors) {
  for (const auto& [choice, attributes, symmetric, outputs] : kCases) {
    const Toy toy(choice, attributes, symmetric, outputs);
    ASSERT_EQ(toy.decoder->is_product(), choice != DecoderChoice::kMlp);
    ASSERT_EQ(toy.decoder->reads_statistics(), choice == DecoderChoice::kMlp);
    if (!toy.decoder->is_product()) continue;
    const auto [source, target] = toy.decoder->factors(toy.h);
    Tensor a = source.index_select(0, toy.pairs.source);
    if (toy.pairs.link.defined()) {
      const Tensor r = toy.decoder->relation(toy.links, toy.pairs.link);
      EXPECT_EQ(r.defined(), choice == DecoderChoice::kBilinear);
      if (r.defined()) a = a * r;
    }
    const Tensor all = at::matmul(a, target.t());  // each source with all nodes
    const Tensor own = all.gather(1, toy.pairs.target.unsqueeze(1));
    expect_close(own + toy.parameter("bias")[0][0], toy.scores(), 1e-12,
                 std::string(name_of(choice)));
  }
}

TEST(Decoder, WithoutAttributesHasNoWeightsForThem) {
  EXPECT_FALSE(Toy(DecoderChoice::kBilinear, 0, false).has("relation"));
  EXPECT_TRUE(Toy(DecoderChoice::kBilinear, 2, false).has("relation"));
  EXPECT_FALSE(Toy(DecoderChoice::kMlp, 0, false).has("attributes"));
  EXPECT_FALSE(Toy(DecoderChoice::kMlp, 0, true).has("target"));
}

TEST(Decoder, RejectsLabelsUnlessItIsAnMlp) {
  for (const auto choice : {DecoderChoice::kDot, DecoderChoice::kBilinear}) {
    expect_error([&] { Toy(choice, 0, false, 2); },
                 {"decoder", std::string(name_of(choice)), "use mlp"});
  }
  expect_error([] { Toy(DecoderChoice::kAuto, 0, false); }, {"decoder", "auto"});
}

}  // namespace
}  // namespace lase
