#pragma once

#include <ATen/core/Tensor.h>
#include <optional>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/inference/seeds.h"
#include "lase/model/model.h"
#include "lase/sampler/sampler.h"

namespace lase {

// Exact outputs for the seeds of a split. If they depend on a small part of the graph, only that
// part is computed.
class Validation {
 public:
  // The arguments must outlive the object.
  Validation(const Model& model, const Inputs& inputs, const Adjacency& graph,
             const std::vector<int64_t>& seeds, const Seeds& kind = node_seeds());

  // With the current weights, as Objective::score expects them, on the CPU.
  at::Tensor outputs() const;
  // Links that outputs() visits, in all layers.
  int64_t links() const { return links_; }
  // Number of epochs between validations that keeps their time below a fifth, given the number of
  // links that an epoch visits. At least four fit into the patience, and ten into the epochs.
  int64_t interval(int64_t epoch_links, int64_t patience, int64_t epochs) const;

 private:
  at::Tensor embedding() const;

  const Model& model_;
  const Inputs& inputs_;
  const Adjacency& graph_;
  Evaluation evaluation_;
  std::optional<Batch> batch_;  // the part of the graph that the nodes depend on
  int64_t links_ = 0;
};

}  // namespace lase
