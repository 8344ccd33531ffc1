#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <string>

#include "lase/model/options.h"
#include "lase/model/parameters.h"
#include "lase/ops/dropout.h"
#include "lase/ops/gated_sum.h"

namespace lase {

// f(e) as the layers read it: standardised, (f − mean) · scale, without touching the stored values,
// since U ((f − mean) scale) = (U scale) f − (U scale) mean.
struct LinkAttributes {
  ops::AttributeTensors f;
  at::Tensor mean;   // [k]
  at::Tensor scale;  // [k]

  at::Tensor scaled(const at::Tensor& weights) const;        // U scale: [·, k]
  at::Tensor shift(const at::Tensor& scaled_weights) const;  // −(U scale) mean
};

// What one layer hands to the next, a row for each source: h^(l), and the features (or WL labels)
// that LASE-RW and LASE-WL multiply with in every layer; undefined elsewhere.
struct State {
  ops::Rows h;
  ops::Rows f;
};

// λ(u,v) = σ(V [h(u), f(e), h(v)] + b), split into what belongs to u, to v and to e.
class Gate {
 public:
  Gate(Parameters& parameters, const std::string& name, int64_t width, int64_t attributes);
  void set(ops::GatedSumInput& in, const Block& block, const LinkAttributes& links) const;

 private:
  at::Tensor v_u_;  // [1, d]
  at::Tensor v_v_;  // [1, d]
  at::Tensor v_e_;  // [1, k]
  at::Tensor b_;    // [1]
};

// a(e) = σ(U f(e)) or U f(e).
class AmplifierMatrix {
 public:
  AmplifierMatrix(Parameters& parameters, const std::string& name, int64_t width,
                  int64_t attributes);
  void set(ops::GatedSumInput& in, const LinkAttributes& links) const;

 private:
  at::Tensor u_;  // U [d, k]
};

class Layer {
 public:
  virtual ~Layer() = default;
  // Entries are dropped from the node's own state, not within the sum over the neighbourhood: what
  // draws estimate stays the same from one batch to the next.
  virtual State forward(const State& state, const Block& block, const LinkAttributes& links,
                        const ops::Dropout& dropout) const = 0;
  // The sum over the neighbourhood as the layer forms it, for those who look inside; nothing where
  // a layer has no gate and no amplifier.
  virtual ops::GatedSumInput neighborhood(const State& state, const Block& block,
                                          const LinkAttributes& links) const = 0;
};

struct LayerShape {
  std::string name;        // prefix of the parameters' names
  int64_t in = 0;          // width of h^(l−1)
  int64_t out = 0;         // width asked for
  int64_t features = 0;    // width of f(u)
  int64_t attributes = 0;  // k
  bool last = false;
};

// One layer of the architecture; out_width tells what it gives (twice the width where
// concatenated).
std::unique_ptr<Layer> make_layer(const ModelOptions& options, Parameters& parameters,
                                  const LayerShape& shape);
int64_t out_width(const ModelOptions& options, int64_t width);

// One relabelling of LASE-WL: f ← r^(d).
std::unique_ptr<Layer> make_relabelling(const ModelOptions& options, Parameters& parameters,
                                        const std::string& name, int64_t width);

}  // namespace lase
