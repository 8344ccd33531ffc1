#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

#include "lase/base/random.h"
#include "lase/kernels/cuda/prefix_sum.h"
#include "lase/kernels/cuda/sample.h"

// The steps of sampling one layer; see sample.cu.
namespace lase::kernels::cuda {

inline constexpr int kThreads = 256;  // of a block
inline constexpr int kWarps = kThreads / kLanes;

// The row of each node in the layer's input, by node:
//   kUnseen    the node has no row and no arc of this layer leads to it
//   i ≥ 0      it has no row yet, and i is the first arc that leads to it
//   i < 0      it has the row i + 2^31
// The smallest arc is found by atomicMin, which leaves nodes that have a row as they are. All bytes
// of kUnseen are equal, for cudaMemset.
inline constexpr int kUnseenByte = 0x7F;
inline constexpr int32_t kUnseen = 0x7F7F7F7F;

__device__ inline int32_t encode_row(int64_t row) {
  return static_cast<int32_t>(static_cast<uint32_t>(row) | 0x80000000u);
}
__device__ inline int32_t decode_row(int32_t entry) {
  return static_cast<int32_t>(static_cast<uint32_t>(entry) & 0x7FFFFFFFu);
}

// The graph without hidden arcs.
struct VisibleGraph {
  DeviceAdjacency graph;
  const int64_t* hidden = nullptr;  // ascending
  int64_t hidden_count = 0;

  // The number of hidden arcs before `arc`.
  __device__ int64_t hidden_before(int64_t arc) const {
    int64_t first = 0;
    int64_t last = hidden_count;
    while (first < last) {
      const int64_t k = first + (last - first) / 2;
      if (hidden[k] < arc) {
        first = k + 1;
      } else {
        last = k;
      }
    }
    return first;
  }
  __device__ int64_t degree(int64_t u) const {
    const int64_t begin = graph.row_ptr[u];
    const int64_t end = graph.row_ptr[u + 1];
    return hidden == nullptr ? end - begin
                             : (end - hidden_before(end)) - (begin - hidden_before(begin));
  }
};

// A value that a kernel computes for later kernels and for the host.
struct SharedCount {
  int64_t* device = nullptr;
  int64_t* host = nullptr;  // pinned

  __device__ void set(int64_t n) const {
    *device = n;
    *host = n;
  }
};

// Samples the rows of a layer and writes row_ptr, link, weight and arc_target. source[i] is still
// the node v, and table[v] becomes the first arc that leads to v.
struct RowSampling {
  VisibleGraph visible;
  const int32_t* nodes = nullptr;    // the targets are the first ones
  const int64_t* targets = nullptr;  // their number
  int64_t bound = 0;                 // at least the number of targets
  LayerSampling layer;
  bool replace = false;
  double dropout = 0;
  float kept = 1;  // the weight of the arcs that are not dropped
  Random sampled{0};
  Random dropped{0};
  BlockArrays out;
  int32_t* table = nullptr;
  SharedCount arcs;
};

// Temporary memory of Floyd's algorithm for one row of S sampled arcs: `capacity` keys, a power of
// two that is at least S, and as many draws. Small ones are in shared memory.
struct FloydMemory {
  uint64_t* words = nullptr;  // [blocks, words_per_block]; null: shared memory
  int64_t capacity = 0;       // 0: not needed
  int64_t blocks = 0;         // the number of blocks in the grid; 0: one per tile

  static constexpr int64_t kLargestShared = 2048;
  int64_t words_per_block() const { return capacity + capacity / 2; }
};
// Needed for rows of up to `largest_degree` arcs.
FloydMemory floyd_memory(const LayerSampling& layer, bool replace, int64_t largest_degree);

int64_t row_tiles(int64_t targets);
void sample_rows(const RowSampling& in, const FloydMemory& memory, const TileSums& sums,
                 cudaStream_t stream);

// Numbers the nodes in the order of their first arc. The new rows follow those of the targets.
struct NodeNumbering {
  const int64_t* targets = nullptr;
  const int64_t* arcs = nullptr;
  int64_t bound = 0;                // at least the number of arcs
  const int32_t* source = nullptr;  // [arcs]: nodes
  int32_t* nodes = nullptr;         // [sources]; the targets are set
  int32_t* table = nullptr;
  SharedCount sources;
};
int64_t arc_tiles(int64_t arcs);
void number_nodes(const NodeNumbering& in, const TileSums& sums, cudaStream_t stream);

// Writes the arrays that depend on the rows of all nodes.
struct BlockFinish {
  VisibleGraph visible;
  const int64_t* targets = nullptr;
  const int64_t* sources = nullptr;
  const int64_t* arcs = nullptr;
  BlockSize bound;
  bool ordered = false;  // the entries of `source` after the last arc become bound.sources
  bool pad = false;      // the same, and the other arrays are filled up to their bounds
  const int32_t* nodes = nullptr;
  const int32_t* table = nullptr;
  BlockArrays out;
};
void finish_block(const BlockFinish& in, cudaStream_t stream);

// Gives the seeds the first rows.
struct SeedNumbering {
  const int32_t* seeds = nullptr;  // [n], pinned
  int64_t n = 0;
  int32_t* nodes = nullptr;
  int32_t* table = nullptr;
  SharedCount sources;
};
void number_seeds(const SeedNumbering& in, cudaStream_t stream);

// Copies the nodes and clears the table.
struct TableRelease {
  const int64_t* sources = nullptr;
  int64_t bound = 0;  // at least the number of sources
  bool pad = false;   // with node 0
  const int32_t* nodes = nullptr;
  int32_t* table = nullptr;
  int64_t* out = nullptr;
};
void release_table(const TableRelease& in, cudaStream_t stream);

// *sum += Σ min(|N(u)|, fanout) over the targets.
struct ArcCount {
  VisibleGraph visible;
  const int32_t* nodes = nullptr;
  const int64_t* targets = nullptr;
  int64_t bound = 0;
  int64_t fanout = 0;
  unsigned long long* sum = nullptr;
};
void count_arcs(const ArcCount& in, cudaStream_t stream);

// *largest = max(*largest, |N(u)|) over all nodes.
void find_largest_degree(const DeviceAdjacency& graph, unsigned long long* largest,
                         cudaStream_t stream);

// values[i] = i.
void fill_ascending(int64_t* values, int64_t n, cudaStream_t stream);

// by_source[i]: the arcs in the order of `source`, stable. `keys` has room for all arcs, and `arcs`
// is 0, 1, …; returns the number of bytes of `temporary` if that is null.
struct ArcOrder {
  const int32_t* source = nullptr;  // [n], at most `largest`
  const int64_t* arcs = nullptr;    // [n]
  int64_t n = 0;
  int64_t largest = 0;
  int32_t* keys = nullptr;  // [n]
  int64_t* by_source = nullptr;
  void* temporary = nullptr;
  size_t bytes = 0;
};
size_t order_arcs(const ArcOrder& in, cudaStream_t stream);

inline int64_t blocks_for(int64_t n) { return std::max<int64_t>(1, (n + kThreads - 1) / kThreads); }

}  // namespace lase::kernels::cuda
