#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>

#include "lase/model/layer.h"
#include "lase/model/options.h"
#include "lase/model/parameters.h"
#include "lase/ops/dropout.h"

namespace lase {

// Links to score: pairs of rows of a matrix of embeddings h.
struct Pairs {
  at::Tensor source;      // int64 [n]: row of u
  at::Tensor target;      // int64 [n]: row of v
  at::Tensor link;        // int64 [n]: row of the link's own attributes; undefined: it has none
  at::Tensor statistics;  // [n, kPairStatistics], if the decoder reads them: see pair_statistics()
  // int64 [m]: rows to score in place of the target and of the source of every link, if scores are
  // products; undefined: none.
  at::Tensor candidates = {};
};

// The parts of a score that is a product, score(u, e, v) = ⟨a(u) ⊙ r(e), b(v)⟩ + c. They rank all
// nodes v with one matrix product.
struct ScoreFactors {
  at::Tensor source;  // a of every row of h: [n, width]
  at::Tensor target;  // b of every row of h: [n, width]
};

// Computes outputs for links from the embeddings of their nodes.
class Decoder {
 public:
  virtual ~Decoder() = default;

  // [pairs, outputs], given h [nodes, d] and the attributes of links. With m candidates
  // [pairs, 1 + 2 m]: the pair itself, all candidates in place of its target, and of its source.
  virtual at::Tensor forward(const at::Tensor& h, const Pairs& pairs, const LinkAttributes& links,
                             const ops::Dropout& dropout) const = 0;
  virtual bool reads_statistics() const { return false; }
  // Whether scores are products; only then may the other functions be called.
  virtual bool is_product() const { return false; }
  virtual ScoreFactors factors(const at::Tensor& /*h*/) const { return {}; }
  // r(e) of rows of the links' attributes: [n, width]; undefined if there are none.
  virtual at::Tensor relation(const LinkAttributes& /*links*/, const at::Tensor& /*rows*/) const {
    return {};
  }
};

struct DecoderShape {
  int64_t width = 0;       // of embeddings
  int64_t attributes = 0;  // of a link itself
  int64_t outputs = 0;
  bool symmetric = false;  // exchanging the two nodes does not change the outputs
};

// The decoder that the options choose, which must not be kAuto. Throws Error if it does not fit.
std::unique_ptr<Decoder> make_decoder(const ModelOptions& options, Parameters& parameters,
                                      const DecoderShape& shape);

}  // namespace lase
