#pragma once

#include <map>
#include <string>

#include "lase/graph/graph.h"

namespace lase {

// Metadata in the header of a graph file, for streaming writers.
std::map<std::string, std::string> graph_metadata(const Graph& graph);

}  // namespace lase
