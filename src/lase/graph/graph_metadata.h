#pragma once

#include "lase/base/safetensors.h"
#include "lase/graph/graph.h"

namespace lase {

// Metadata in the header of a graph file, for streaming writers.
Metadata graph_metadata(const Graph& graph);

}  // namespace lase
