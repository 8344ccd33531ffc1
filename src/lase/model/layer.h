#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <vector>

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
  using Sums = std::vector<ops::GatedSumInput>;
  using Found = std::vector<at::Tensor>;  // s of each: [targets, d]

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

}  // namespace lase
