#pragma once

#include <ATen/core/Tensor.h>
#include <optional>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/inference/seeds.h"
#include "lase/model/model.h"
#include "lase/ops/divided_rows.h"
#include "lase/sampler/sampler.h"

namespace lase {

// Exact outputs for the seeds of a split.
class ExactOutputs {
 public:
  ExactOutputs() = default;
  ExactOutputs(const ExactOutputs&) = delete;
  ExactOutputs& operator=(const ExactOutputs&) = delete;
  virtual ~ExactOutputs() = default;

  // With the current weights, as Objective::score expects them, on the CPU.
  virtual at::Tensor outputs() const = 0;
  // Links that the computation depends on, in all layers.
  virtual int64_t links() const = 0;
  // Number of epochs between validations that keeps their time below a fifth, given the number of
  // links that an epoch visits. At least four fit into the patience, and ten into the epochs.
  int64_t interval(int64_t epoch_links, int64_t patience, int64_t epochs) const;
};

// Whether to compute only what the outputs of some nodes depend on: `arcs` of `all` arcs, counted
// in each layer.
bool computes_less(const Model& model, int64_t arcs, int64_t all);

// Of a graph that this process has as a whole. If the outputs depend on a small part of the graph,
// only that part is computed.
class Validation : public ExactOutputs {
 public:
  // The arguments must outlive the object.
  Validation(const Model& model, const Inputs& inputs, const Adjacency& graph,
             const std::vector<int64_t>& seeds, const Seeds& kind = node_seeds());

  at::Tensor outputs() const override;
  int64_t links() const override { return links_; }

 private:
  at::Tensor embedding() const;

  const Model& model_;
  const Inputs& inputs_;
  const Adjacency& graph_;
  Evaluation evaluation_;
  ops::DividedRows divided_;  // of the embeddings of its nodes
  // The part of the graph that the nodes depend on, or with several processes that their own nodes
  // depend on.
  std::optional<Batch> batch_;
  int64_t links_ = 0;
};

}  // namespace lase
