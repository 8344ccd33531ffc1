#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lase/graph/graph.h"

namespace lase {

// What a graph holds, in numbers and as text for people.
nlohmann::json describe_json(const Graph& graph);
std::string describe_text(const Graph& graph);

}  // namespace lase
