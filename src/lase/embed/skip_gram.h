#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lase/embed/alias.h"
#include "lase/kernels/kernels.h"

namespace lase {

// Positive node pairs, sampled in chunks: chunk i is a function of i alone.
class PairSource {
 public:
  virtual ~PairSource() = default;
  virtual int64_t chunks() const = 0;
  // Appends the pairs of a chunk.
  virtual void draw(int64_t chunk, std::vector<kernels::NodePair>& pairs) const = 0;
};

struct SkipGramOptions {
  std::span<const float> noise;  // [nodes]: weights for negative sampling
  int64_t negatives = 5;
  double rate = 0.025;
  std::span<const uint8_t> fixed;  // [nodes], or empty
  uint64_t seed = 1;
  std::function<void(double fraction, double samples)> progress;  // fraction of the work done
  const std::atomic<bool>* stop = nullptr;
};

struct SkipGramTables {
  int64_t width = 0;
  std::span<float> center;   // [nodes, width]
  std::span<float> context;  // [nodes, width]; same memory as center for the first order
};

// Trains on all chunks; returns the number of positive samples. Nodes are split into partitions,
// and pairs into buckets by the partitions of their two nodes. Only buckets that share no partition
// are processed in parallel, so threads never update the same row and the result does not depend on
// the number of threads.
double learn_skip_gram(const PairSource& source, const SkipGramOptions& options,
                       const SkipGramTables& tables);

}  // namespace lase
