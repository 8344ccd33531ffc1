#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lase/model/model.h"
#include "lase/sampler/sampler.h"
#include "lase/train/options.h"
#include "lase/train/snapshot.h"

namespace lase {

// Numbers of seeds.
struct SeedCounts {
  int64_t epoch = 0;
  int64_t batch = 0;
  int64_t most_hidden = std::numeric_limits<int64_t>::max();  // Seeds::most_hidden() of the epoch
};

// Exact passes over the graph that batches are sampled from, with the weights of the model.
class ExactPasses {
 public:
  ExactPasses() = default;
  ExactPasses(const ExactPasses&) = delete;
  ExactPasses& operator=(const ExactPasses&) = delete;
  virtual ~ExactPasses() = default;

  struct Size {
    int64_t nodes = 0;
    int64_t arcs = 0;
    int64_t largest_degree = 0;
  };
  virtual Size size() const = 0;
  virtual bool can_be_lazy() const = 0;
  // Keeps a snapshot from now on, which has to be refreshed before batches are made.
  virtual void keep_snapshot(Snapshot::When when) = 0;
  virtual void refresh_snapshot(const Hidden& hidden, const LayerNodes* read) = 0;
  // Null if there is none, or if batches get their baseline elsewhere.
  virtual Snapshot* snapshot() = 0;
  // Of the arcs in every layer, in proportion to their scores.
  virtual std::vector<Probabilities> probabilities(ops::Score score, const Sampling& sampling,
                                                   const Hidden& hidden) = 0;
};

// The sampling probabilities of all layers, given the scores of the arcs.
std::vector<Probabilities> sampling_probabilities(const Adjacency& graph,
                                                  const std::vector<LayerPass>& passes,
                                                  const Sampling& sampling);

// Estimates neighborhood sums during training: holds the sampling configuration and the snapshot,
// and refreshes probabilities and snapshot every `refresh_every` batches.
class Estimator {
 public:
  // `model`, `inputs` and `graph` must outlive the estimator.
  Estimator(const SamplingOptions& options, const Model& model, const Inputs& inputs,
            const Adjacency& graph, const SeedCounts& seeds);
  // The same for a graph that is not in this process alone.
  Estimator(const SamplingOptions& options, const Model& model, const Inputs& inputs,
            std::unique_ptr<ExactPasses> passes, const SeedCounts& seeds);

  // Whether it is ever refreshed. A lazy snapshot cannot be restored bit for bit.
  bool needs_refreshes() const;
  bool lazy() const { return lazy_; }
  // Number of batches between refreshes: at most as many as may be hidden at once, because a
  // snapshot is computed without what their seeds hide.
  int64_t refresh_every() const { return options_.refresh_every; }
  // Number of batches until refresh() must be called again.
  int64_t batches_left() const { return left_; }
  void count_batches(int64_t batches) { left_ -= batches; }
  // Requests a refresh before the next batch.
  void mark_stale();
  // Refreshes with the current parameters, for `batches` batches (0: `refresh_every`), without what
  // is hidden, which must outlive the use of the snapshot. `read`: the targets of these batches;
  // see exact_pass().
  void refresh(int64_t batches = 0, const Hidden& hidden = {}, const LayerNodes* read = nullptr);
  // Whether a snapshot is computed for all nodes in advance.
  bool eager() const { return uses_snapshot() && !lazy_; }
  int64_t refresh_count() const { return refresh_count_; }

  // Human-readable: "snapshot, fan-out 1,10, refreshed every 20 batches".
  std::string describe() const;

  const Sampling& sampling() const { return sampling_; }
  Snapshot* snapshot() { return passes_->snapshot(); }

 private:
  bool cheaper_lazily(int64_t batch) const;
  bool uses_snapshot() const { return samples_ && options_.strategy == Strategy::kSnapshot; }

  std::unique_ptr<ExactPasses> passes_;
  SamplingOptions options_;
  const Model& model_;
  const Inputs& inputs_;
  Sampling sampling_;
  bool samples_ = false;  // at least one row is longer than a fan-out
  bool lazy_ = false;
  int64_t left_ = 0;
  int64_t refresh_count_ = 0;
};

}  // namespace lase
