#pragma once

#include <memory>
#include <string>

#include "lase/graph/graph.h"
#include "lase/model/description.h"
#include "lase/model/scaling.h"

namespace lase {

class Model;

// A model with everything needed to apply it: scaling and names of attributes, meaning of the
// outputs.
struct TrainedModel : ModelDescription {
  std::shared_ptr<Model> model = {};
  Scaling scaling = {};
  at::Tensor target_mean = {};  // regression: [outputs]; predictions are mean + output / scale
  at::Tensor target_scale = {};
};

// Writes one safetensors file, atomically.
void save_model(const TrainedModel& trained, const std::string& path);
TrainedModel load_model(const std::string& path);

// Throws Error for the first difference between the names of columns in training and in a graph.
// `what` they are, such as "link attributes", and `path` are for the message.
void check_names(const StringTable& expected, const StringTable& found, std::string_view what,
                 const std::string& path);
// The graph as the model expects it: features added or reduced as in training. A graph that is
// already prepared stays the same. Throws Error with the difference if columns, time slices or
// directions are not those of the training graph.
Graph prepare_graph(const TrainedModel& trained, Graph graph, const std::string& path);
// prepare_graph() for a graph without a path. Also throws Error if the widths of the graph are not
// those of the model.
Graph fitting_graph(const TrainedModel& trained, const Graph& graph);

}  // namespace lase
