#pragma once

#include <ATen/core/Tensor.h>
#include <memory>
#include <vector>

#include "lase/model/decoder.h"
#include "lase/model/inputs.h"
#include "lase/model/layer.h"
#include "lase/model/layers/registry.h"
#include "lase/model/options.h"
#include "lase/model/parameters.h"
#include "lase/sampler/sampler.h"

namespace lase {

class Model;

// Baseline state for a batch: the model of an earlier pass, and one entry per layer.
struct Baseline {
  const Model* model = nullptr;
  std::vector<BaselineLayer> layers;
};

// A network: one layer per block, then a linear head, or for links a decoder.
//
//   h^(0) = f(u), or W^(0) f(u) with `project`; LASE-RW and LASE-WL, whose layers also read f(u),
//           always use the latter, after their feature layers
//   h^(l) = layer l of h^(l−1)
//   outputs = W h^(L) + b, unless the last layer computes them; for links, see Decoder
class Model {
 public:
  // Throws Error if the options contradict each other or do not fit the data.
  Model(const ModelOptions& options, const ModelShape& shape, uint64_t seed);
  // The layers create or read their parameters through `parameters`.
  Model(const ModelOptions& options, const ModelShape& shape, Parameters parameters);

  const ModelOptions& options() const { return options_; }
  const ModelShape& shape() const { return shape_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }
  at::Device device() const { return parameters_.device(); }

  const LayerType& type() const { return type_; }
  int64_t block_count() const { return static_cast<int64_t>(layers_.size()); }
  const Layer& layer(int64_t l) const { return *layers_[static_cast<size_t>(l)]; }

  // Whether h^(0) is f(u), and whether f(u) is read other than in the product W^(0) f(u).
  bool starts_from_features() const;
  bool reads_features() const;
  // Whether h^(0) = W^(0) f(u), with dropout on f(u).
  bool projects() const;
  // Whether the terms of its sums depend on the weights, but not on dropout.
  bool steady() const;
  // Input of the first layer for `nodes`; for all nodes if undefined.
  State start(const Inputs& inputs, const at::Tensor& nodes,
              const ops::Dropout& input_dropout = {}) const;
  // Applies layer l to one block.
  State step(int64_t l, const State& state, const Block& block, const LinkAttributes& links,
             const ops::Dropout& dropout) const;
  // Turns the output of layer l into the input of the next: computes h^(0) after the last feature
  // layer.
  State finish(int64_t l, State out) const;
  // The embedding from the last state, and the outputs of the head: [n, outputs].
  at::Tensor embedding(const State& state) const;
  at::Tensor head(const at::Tensor& embedding, const ops::Dropout& dropout) const;
  // Null for a model of nodes.
  const Decoder* decoder() const { return decoder_.get(); }
  // Outputs for nodes [n, outputs], or for pairs of rows of the embedding [pairs, outputs].
  at::Tensor outputs(const Inputs& inputs, const at::Tensor& embedding, const Pairs* pairs,
                     const ops::Dropout& dropout) const;

  // Embeddings of the seed nodes of a batch. With a baseline, sums are estimated from its sums.
  at::Tensor embed(const Inputs& inputs, const Batch& batch, const ops::Dropout& dropout,
                   const Baseline* baseline = nullptr) const;
  // Forward pass on a batch: outputs(embed()).
  at::Tensor forward(const Inputs& inputs, const Batch& batch, const ops::Dropout& dropout,
                     const Baseline* baseline = nullptr, const Pairs* pairs = nullptr) const;

 private:
  State project_features(const State& state) const;  // h^(0) = W^(0) f(u)

  ModelOptions options_;
  const LayerType& type_;
  ModelShape shape_;
  Parameters parameters_;
  int64_t feature_layers_ = 0;  // number of layers that change f(u)
  at::Tensor w0_;               // W^(0)
  std::vector<std::unique_ptr<Layer>> layers_;
  at::Tensor head_w_;
  at::Tensor head_b_;
  std::unique_ptr<Decoder> decoder_;
};

// The model on a device: itself if it is there already, otherwise a copy.
std::shared_ptr<const Model> model_on(const std::shared_ptr<const Model>& model,
                                      const at::Device& device);

}  // namespace lase
