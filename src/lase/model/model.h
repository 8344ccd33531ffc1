#pragma once

#include <ATen/core/Tensor.h>
#include <memory>
#include <vector>

#include "lase/model/inputs.h"
#include "lase/model/layer.h"
#include "lase/model/layers/registry.h"
#include "lase/model/options.h"
#include "lase/model/parameters.h"
#include "lase/sampler/sampler.h"

namespace lase {

class Model;

// What an earlier pass knows of a batch: the model as it was then, and a part for each layer.
struct Past {
  const Model* model = nullptr;
  std::vector<PastLayer> layers;
};

// A whole network: layers that each read one block, and a linear head.
//
//   h^(0) = f(u), or W^(0) f(u) with `project`; always the latter for layers that walk, after
//           those that change f(u) first
//   h^(l) = layer l of h^(l−1)
//   outputs = W h^(L) + b, unless the last layer gives them
class Model {
 public:
  // Throws Error where the options contradict one another or do not fit the data.
  Model(const ModelOptions& options, const ModelShape& shape, uint64_t seed)
      : Model(options, shape, Parameters(seed)) {}
  // With parameters that are made, or read, as the layers ask for them.
  Model(const ModelOptions& options, const ModelShape& shape, Parameters parameters);

  const ModelOptions& options() const { return options_; }
  const ModelShape& shape() const { return shape_; }
  Parameters& parameters() { return parameters_; }
  const Parameters& parameters() const { return parameters_; }

  const LayerType& type() const { return type_; }
  int64_t block_count() const { return static_cast<int64_t>(layers_.size()); }
  const Layer& layer(int64_t l) const { return *layers_[static_cast<size_t>(l)]; }

  // Whether h^(0) is f(u), and whether f(u) is read at all other than by a product W^(0) f(u).
  bool starts_from_features() const;
  bool reads_features() const;
  // What the first layer reads for these nodes; for all nodes where undefined.
  State start(const Inputs& inputs, const at::Tensor& nodes) const;
  // Layer l on one block.
  State step(int64_t l, const State& state, const Block& block, const LinkAttributes& links,
             const ops::Dropout& dropout) const;
  // What layer l made, as the next reads it: h^(0) follows the last layer that changes f(u).
  State finish(int64_t l, State out) const;
  // The embedding of the last state, and what the head makes of it: [n, outputs].
  at::Tensor embedding(const State& state) const;
  at::Tensor head(const at::Tensor& embedding, const ops::Dropout& dropout) const;

  // All of it on a batch: [seeds, outputs]. With a past, sums are estimated from those it knows.
  at::Tensor forward(const Inputs& inputs, const Batch& batch, const ops::Dropout& dropout,
                     const Past* past = nullptr) const;

 private:
  State begin_walk(const State& state) const;  // h^(0) = W^(0) f(u)

  ModelOptions options_;
  const LayerType& type_;
  ModelShape shape_;
  Parameters parameters_;
  int64_t feature_layers_ = 0;  // of the layers, those that change f(u)
  at::Tensor w0_;               // W^(0)
  std::vector<std::unique_ptr<Layer>> layers_;
  at::Tensor head_w_;
  at::Tensor head_b_;
};

}  // namespace lase
