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
// model). Several processes (ProcessScope) each compute some nodes of every layer and exchange the
// results.
Outputs infer(const Model& model, const Inputs& inputs, const Adjacency& graph,
              Keep keep = Keep::kAll, int64_t arcs = 0);

// Input of the last layer for every node. The model must have at least one layer.
State last_layer_input(const Model& model, const Inputs& inputs, const Adjacency& graph);

// The sums of a layer for the targets of a block, and the scores of its arcs if requested.
struct LayerSums {
  Layer::Sums inputs;
  std::vector<at::Tensor> values;  // [targets, d] each
  at::Tensor scores;               // float [arcs]
};
LayerSums layer_sums(const Model& model, int64_t l, const LayerInput& in,
                     std::optional<ops::Score> score = std::nullopt);

// Results of an exact pass for one layer. The pass visits every link once per layer, and is divided
// among processes like infer().
struct LayerPass {
  BaselineLayer baseline;  // for every node
  at::Tensor score;        // float [arcs], if requested
};
// Nodes, for each layer.
using LayerNodes = std::vector<std::vector<int64_t>>;
// `read`: the nodes whose sums this process reads; if there are several processes, the sums of
// other nodes may be zero. Null: all nodes.
std::vector<LayerPass> exact_pass(const Model& model, const Inputs& inputs, const Adjacency& graph,
                                  std::optional<ops::Score> score = std::nullopt,
                                  const LayerNodes* read = nullptr);

// Inference for every node with neighbor sampling, in batches.
Outputs infer_sampled(const Model& model, const Inputs& inputs, const Adjacency& graph,
                      std::span<const int64_t> fanouts, uint64_t seed, int64_t batch = 1024);

}  // namespace lase
