#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <span>
#include <vector>

#include "lase/ops/block.h"
#include "lase/sampler/neighborhood.h"

namespace lase {

inline constexpr int64_t kWholeNeighborhood = -1;

// What a model needs to compute the embeddings of some nodes: a block for each layer, the first
// layer first. The targets of a block are the first sources of it, and the sources of the block
// after it.
struct Batch {
  at::Tensor nodes;  // int64: the input nodes, sources of the first block
  std::vector<Block> blocks;

  int64_t arcs() const;
};

// Identifies the random draws of a batch: the same coordinates give the same neighbours, whatever
// the number of threads or the point of resumption.
struct DrawKey {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t batch = 0;
};

// Draws neighbours uniformly without replacement. A row of at most `fanout` arcs is taken whole,
// with weight 1; from a longer one `fanout` arcs are drawn, with weight |N(u)| / fanout.
//
// fanouts[0] belongs to the first layer (the one furthest from the seeds).
Batch sample_batch(const Neighborhoods& graph, std::span<const int64_t> seeds,
                   std::span<const int64_t> fanouts, const DrawKey& key);

// Whole neighbourhoods of the nodes first … last, with every node of the graph as a source: for
// inference one layer at a time.
Block whole_block(const Neighborhoods& graph, const at::Tensor& degrees, int64_t first,
                  int64_t last);

// |N(u)| for every node: float [nodes].
at::Tensor degrees(const Neighborhoods& graph);

}  // namespace lase
