#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "lase/graph/graph.h"
#include "lase/graph/graph_parts.h"

namespace lase {

// Summary of a graph, as JSON and as human-readable text.
nlohmann::json describe_json(const Graph& graph);
std::string describe_text(const Graph& graph);

// More about the columns, degrees, time slices and labels, for which all data is read. `most`:
// columns to list in the text.
nlohmann::json describe_details_json(const Graph& graph);
std::string describe_details_text(const Graph& graph, int64_t most = 12);

// Summary of a partitioned graph, without reading its parts.
nlohmann::json describe_parts_json(const GraphParts& parts);
std::string describe_parts_text(const GraphParts& parts);

// What a model file says about itself: type, inputs, outputs, training. Does not depend on torch.
nlohmann::json describe_model_json(const std::string& path);
std::string describe_model_text(const nlohmann::json& about);

}  // namespace lase
