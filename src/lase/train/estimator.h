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

// Estimates sums while a model is trained: knows how to draw, and what to add to what is drawn, and
// renews both every so many batches.
class Estimator {
 public:
  // All must outlive it. `batch`: seeds of a batch.
  Estimator(const SamplingOptions& options, const Model& model, const Inputs& inputs,
            const Adjacency& graph, int64_t batch);

  // Whether it ever renews. A snapshot that is lazy cannot be had again to the last bit.
  bool renews() const;
  bool lazy() const { return lazy_; }
  // Batches that may be drawn before renew() is called again.
  int64_t batches_left() const { return left_; }
  void took(int64_t batches) { left_ -= batches; }
  // The next batch renews, whatever is left.
  void expire();
  // With the parameters as they are; it lasts for so many batches, or for those of the options.
  void renew(int64_t batches = 0);
  int64_t renewals() const { return renewals_; }

  // For people: "snapshot of 1,10 neighbours, renewed every 20 batches".
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
  bool draws_ = false;  // from at least one row
  bool lazy_ = false;
  int64_t left_ = 0;
  int64_t renewals_ = 0;
};

}  // namespace lase
