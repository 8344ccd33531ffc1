#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/option_table.h"
#include "lase/graph/divided_graph.h"
#include "lase/graph/graph.h"
#include "lase/inference/divided_predictor.h"
#include "lase/inference/predict.h"
#include "lase/model/model_file.h"

#include "cli/session.h"

// Commands that apply a model to a graph.

struct ModelFiles {
  std::string model;
  std::string graph;
  std::vector<int64_t> fanout = {lase::kWholeNeighborhood};
  uint64_t seed = 1;
  lase::DeviceOptions device;
};
const lase::OptionTable<ModelFiles>& model_files_table();

// A model and a graph with the inputs that it expects.
struct ModelAndGraph {
  lase::TrainedModel trained;
  lase::Graph graph;
};
// Opens both files; warns if most nodes are unknown to learned features. The graph of a model of
// links is left as it is, for lase::LinkPredictor.
ModelAndGraph open_model_and_graph(const ModelFiles& files, const Session& session);

// The same for a partitioned graph, of which this process has some parts.
struct ModelAndParts {
  lase::TrainedModel trained;
  lase::DividedGraph graph;
};
// `report`: the option of the command, which partitioned graphs do not support.
ModelAndParts open_model_and_parts(const ModelFiles& files, const std::string& report = "");

// Whether a model predicts links or their labels.
bool is_link_model(const lase::TrainedModel& trained);
// Throws Error for a model of links; `command` names what is not supported.
void require_node_model(const ModelAndGraph& opened, const std::string& command);

// Throws Error if training does not know what to predict.
void require_targets(const lase::Graph& graph, lase::Predicts predicts, const std::string& path);

struct TimedPredictions {
  lase::Predictions predictions;
  double seconds = 0;
  double links_per_second = 0;
};
TimedPredictions timed_predictions(const ModelFiles& files, const ModelAndGraph& opened);

struct TimedParts {
  lase::DividedPredictor predictor;
  double seconds = 0;
  double links_per_second = 0;
};
TimedParts timed_predictions(const ModelAndParts& opened, lase::Keep keep);

// The node with this name. Throws Error if there is none.
int64_t node_named(const lase::Graph& graph, const std::string& name, const std::string& path);
