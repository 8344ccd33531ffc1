#pragma once

#include <memory>
#include <optional>

#include "lase/graph/graph.h"
#include "lase/inference/objective.h"
#include "lase/model/inputs.h"
#include "lase/model/model_file.h"
#include "lase/train/divided_training.h"
#include "lase/train/protocol.h"
#include "lase/train/trainer.h"

namespace lase {

// Everything that training reads: the graph with the features of the model, the objective, the
// protocol, the new model and its scaled inputs.
struct TrainingData {
  Graph graph;
  std::unique_ptr<Objective> objective;
  Protocol protocol;
  TrainedModel trained;
  std::optional<Inputs> inputs;
  std::unique_ptr<Seeds> seeds;
  // For a graph that is divided among processes, in place of the graphs of the protocol; `graph`
  // and `inputs` are then the own rows.
  std::unique_ptr<DividedTraining> divided;
  at::Device device = at::kCPU;  // of the model and its inputs

  TrainingData() = default;
  TrainingData(const TrainingData&) = delete;
  TrainingData& operator=(const TrainingData&) = delete;

  // Training seeds per step, at most, for the option `batch`.
  int64_t batch_size(int64_t batch) const;
};

// Learns features from links if requested, unless they are given, fits the scaling, and creates the
// model. Neither the method of features nor label inputs must be kAuto.
//
// `graph` must be prepared for the task, which must not be kAuto.
std::unique_ptr<TrainingData> prepare_training(const Graph& graph, const TrainOptions& options,
                                               LearnedFeatures learned = {});

// The same for the labels of nodes in a graph that is divided among processes, which must outlive
// the result.
std::unique_ptr<TrainingData> prepare_training(const DividedGraph& graph,
                                               const TrainOptions& options);

}  // namespace lase
