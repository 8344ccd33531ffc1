#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <optional>
#include <vector>

#include "lase/ops/dropout.h"
#include "lase/ops/gated_sum.h"
#include "lase/ops/scale_weights.h"

namespace lase {

// Link attributes f(e), standardized as (f − mean) · scale without changing the stored values.
struct LinkAttributes {
  ops::AttributeTensors f;
  at::Tensor mean;   // [k]; undefined: 0
  at::Tensor scale;  // [k]; undefined: 1

  // Weights [·, k] to apply to the stored values.
  ops::ScaledWeights scaled(const at::Tensor& weights) const {
    return ops::scale_weights(weights, mean, scale);
  }
};

// Input of a layer, one row per source.
struct State {
  ops::Rows h;  // h^(l)
  ops::Rows f;  // features (or WL labels), read in every LASE-RW and LASE-WL layer; or undefined
};

struct LayerInput {
  const State& state;
  const Block& block;
  const LinkAttributes& links;
  ops::Dropout dropout;
};

// Baseline state of one layer, from an earlier pass.
struct BaselineLayer {
  State state;                   // h̃ of the sources
  std::vector<at::Tensor> sums;  // exact sums s̃ of the targets, [targets, d] each
};

// A layer sums over neighborhoods, s(u), and computes the next state from the node's own state and
// the sum. Dropout applies only to the own state (except in GCN, which has no separate one), so
// that dropout does not change the sums to be estimated from one batch to the next.
class Layer {
 public:
  using Sums = std::vector<ops::GatedSumInput>;
  using SumValues = std::vector<at::Tensor>;  // value s of each sum: [targets, d]

  virtual ~Layer() = default;

  // Sums over the arcs of the block.
  State forward(const LayerInput& in) const;
  // Estimates the sums from those of an earlier pass, in which `baseline_layer` was this layer:
  //
  //   s(u) ≈ s̃(u) + Σ_i w_i (x_i − x̃_i)
  State forward(const LayerInput& in, const Layer& baseline_layer,
                const BaselineLayer& baseline) const;

  // The estimated sums, [targets, d] each.
  std::vector<at::Tensor> estimate(const std::vector<ops::GatedSumInput>& parts,
                                   const LayerInput& in, const Layer& baseline_layer,
                                   const BaselineLayer& baseline) const;

  // The sums that make up s(u): one, or several over the same arcs.
  virtual std::vector<ops::GatedSumInput> sums(const LayerInput& in) const = 0;
  // The next state from the values s of the sums, [targets, d] each, exact or estimated.
  virtual State update(const LayerInput& in, const std::vector<ops::GatedSumInput>& sums,
                       const std::vector<at::Tensor>& s) const = 0;
  // The column of a sum by which others are divided, if any. Its terms are positive, and so are its
  // estimates.
  struct Normalizer {
    size_t sum = 0;
    int64_t column = 0;
  };
  virtual std::optional<Normalizer> normalizer() const { return std::nullopt; }
  // The elementwise factor [targets, d] that update() applies to s(u), and that sampling with
  // minimum variance includes in the norms of the terms; undefined if there is none.
  virtual at::Tensor factor(const LayerInput&) const { return {}; }
};

}  // namespace lase
