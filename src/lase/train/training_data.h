#pragma once

#include <memory>
#include <optional>

#include "lase/graph/graph.h"
#include "lase/inference/objective.h"
#include "lase/model/inputs.h"
#include "lase/model/model_file.h"
#include "lase/train/protocol.h"
#include "lase/train/trainer.h"

namespace lase {

// Everything that training reads: the graph with the features of the model, what is asked about its
// nodes, who is learned from, and a new model with all that its use needs.
struct TrainingData {
  Graph graph;
  std::unique_ptr<Objective> objective;
  Protocol protocol;
  TrainedModel trained;
  std::optional<Inputs> inputs;

  // Training nodes per step.
  int64_t batch_size(int64_t asked) const;
};

// Learns features from links if asked for, fits the scaling, and makes the model.
TrainingData prepare_training(const Graph& graph, const TrainOptions& options);

}  // namespace lase
