#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/inference/inference.h"
#include "lase/inference/seeds.h"
#include "lase/model/model.h"
#include "lase/sampler/node_index.h"

namespace lase {

// Cache of tensor rows by node, filled on demand.
class RowCache {
 public:
  struct Lookup {
    at::Tensor row;                // int64 [n]: row of each node in the cache
    std::vector<int64_t> missing;  // new nodes: append their rows in this order before reading
  };
  Lookup find(std::span<const int64_t> nodes);
  void append(const std::vector<at::Tensor>& rows);
  size_t size() const { return matrices_.size(); }
  // Undefined if undefined tensors were appended.
  const at::Tensor& matrix(size_t i) const { return matrices_[i]; }
  void clear();

 private:
  NodeIndex numbers_;
  int64_t rows_ = 0;
  std::vector<at::Tensor> matrices_;  // with spare capacity
};

// A frozen copy of a model with its exact sums s̃(u) and states h̃(v): of every node, computed in one
// pass (eager), or of the nodes that batches touch, computed on first use (lazy).
class Snapshot {
 public:
  enum class When : uint8_t { kEager, kLazy };

  // `graph` must outlive the snapshot. Its model has the options and shape of `model`.
  Snapshot(const Model& model, const Inputs& inputs, const Adjacency& graph, When when);

  // Discards the baseline state and copies the parameters. What is hidden must outlive the use of
  // the snapshot. `read`: the targets of the batches until the next refresh; see exact_pass().
  void refresh(const Parameters& parameters, const Hidden& hidden = {},
               const LayerNodes* read = nullptr);

  // The baseline state for a batch, on the device of the inputs.
  Baseline of(const Batch& batch);

 private:
  at::Tensor on_device(const at::Tensor& x) const;
  State start(std::span<const int64_t> nodes) const;
  State state(int64_t l, std::span<const int64_t> nodes);
  std::vector<at::Tensor> sums(int64_t l, std::span<const int64_t> nodes);

  Inputs inputs_;  // without hidden labels
  const Adjacency& graph_;
  const HiddenArcs* hidden_ = nullptr;
  When when_;
  Model model_;
  std::vector<BaselineLayer> all_;  // eager: of every node, one per layer
  std::vector<RowCache> states_;    // lazy: input of layer l
  std::vector<RowCache> sums_;
};

}  // namespace lase
