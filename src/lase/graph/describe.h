#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lase/graph/graph.h"

namespace lase {

// What a graph holds, in numbers and as text for people.
nlohmann::json describe_json(const Graph& graph);
std::string describe_text(const Graph& graph);

// 1234567 as 1,234,567.
std::string grouped(int64_t value);

}  // namespace lase
