#pragma once

#include <ATen/core/Tensor.h>
#include <optional>
#include <span>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/model/model.h"

namespace lase {

struct Outputs {
  at::Tensor embedding;  // [nodes, width]; undefined if not kept
  at::Tensor logits;     // [nodes, outputs]; undefined if not kept, or for a model of links
};

// Outputs that inference keeps.
enum class Keep : uint8_t { kAll, kLogits, kEmbedding };

// Exact layer-wise inference for every node over whole neighborhoods, so that each h^(l)(u) is
// computed once. Memory is O(nodes · width), with chunks of about `arcs` arcs (0: chosen for the
// model).
Outputs infer(const Model& model, const Inputs& inputs, const Adjacency& graph,
              Keep keep = Keep::kAll, int64_t arcs = 0);

// Input of the last layer for every node. The model must have at least one layer.
State last_layer_input(const Model& model, const Inputs& inputs, const Adjacency& graph);

// Results of an exact pass for one layer. The pass visits every link once per layer.
struct LayerPass {
  BaselineLayer baseline;  // for every node
  at::Tensor score;        // float [arcs], if requested
};
std::vector<LayerPass> exact_pass(const Model& model, const Inputs& inputs, const Adjacency& graph,
                                  std::optional<ops::Score> score = std::nullopt);

// Inference for every node with neighbor sampling, in batches.
Outputs infer_sampled(const Model& model, const Inputs& inputs, const Adjacency& graph,
                      std::span<const int64_t> fanouts, uint64_t seed, int64_t batch = 1024);

}  // namespace lase
