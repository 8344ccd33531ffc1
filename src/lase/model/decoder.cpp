#include "lase/model/decoder.h"

#include <ATen/ATen.h>

#include "lase/base/error.h"
#include "lase/ops/attribute_product.h"
#include "lase/ops/linear.h"
#include "lase/sampler/pair_statistics.h"

namespace lase {
namespace {

using at::Tensor;

// W ((f − mean) scale) for rows of the links' attributes: [n, rows of W].
Tensor attribute_product(const LinkAttributes& links, const Tensor& rows, const Tensor& w) {
  const ops::ScaledWeights scaled = links.scaled(w);
  const Tensor product = ops::attribute_product(links.f, rows, scaled.w);
  return scaled.shift.defined() ? product + scaled.shift : product;
}

// A score that is a product of parts of both nodes and of the link.
class ProductDecoder : public Decoder {
 public:
  Tensor forward(const Tensor& h, const Pairs& pairs, const LinkAttributes& links,
                 const ops::Dropout&) const override {
    const auto [a, b] = factors(h);
    Tensor of_source = a.index_select(0, pairs.source);        // a(u)
    const Tensor of_target = b.index_select(0, pairs.target);  // b(v)
    const Tensor r = pairs.link.defined() ? relation(links, pairs.link) : Tensor();
    if (r.defined()) of_source = of_source * r;
    const Tensor own = (of_source * of_target).sum(1, true);
    if (!pairs.candidates.defined()) return own + bias();
    const Tensor targets = ops::linear({of_source, {}}, b.index_select(0, pairs.candidates));
    const Tensor sources = ops::linear({r.defined() ? of_target * r : of_target, {}},
                                       a.index_select(0, pairs.candidates));
    return at::cat({own, targets, sources}, 1) + bias();
  }
  bool is_product() const override { return true; }

 protected:
  virtual const Tensor& bias() const = 0;
};

//   score = t ⟨h(u), h(v)⟩ + c
class DotProduct : public ProductDecoder {
 public:
  DotProduct(Parameters& parameters, const DecoderShape&)
      : t_(parameters.constant("decoder.scale", 1, kScale)),
        c_(parameters.zeros("decoder.bias", 1)) {}

  ScoreFactors factors(const Tensor& h) const override { return {t_ * h, h}; }

 protected:
  const Tensor& bias() const override { return c_; }

 private:
  static constexpr double kScale = 5;  // embeddings have length 1
  Tensor t_;
  Tensor c_;
};

//   score = ⟨P h(u) ⊙ R f(e), Q h(v)⟩ + c
//
// With one relation per link, a column of R is the diagonal matrix of a relation, as in DistMult.
// Links without attributes have a diagonal of their own. P = Q if the score is symmetric.
class Bilinear : public ProductDecoder {
 public:
  Bilinear(Parameters& parameters, const DecoderShape& shape, int64_t width)
      : p_(parameters.matrix("decoder.source", width, shape.width, kGain)),
        q_(shape.symmetric ? p_ : parameters.matrix("decoder.target", width, shape.width, kGain)),
        c_(parameters.zeros("decoder.bias", 1)) {
    if (shape.attributes > 0) r_ = parameters.matrix("decoder.relation", width, shape.attributes);
    d_ = parameters.constant("decoder.diagonal", width, 1);
  }

  ScoreFactors factors(const Tensor& h) const override {
    return {ops::linear({h, {}}, p_) * d_, ops::linear({h, {}}, q_)};
  }
  Tensor relation(const LinkAttributes& links, const Tensor& rows) const override {
    if (!r_.defined()) return {};
    return 1 + attribute_product(links, rows, r_);
  }

 protected:
  const Tensor& bias() const override { return c_; }

 private:
  static constexpr double kGain = 3;  // embeddings have length 1
  Tensor p_;                          // [width, d]
  Tensor q_;                          // [width, d]
  Tensor c_;                          // [1]
  Tensor r_;                          // [width, attributes]
  Tensor d_;                          // [width]
};

//   z = ReLU(A h(u) + B h(v) + P h(u) ⊙ Q h(v) + F f(e) + S s(u, v) + b),   outputs = W z + c
//
// where s(u, v) are statistics of the pair. If the outputs are symmetric, A = B and P = Q. The
// products with h are computed once per node, not per pair.
class Mlp : public Decoder {
 public:
  Mlp(Parameters& parameters, const DecoderShape& shape, int64_t width)
      : symmetric_(shape.symmetric),
        source_(parameters.matrix("decoder.source", 2 * width, shape.width, kGain)),
        s_(parameters.matrix("decoder.statistics", width, kPairStatistics)),
        b_(parameters.zeros("decoder.hidden_bias", width)),
        w_(parameters.matrix("decoder.out", shape.outputs, width)),
        c_(parameters.zeros("decoder.bias", shape.outputs)) {
    if (!symmetric_) {
      target_ = parameters.matrix("decoder.target", 2 * width, shape.width, kGain);
    }
    if (shape.attributes > 0) {
      f_ = parameters.matrix("decoder.attributes", width, shape.attributes);
    }
  }

  bool reads_statistics() const override { return true; }

  Tensor forward(const Tensor& h, const Pairs& pairs, const LinkAttributes& links,
                 const ops::Dropout& dropout) const override {
    const Tensor of_sources = ops::linear({h, {}}, source_, dropout);
    const Tensor of_targets = symmetric_ ? of_sources : ops::linear({h, {}}, target_, dropout);
    const Tensor u = of_sources.index_select(0, pairs.source);  // [A h(u); P h(u)]
    const Tensor v = of_targets.index_select(0, pairs.target);  // [B h(v); Q h(v)]
    const int64_t width = b_.size(0);
    const auto half = [&](const Tensor& x, int64_t i) { return x.narrow(1, i * width, width); };
    Tensor z = half(u, 0) + half(v, 0) + half(u, 1) * half(v, 1) +
               ops::linear({pairs.statistics, {}}, s_) + b_;
    if (f_.defined()) z = z + attribute_product(links, pairs.link, f_);
    return ops::linear({z.relu(), {}}, w_) + c_;
  }

 private:
  static constexpr double kGain = 2;  // embeddings have length 1
  bool symmetric_;
  Tensor source_;  // [2 width, d]: A and P
  Tensor target_;  // [2 width, d]: B and Q
  Tensor s_;       // [width, kPairStatistics]: S
  Tensor b_;       // [width]
  Tensor f_;       // [width, attributes]: F
  Tensor w_;       // [outputs, width]: W
  Tensor c_;       // [outputs]
};

}  // namespace

std::unique_ptr<Decoder> make_decoder(const ModelOptions& options, Parameters& parameters,
                                      const DecoderShape& shape) {
  require_option(options.decoder == DecoderChoice::kMlp || shape.outputs == 1,
                 OptionName{"decoder"}, " ", name_of(options.decoder),
                 ": gives one score per link, for link prediction; use mlp to classify links");
  switch (options.decoder) {
    case DecoderChoice::kDot:
      return std::make_unique<DotProduct>(parameters, shape);
    case DecoderChoice::kBilinear:
      return std::make_unique<Bilinear>(parameters, shape, options.decoder_width);
    case DecoderChoice::kMlp:
      return std::make_unique<Mlp>(parameters, shape, options.decoder_width);
    case DecoderChoice::kAuto:
      break;
  }
  fail(OptionName{"decoder"}, " auto: must be chosen before a model is made");
}

}  // namespace lase
