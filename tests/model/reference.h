#pragma once

#include "torch_support.h"

namespace lase {

// What a model gives for every node over whole neighbourhoods, by its printed equations in plain
// loops.
struct ReferenceOutputs {
  Matrix embedding;  // [nodes, width]
  Matrix logits;     // [nodes, outputs]
};
ReferenceOutputs reference_outputs(const Model& model, const Graph& graph, const Scaling& scaling);

}  // namespace lase
