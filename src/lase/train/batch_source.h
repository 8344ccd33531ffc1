#pragma once

#include <optional>
#include <span>
#include <vector>

#include "lase/inference/seeds.h"
#include "lase/sampler/sampler.h"
#include "lase/train/snapshot.h"

namespace lase {

// Number of batches of at most `size` of n seed nodes.
inline int64_t batch_count(int64_t n, int64_t size) { return (n + size - 1) / size; }

// Makes the batches of an epoch, one by one: samples neighbors on the CPU, looks up the baseline
// state in a snapshot, and moves both to the device of the model. The sampled neighbors depend only
// on the key.
class BatchSource {
 public:
  struct Options {
    std::vector<int64_t> order;    // seeds of all batches
    int64_t batches = 0;           // their number; sizes differ by at most 1
    SampleKey key = {};            // key.batch: number of the first batch
    Snapshot* snapshot = nullptr;  // optional
    const Seeds* seeds = nullptr;  // null: nodes
    // Arcs that pass no messages. Null: those of the seeds of a batch.
    const HiddenArcs* hidden = nullptr;
    at::Device device = at::kCPU;
  };
  struct Item {
    std::span<const int64_t> seeds;  // valid while the source exists
    int64_t number = 0;
    Query query;
    Batch batch;
    std::optional<Baseline> baseline;  // with a snapshot
    double seconds = 0;                // spent on sampling
  };

  // `graph` and `sampling` must outlive the source.
  BatchSource(const Adjacency& graph, const Sampling& sampling, Options options);

  int64_t batches() const { return options_.batches; }
  const at::Device& device() const { return options_.device; }
  // Batch i of 0 … batches() − 1.
  Item make(int64_t i) const;

 private:
  const Adjacency& graph_;
  const Sampling& sampling_;
  Options options_;
};

}  // namespace lase
