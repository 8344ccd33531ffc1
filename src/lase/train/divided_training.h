#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "lase/base/process_group.h"
#include "lase/graph/divided_graph.h"
#include "lase/inference/divided_pass.h"
#include "lase/train/batch_source.h"
#include "lase/train/estimator.h"
#include "lase/train/protocol.h"
#include "lase/train/validation.h"

namespace lase {

// Training on a graph that is divided among processes. Batches, exact passes and validation give
// the same bits as on the whole graph.
class DividedTraining {
 public:
  // `graph` must outlive the object.
  DividedTraining(const DividedGraph& graph, TrainingLinks links);

  // The own rows with the arcs that training uses.
  const Adjacency& train_arcs() const { return train_arcs_; }
  // The seeds of all processes; like make_protocol(), but without graphs.
  Protocol protocol(const Objective& objective, bool alone) const;

  // Bytes sent to other processes for batches, besides those of the current processes, and the
  // number of exchanges.
  int64_t bytes_sent() const { return second_ ? second_->bytes_sent() : 0; }
  int64_t exchanges() const { return second_ ? second_->exchanges() : 0; }

  // The following must be called by all processes, and their arguments outlive the results.

  std::unique_ptr<ExactPasses> passes(const Model& model, const Inputs& inputs);
  // Batches with the baseline of the last exact pass, if a snapshot is kept. The attributes of
  // nodes are those of `inputs`, before scaling.
  struct BatchInputs {
    const Objective& objective;
    const Attributes& features;  // of the own rows
    const Scaling& scaling;
  };
  std::unique_ptr<ItemSource> batches(const Sampling& sampling, BatchPlan plan,
                                      const BatchInputs& inputs) const;
  std::unique_ptr<ExactOutputs> validation(const Model& model, const Inputs& inputs,
                                           const std::vector<int64_t>& seeds) const;

 private:
  class Passes;

  const DividedGraph& graph_;
  TrainingLinks links_;
  Adjacency train_arcs_;
  ExactPasses::Size size_;  // of the training graph
  std::optional<Model> baseline_model_;
  std::vector<BaselineLayer> baseline_;   // of the own rows
  std::unique_ptr<ProcessGroup> second_;  // for the thread that makes batches, if there can be one
};

}  // namespace lase
