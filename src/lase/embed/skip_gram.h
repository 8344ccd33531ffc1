#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lase/embed/alias.h"
#include "lase/kernels/kernels.h"

namespace lase {

// Pairs of nodes that were seen together, drawn in portions: portion i is a function of i alone.
class PairSource {
 public:
  virtual ~PairSource() = default;
  virtual int64_t portions() const = 0;
  // Appends the pairs of a portion.
  virtual void draw(int64_t portion, std::vector<kernels::NodePair>& pairs) const = 0;
};

struct SkipGramOptions {
  std::span<const float> noise;  // [nodes]: how often a node is drawn as noise
  int64_t negatives = 5;
  double rate = 0.025;
  std::span<const uint8_t> fixed;  // [nodes], or empty
  uint64_t seed = 1;
  std::function<void(double share, double samples)> progress;
  const std::atomic<bool>* stop = nullptr;
};

struct SkipGramTables {
  int64_t width = 0;
  std::span<float> center;   // [nodes, width]
  std::span<float> context;  // [nodes, width]; the same memory for the first order
};

// Learns from all portions; returns the number of samples (pairs that were seen). Many threads work
// at once and never on the same row: nodes fall into parts, and pairs into blocks by the parts of
// their two nodes; blocks that share no part are worked on together. So the result does not depend
// on the number of threads.
double learn_skip_gram(const PairSource& source, const SkipGramOptions& options,
                       const SkipGramTables& tables);

}  // namespace lase
