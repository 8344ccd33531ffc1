#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

// What a layer is given.
struct LayerInput {
  const State& state;
  const Block& block;
  const LinkAttributes& links;
  ops::Dropout dropout;
};

// What an earlier pass knows of a layer: h̃ of a block's sources, and its exact sums s̃ of the
// targets.
struct PastLayer {
  State state;
  std::vector<at::Tensor> sums;  // [targets, d] each
};

// A layer sums over neighbourhoods, s(u), and makes of the node's own state and the sum the state
// of the next. Entries are dropped from the former alone (but for GCN, which has nothing else), so
// that what draws estimate stays the same from one batch to the next.
class Layer {
 public:
  virtual ~Layer() = default;

  // With the sums over the block's arcs as they are.
  State forward(const LayerInput& in) const;
  // With the sums estimated from those of an earlier pass, in which `then` was this layer:
  //
  //   s(u) ≈ s̃(u) + Σ_i w_i (x_i − x̃_i)
  State forward(const LayerInput& in, const Layer& then, const PastLayer& past) const;

  // The sums alone.
  std::vector<at::Tensor> estimate(const std::vector<ops::GatedSumInput>& sums,
                                   const LayerInput& in, const Layer& then,
                                   const PastLayer& past) const;

  // What s(u) is made of: one sum, or several over the same arcs.
  virtual std::vector<ops::GatedSumInput> sums(const LayerInput& in) const = 0;
  // The next state from the sums s, [targets, d] each, however they were found.
  virtual State update(const LayerInput& in, const std::vector<ops::GatedSumInput>& sums,
                       const std::vector<at::Tensor>& s) const = 0;
  // What multiplies s(u) afterwards, [targets, d], where something does: how much a term counts
  // depends on it.
  virtual at::Tensor factor(const LayerInput&) const { return {}; }
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
