#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lase/model/model.h"
#include "lase/sampler/sampler.h"
#include "lase/train/options.h"
#include "lase/train/snapshot.h"

namespace lase {

// Numbers of seeds, and whether some arcs are hidden while they are scored.
struct SeedCounts {
  int64_t epoch = 0;
  int64_t batch = 0;
  bool hides = false;
};

// Estimates neighborhood sums during training: holds the sampling configuration and the snapshot,
// and refreshes probabilities and snapshot every `refresh_every` batches.
class Estimator {
 public:
  // `model`, `inputs` and `graph` must outlive the estimator.
  Estimator(const SamplingOptions& options, const Model& model, const Inputs& inputs,
            const Adjacency& graph, const SeedCounts& seeds);

  // Whether it is ever refreshed. A lazy snapshot cannot be restored bit for bit.
  bool needs_refreshes() const;
  bool lazy() const { return lazy_; }
  // Number of batches between refreshes. If links are predicted, at most as many as predict a tenth
  // of the links, because a snapshot is computed without these.
  int64_t refresh_every() const { return options_.refresh_every; }
  // Number of batches until refresh() must be called again.
  int64_t batches_left() const { return left_; }
  void count_batches(int64_t batches) { left_ -= batches; }
  // Requests a refresh before the next batch.
  void mark_stale();
  // Refreshes with the current parameters, for `batches` batches (0: `refresh_every`), without the
  // hidden arcs, which must outlive the use of the snapshot.
  void refresh(int64_t batches = 0, const HiddenArcs* hidden = nullptr);
  int64_t refresh_count() const { return refresh_count_; }

  // Human-readable: "snapshot, fan-out 1,10, refreshed every 20 batches".
  std::string describe() const;

  const Sampling& sampling() const { return sampling_; }
  Snapshot* snapshot() { return snapshot_.get(); }

 private:
  bool cheaper_lazily(int64_t batch) const;

  SamplingOptions options_;
  const Model& model_;
  const Inputs& inputs_;
  const Adjacency& graph_;
  Sampling sampling_;
  std::unique_ptr<Snapshot> snapshot_;
  bool samples_ = false;  // at least one row is longer than a fan-out
  bool lazy_ = false;
  int64_t left_ = 0;
  int64_t refresh_count_ = 0;
};

}  // namespace lase
