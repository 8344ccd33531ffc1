#pragma once

#include <memory>
#include <span>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/model/model.h"
#include "lase/sampler/node_numbers.h"

namespace lase {

// Rows of tensors by node, found out as nodes are asked for.
class KnownRows {
 public:
  // The place of each node among the rows, int64 [n], and the nodes that are new, whose rows must
  // be appended in that order before anyone reads them.
  struct Places {
    at::Tensor place;
    std::vector<int64_t> missing;
  };
  Places find(std::span<const int64_t> nodes);
  void append(const std::vector<at::Tensor>& rows);
  size_t size() const { return matrices_.size(); }
  // Undefined where undefined ones were appended.
  const at::Tensor& matrix(size_t i) const { return matrices_[i]; }
  void clear();

 private:
  NodeNumbers numbers_;
  int64_t rows_ = 0;
  std::vector<at::Tensor> matrices_;  // with room for more rows
};

// A model as it was at one moment, with its exact sums s̃(u) and states h̃(v): those of every node
// from one pass (eager), or of the nodes that batches touch, when they first do (lazy).
class Snapshot {
 public:
  enum class When : uint8_t { kEager, kLazy };

  // All must outlive the snapshot, whose model has the shape of `model`.
  Snapshot(const Model& model, const Inputs& inputs, const Adjacency& graph, When when);

  // Forgets what it knew, and freezes the parameters as they are.
  void renew(const Parameters& parameters);

  // What it knows of a batch.
  Past of(const Batch& batch);

 private:
  State start(std::span<const int64_t> nodes) const;
  State state(int64_t l, std::span<const int64_t> nodes);
  std::vector<at::Tensor> sums(int64_t l, std::span<const int64_t> nodes);

  const Inputs& inputs_;
  const Adjacency& graph_;
  When when_;
  Model model_;
  std::vector<PastLayer> all_;     // eager: of every node, a layer each
  std::vector<KnownRows> states_;  // lazy: what layer l reads
  std::vector<KnownRows> sums_;
};

}  // namespace lase
