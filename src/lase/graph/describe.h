#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lase/graph/graph.h"

namespace lase {

// Summary of a graph, as JSON and as human-readable text.
nlohmann::json describe_json(const Graph& graph);
std::string describe_text(const Graph& graph);

}  // namespace lase
