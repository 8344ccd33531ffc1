#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "lase/base/random.h"
#include "lase/kernels/cuda/kernels.h"

// Neighbor sampling on the device. It computes the batches of sample_batch() in sampler/sampler.h,
// bit for bit, from the same random numbers.
namespace lase::kernels::cuda {

// See graph/adjacency.h.
struct DeviceAdjacency {
  int64_t nodes = 0;
  int64_t arcs = 0;
  const int64_t* row_ptr = nullptr;    // [nodes+1]
  const int32_t* neighbor = nullptr;   // [arcs]
  const int32_t* link = nullptr;       // [arcs]
  const int64_t* wide_link = nullptr;  // [arcs]: replaces `link` if 32 bits overflow
};

// Sampling of one layer. A row of at most `fanout` arcs is used whole; −1: all rows are.
struct LayerSampling {
  int64_t fanout = 0;
  // [arcs], on the device; see sampler/probabilities.h. Null: all arcs of a row are equally likely.
  const uint32_t* start = nullptr;
};

struct BatchSampling {
  std::span<const LayerSampling> layers;  // the first layer is the farthest from the seeds
  bool replace = false;
  double link_dropout = 0;
  // Blocks from this layer on also get their arcs ordered by source.
  int64_t ordered_from = std::numeric_limits<int64_t>::max();
  // Ascending arcs that are not sampled, on the device; not supported with probabilities.
  const int64_t* hidden = nullptr;
  int64_t hidden_count = 0;
  // Fills the arrays up to their bounds: with targets without arcs, and sources that are node 0 and
  // have no arcs. Requires Sampler::has_fixed_bounds().
  bool pad = false;
  // Random(seed, stream, epoch, batch) of the sampled arcs and of the arcs that are left out.
  Random sampled{0};
  Random dropped{0};
};

struct BlockSize {
  int64_t targets = 0;
  int64_t sources = 0;
  int64_t arcs = 0;
};

// The arrays of a block, see ops/block.h. Arrays that are null are not computed, except those
// without a remark.
struct BlockArrays {
  int64_t* target = nullptr;     // [targets]: 0, 1, …; may be null
  int64_t* row_ptr = nullptr;    // [targets+1]
  int32_t* source = nullptr;     // [arcs]
  int32_t* link = nullptr;       // [arcs], unless the graph has wide links
  int64_t* wide_link = nullptr;  // [arcs], if the graph has wide links
  float* weight = nullptr;       // [arcs]
  float* degree = nullptr;       // [sources]; may be null
  // Only for ordered blocks.
  int64_t* by_source = nullptr;   // [arcs]
  int32_t* arc_target = nullptr;  // [arcs]
};

// Provides the memory of a batch. Sizes are upper bounds, since the exact ones are on the device
// until the end: of an array for n elements, the first ones are used, and the others are
// unspecified.
class BatchMemory {
 public:
  BatchMemory() = default;
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;
  virtual ~BatchMemory() = default;
  // Called once per layer, the last layer first.
  virtual BlockArrays block(int64_t layer, const BlockSize& bound, bool ordered) = 0;
  // int64: the input nodes.
  virtual int64_t* nodes(int64_t bound) = 0;
};

// Samples batches from one graph. It allocates 8 bytes per node once, and temporary memory that
// later batches reuse. Not for concurrent use; rows have at most 2^31 − 1 arcs.
//
// The arrays of a batch are allocated for upper bounds (targets × fan-out), and the exact sizes are
// read back once per batch, while the last kernels still run. A bound that is loose, because of
// whole neighborhoods, or large is first replaced by the sum of the lengths of the rows, which
// waits for the device.
class Sampler {
 public:
  // Waits for the stream, which writes the graph.
  Sampler(const DeviceAdjacency& graph, Stream stream);
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;
  ~Sampler();

  // Whether the upper bounds depend only on the number of seeds, and are small enough to be used.
  bool has_fixed_bounds(int64_t seeds, const BatchSampling& sampling) const;
  // Enqueues the sampling of a batch. The seeds, in host memory, are distinct.
  void start(std::span<const int64_t> seeds, const BatchSampling& sampling, BatchMemory& memory,
             Stream stream);
  // Waits until the sizes of the blocks are known, the first layer first. The arrays are complete
  // for later work on the same stream.
  std::vector<BlockSize> finish();

  std::vector<BlockSize> sample(std::span<const int64_t> seeds, const BatchSampling& sampling,
                                BatchMemory& memory, Stream stream) {
    start(seeds, sampling, memory, stream);
    return finish();
  }

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace lase::kernels::cuda
