#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/ops/block.h"
#include "lase/sampler/shares.h"

namespace lase {

// What a model needs to compute the embeddings of some nodes: a block for each layer, the first
// layer first. The targets of a block are the first sources of it, and the sources of the block
// after it.
struct Batch {
  at::Tensor nodes;  // int64: the input nodes, sources of the first block
  std::vector<Block> blocks;

  int64_t arcs() const;

  // The same on another device; itself where it is there already.
  Batch to(const at::Device& device) const;
};

// Identifies the random draws of a batch: the same coordinates give the same neighbours, whatever
// the number of threads or the point of resumption.
struct DrawKey {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t batch = 0;
};

// How neighbourhoods are drawn. A row of at most `fanout` arcs is taken whole, with weight 1; from
// a longer one `fanout` arcs are drawn.
struct Sampling {
  std::vector<int64_t> fanouts;  // a layer each, the first the one furthest from the seeds
  Draw draw = Draw::kWithout;
  std::vector<Shares> shares = {};  // a layer each; empty: all arcs of a row are equally likely
  // Blocks from this layer on carry their arcs ordered by source, for the gradient of the layer's
  // input: 1 where the first layer reads features alone, more than there are layers for none.
  int64_t ordered_from = std::numeric_limits<int64_t>::max();
};

Batch sample_batch(const Adjacency& graph, std::span<const int64_t> seeds, const Sampling& sampling,
                   const DrawKey& key);

// A block of the whole neighbourhoods of some nodes. Its sources are those nodes, then the
// neighbour of each arc: a node may come several times, which costs less than to number those of a
// large graph.
struct WholeRows {
  Block block;
  at::Tensor sources;  // int64: the nodes
};
WholeRows whole_rows(const Adjacency& graph, std::span<const int64_t> targets);

// Whole neighbourhoods of the nodes first … last, with every node of the graph as a source: for
// inference one layer at a time.
Block whole_block(const Adjacency& graph, const at::Tensor& degrees, int64_t first, int64_t last);

// |N(u)|, float, for every node or for some.
at::Tensor degrees(const Adjacency& graph);
at::Tensor degrees_of(const Adjacency& graph, std::span<const int64_t> nodes);

// The nodes as a tensor, int64.
at::Tensor index_of(std::span<const int64_t> nodes);

}  // namespace lase
