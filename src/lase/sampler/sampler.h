#pragma once

#include <ATen/core/Tensor.h>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "lase/graph/adjacency.h"
#include "lase/graph/hidden_arcs.h"
#include "lase/ops/block.h"
#include "lase/sampler/node_index.h"
#include "lase/sampler/probabilities.h"

namespace lase {

// A mini-batch: one block per layer, the first layer first. The targets of a block are the first of
// its sources, and they are the sources of the next block.
struct Batch {
  at::Tensor nodes;  // int64: the input nodes, sources of the first block
  std::vector<Block> blocks;

  int64_t arcs() const;

  // Copies the batch to a device; tensors that are already there are shared.
  Batch to(const at::Device& device) const;
};

// The random numbers of the sampled arcs of a row, and of the arcs that are left out.
inline constexpr uint64_t kSampleStream = 0x44524157;
inline constexpr uint64_t kDropStream = 0x4C494E4B;

// Key of the random numbers of a batch: the same key gives the same sampled neighbors, for any
// number of threads and after resuming.
struct SampleKey {
  uint64_t seed = 0;
  int64_t epoch = 0;
  int64_t batch = 0;
  int64_t first_seed = 0;  // position of the first seed in the batch; numbers negative samples
};

// Configuration of neighbor sampling. A row of at most `fanout` arcs is used whole, with weight 1;
// from a longer row `fanout` arcs are sampled.
struct Sampling {
  std::vector<int64_t> fanouts;  // one per layer; the first layer is the farthest from the seeds
  Replacement replacement = Replacement::kWithout;
  // Probability of leaving out each arc; the weights of the others grow to keep sums unbiased.
  double link_dropout = 0;
  // One per layer; empty: all arcs of a row are equally likely.
  std::vector<Probabilities> probabilities = {};
  // Blocks from this layer on also store their arcs ordered by source, for the gradient of the
  // layer's input. 1 if the first layer reads only features; by default no block is ordered.
  int64_t ordered_from = std::numeric_limits<int64_t>::max();
};

// Rows of a graph to sample from.
struct RowsToSample {
  std::span<const int64_t> row;    // in the graph
  std::span<const int64_t> node;   // whose random numbers are used
  std::span<const int64_t> batch;  // in place of the batch of the key; empty: that of the key
};
// The sampled arcs of one layer. `source` of the block is the neighbor of each arc, not yet its row
// in the input of the layer.
Block sample_rows(const Adjacency& graph, const RowsToSample& rows, const Sampling& sampling,
                  size_t layer, const SampleKey& key, const HiddenArcs* hidden = nullptr);

// Builds a batch layer by layer, the last layer first:
//
//   for (size_t layer = layers; layer-- > 0;) builder.add(layer, arcs sampled for builder.nodes());
class BatchBuilder {
 public:
  // `sampling` must outlive the builder.
  BatchBuilder(std::span<const int64_t> seeds, const Sampling& sampling, const SampleKey& key);

  // The sources of the last layer that was added, which are the targets of the next one to add: the
  // seeds, then the other nodes in order of appearance.
  const std::vector<int64_t>& nodes() const { return rows_.nodes(); }
  // Adds a block of sample_rows(): numbers its sources, and applies link dropout.
  void add(size_t layer, Block block);
  // `degrees`: float [nodes], those of nodes().
  Batch finish(const at::Tensor& degrees);

 private:
  const Sampling& sampling_;
  SampleKey key_;
  NodeIndex rows_;
  Batch batch_;
};

// Hidden arcs, if any, are not sampled; they are not supported with probabilities.
Batch sample_batch(const Adjacency& graph, std::span<const int64_t> seeds, const Sampling& sampling,
                   const SampleKey& key, const HiddenArcs* hidden = nullptr);

// A block of whole neighborhoods. Its sources are the targets, then the neighbor of each arc: a
// node may appear several times, which is cheaper than numbering the nodes of a large graph.
struct WholeRows {
  Block block;
  at::Tensor sources;  // int64: the nodes
};
WholeRows whole_rows(const Adjacency& graph, std::span<const int64_t> targets,
                     const HiddenArcs* hidden = nullptr);

// Whole neighborhoods of the nodes [first, last), with every node of the graph as a source, for
// layer-wise inference.
Block whole_block(const Adjacency& graph, const at::Tensor& degrees, int64_t first, int64_t last);

// |N(u)| as float, for all nodes or for some, without hidden arcs.
at::Tensor degrees(const Adjacency& graph);
at::Tensor degrees_of(const Adjacency& graph, std::span<const int64_t> nodes,
                      const HiddenArcs* hidden = nullptr);

// The nodes as an int64 tensor.
at::Tensor index_of(std::span<const int64_t> nodes);
// Whether each of n nodes is among these: bool [n].
at::Tensor mask_of(std::span<const int64_t> nodes, int64_t n);

}  // namespace lase
