#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <span>
#include <string>

#include "lase/graph/divided_graph.h"
#include "lase/inference/inference.h"
#include "lase/inference/prediction_columns.h"
#include "lase/model/model_file.h"

namespace lase {

// Exact predictions for a graph that is divided among processes, each of which computes its own
// nodes. All current processes call the constructor and the functions.
class DividedPredictor {
 public:
  // Throws Error if the graph does not fit the model. `trained` and `graph` must outlive the
  // object.
  DividedPredictor(const TrainedModel& trained, const DividedGraph& graph, Keep keep = Keep::kAll);

  // The rows of some nodes, which may be others in every process: like Predictions::outputs and
  // Predictions::embedding.
  at::Tensor outputs(std::span<const int64_t> nodes) const;
  at::Tensor embedding(std::span<const int64_t> nodes) const;

  // Like write_predictions() and write_embeddings(), for all nodes. Process 0 writes the file.
  void write(const PredictionColumns& columns, const std::string& path) const;
  void write_embeddings(const std::string& path) const;
  int64_t width() const;  // of embeddings

 private:
  // Rows first … last − 1 of all nodes in process 0, and none in others.
  at::Tensor range(const at::Tensor& own, int64_t first, int64_t last) const;

  const TrainedModel& trained_;
  const DividedGraph& graph_;
  Outputs own_;
};

}  // namespace lase
