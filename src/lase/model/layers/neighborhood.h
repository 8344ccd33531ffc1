#pragma once

#include <ATen/core/Tensor.h>
#include <memory>
#include <string>

#include "lase/model/layer.h"
#include "lase/model/layers/registry.h"

// Building blocks shared by several layers.
namespace lase {

// λ(u,v) = σ(V [h(u), f(e), h(v)] + b), split into the terms of u, v and e.
class Gate {
 public:
  Gate(Parameters& parameters, const std::string& name, int64_t width, int64_t attributes);
  // `only_sum`: no other sum has this gate, so it may be computed within the sum.
  void set(ops::GatedSumInput& in, const Block& block, const LinkAttributes& links,
           bool only_sum) const;

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

// Gate and amplifier of a layer, as configured. Without link attributes there is no amplifier.
class Neighborhood {
 public:
  Neighborhood(const ModelOptions& options, Parameters& parameters, const LayerShape& shape,
               ops::Amplifier amplifier);
  // `only_sum`: no other sum of the layer has the same gate.
  ops::GatedSumInput input(const LayerInput& from, bool only_sum) const;

 private:
  ops::Aggregate aggregate_;
  ops::Amplifier amplifier_;
  std::unique_ptr<Gate> gate_;
  std::unique_ptr<AmplifierMatrix> matrix_;
};

// Σ h(v), without gate and amplifier.
ops::GatedSumInput plain_sum(const ops::Rows& h, ops::Aggregate aggregate);

// ReLU(a ∘ b): [n, d], or [n, 2 d] concatenated; combined_width gives the width of the result.
at::Tensor relu_combined(Combine how, const at::Tensor& a, const at::Tensor& b);
int64_t combined_width(const ModelOptions& options, int64_t width);

// Creates a layer of class L.
template <class L>
std::unique_ptr<Layer> make(const ModelOptions& options, Parameters& parameters,
                            const LayerShape& shape) {
  return std::make_unique<L>(options, parameters, shape);
}

}  // namespace lase
