#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "lase/embed/features.h"
#include "lase/graph/graph.h"
#include "lase/model/scaling.h"

namespace lase {

class Model;

// A model with everything needed to apply it: scaling and names of attributes, meaning of the
// outputs.
struct TrainedModel {
  std::shared_ptr<Model> model;
  Scaling scaling;
  Task task = Task::kNone;
  StringTable label_names;      // [outputs]
  StringTable feature_names;    // [node features]
  StringTable attribute_names;  // [link attributes]
  bool separate_directions = false;
  bool degree_features = false;  // the graph had no features; see degree_features()
  LearnedFeatures learned;       // in addition to those of the graph, if requested
  Reduction node_reduction;
  Reduction link_reduction;
  at::Tensor target_mean;  // regression: [outputs]; predictions are mean + output / scale
  at::Tensor target_scale;
  nlohmann::json training = nlohmann::json::object();  // options, curve, scores; informational
};

// Writes one safetensors file, atomically.
void save_model(const TrainedModel& trained, const std::string& path);
TrainedModel load_model(const std::string& path);

// The graph as the model expects it: features added or reduced as in training. Throws Error with
// the difference if the attributes do not fit.
Graph prepare_graph(const TrainedModel& trained, Graph graph, const std::string& path);

}  // namespace lase
