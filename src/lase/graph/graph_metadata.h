#pragma once

#include <map>
#include <string>

#include "lase/graph/graph.h"

namespace lase {

// What the header of a graph file says besides the arrays; for writers that stream.
std::map<std::string, std::string> graph_metadata(const Graph& graph);

}  // namespace lase
