#pragma once

#include <ATen/core/Tensor.h>
#include <optional>
#include <span>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/model/model.h"

namespace lase {

struct Outputs {
  at::Tensor embedding;  // [nodes, width]; undefined where it is not kept
  at::Tensor logits;     // [nodes, outputs]
};

// What is kept of inference.
enum class Keep : uint8_t { kAll, kLogits };

// Exact inference for every node: one layer after the other over whole neighbourhoods, so that each
// h^(l)(u) is computed once. Memory is O(nodes · width), with `arcs` links in work at a time (0: as
// many as suits the model).
Outputs infer(const Model& model, const Inputs& inputs, const Adjacency& graph,
              Keep keep = Keep::kAll, int64_t arcs = 0);

// What the last layer reads, for every node. The model has at least one layer.
State last_layer_input(const Model& model, const Inputs& inputs, const Adjacency& graph);

// What one exact pass, which visits every link once a layer, learns of a layer: the states that it
// reads and its sums, for every node, and the score of every arc where asked for.
struct LayerPass {
  PastLayer known;
  at::Tensor score;  // float [arcs]
};
std::vector<LayerPass> exact_pass(const Model& model, const Inputs& inputs, const Adjacency& graph,
                                  std::optional<ops::Score> score = std::nullopt);

// Inference for every node by drawn neighbourhoods, in batches.
Outputs infer_sampled(const Model& model, const Inputs& inputs, const Adjacency& graph,
                      std::span<const int64_t> fanouts, uint64_t seed, int64_t batch = 1024);

}  // namespace lase
