#pragma once

#include <nlohmann/json.hpp>

#include "lase/base/string_table.h"
#include "lase/embed/features.h"
#include "lase/graph/graph.h"

namespace lase {

// What a model needs to know about its data: names and meaning of its inputs and outputs.
struct ModelDescription {
  Task task = Task::kNone;
  StringTable label_names;      // [outputs]
  StringTable feature_names;    // [node features]
  StringTable attribute_names;  // [link attributes]
  bool separate_directions = false;
  bool degree_features = false;  // the graph had no features; see degree_features()
  LearnedFeatures learned;       // in addition to those of the graph, if requested
  Reduction node_reduction;
  Reduction link_reduction;
  nlohmann::json training = nlohmann::json::object();  // options, curve, scores; informational
};

}  // namespace lase
