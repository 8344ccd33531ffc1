#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "lase/base/option_table.h"
#include "lase/graph/graph.h"
#include "lase/inference/predict.h"
#include "lase/model/model_file.h"

#include "cli/session.h"

// Commands that apply a model to a graph.

struct ModelFiles {
  std::string model;
  std::string graph;
  std::vector<int64_t> fanout = {lase::kWholeNeighborhood};
  uint64_t seed = 1;
};
const lase::OptionTable<ModelFiles>& model_files_table();

// A model and a graph with the inputs that it expects.
struct ModelAndGraph {
  lase::TrainedModel trained;
  lase::Graph graph;
};
// Opens both files; warns if most nodes are unknown to learned features.
ModelAndGraph open_model_and_graph(const ModelFiles& files, const Session& session);

struct TimedPredictions {
  lase::Predictions predictions;
  double seconds = 0;
  double links_per_second = 0;
};
TimedPredictions timed_predictions(const ModelFiles& files, const ModelAndGraph& opened);

// The node with this name. Throws Error if there is none.
int64_t node_named(const lase::Graph& graph, const std::string& name, const std::string& path);
