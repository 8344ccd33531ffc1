#pragma once

#include "torch_support.h"

namespace lase {

// Outputs of a model for every node over whole neighborhoods, computed with plain loops from the
// equations of the paper.
struct ReferenceOutputs {
  Matrix embedding;  // [nodes, width]
  Matrix logits;     // [nodes, outputs]
};
ReferenceOutputs reference_outputs(const Model& model, const Graph& graph, const Scaling& scaling);

}  // namespace lase
