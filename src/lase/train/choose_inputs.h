#pragma once

#include <functional>
#include <string>

#include "lase/embed/features.h"
#include "lase/train/options.h"
#include "lase/train/trainer.h"

namespace lase {

// The inputs of a model in addition to the node features and link attributes of the graph, with the
// reasons if they were chosen.
struct InputChoice {
  EmbedMethod features = EmbedMethod::kNone;  // not kAuto
  LearnedFeatures learned = {};               // present if short runs learned them
  std::string features_reason = {};
  CommonNeighbors common_neighbors = CommonNeighbors::kOff;  // not kAuto
  std::string common_neighbors_reason = {};
  LabelInputs labels = LabelInputs::kOff;  // not kAuto
  std::string labels_reason = {};
};

// Trains on a graph, with learned features if they are given.
using PilotRun = std::function<TrainResult(const TrainOptions& options, LearnedFeatures learned)>;

// Chooses what the options leave open by the validation scores of short runs.
InputChoice choose_inputs(const Graph& graph, const TrainOptions& options, const PilotRun& run);

}  // namespace lase
