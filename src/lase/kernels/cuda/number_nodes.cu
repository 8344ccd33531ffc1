#include <algorithm>

#include "lase/kernels/cuda/memory.h"
#include "lase/kernels/cuda/sample_kernels.h"

namespace lase::kernels::cuda {
namespace {

constexpr const char* kFailure = "nodes cannot be numbered on the GPU";

constexpr int kArcsPerThread = 8;
constexpr int kTileArcs = kThreads * kArcsPerThread;
// Groups of 32 consecutive arcs in a tile: two per lane of the warp that sums them up.
constexpr int kGroups = kTileArcs / kLanes;
static_assert(kGroups == 2 * kLanes);

__host__ __device__ int64_t tiles_of(int64_t arcs) {
  return arcs <= kTileArcs ? 1 : (arcs + kTileArcs - 1) / kTileArcs;
}

__device__ int64_t index_of_thread() {
  return static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

// Arc i is the first one that leads to v if table[v] = i. Entries that other blocks replace by rows
// are negative, hence different from all arcs.
__global__ void __launch_bounds__(kThreads)
    number_nodes_kernel(const NodeNumbering in, const TileSums sums) {
  __shared__ uint32_t count[kGroups];  // then: the rows before a group
  const int64_t arcs = *in.arcs;
  const int64_t targets = *in.targets;
  const int64_t tiles = tiles_of(arcs);
  const int64_t tile = blockIdx.x;
  if (tile >= tiles) return;
  const int lane = lane_of_thread();
  const auto warp = static_cast<int>(threadIdx.x) / kLanes;
  int32_t v[kArcsPerThread];
  unsigned first[kArcsPerThread];
#pragma unroll
  for (int k = 0; k < kArcsPerThread; ++k) {
    const int64_t i = tile * kTileArcs + k * kThreads + threadIdx.x;
    v[k] = i < arcs ? in.source[i] : -1;
  }
#pragma unroll
  for (int k = 0; k < kArcsPerThread; ++k) {
    const int64_t i = tile * kTileArcs + k * kThreads + threadIdx.x;
    const bool is_first = v[k] >= 0 && *const_cast<volatile int32_t*>(in.table + v[k]) == i;
    first[k] = __ballot_sync(kAllLanes, is_first);
    if (lane == 0) count[k * kWarps + warp] = __popc(first[k]);
  }
  __syncthreads();
  if (warp == 0) {
    const uint32_t even = count[2 * lane];
    const uint32_t own = even + count[2 * lane + 1];
    const uint32_t up_to = sum_to_lane(own);
    const uint32_t sum = __shfl_sync(kAllLanes, up_to, kLanes - 1);
    const uint32_t before = sums.before(tile, sum);
    count[2 * lane] = before + up_to - own;
    count[2 * lane + 1] = before + up_to - own + even;
    if (lane == 0 && tile == tiles - 1) in.sources.set(targets + before + sum);
  }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kArcsPerThread; ++k) {
    if ((first[k] >> lane & 1) == 0) continue;
    const int64_t row = targets + count[k * kWarps + warp] + __popc(first[k] & lanes_below(lane));
    in.nodes[row] = v[k];
    in.table[v[k]] = encode_row(row);
  }
}

__global__ void __launch_bounds__(kThreads) finish_block_kernel(const BlockFinish in) {
  const int64_t i = index_of_thread();
  if (i < *in.arcs) {
    in.out.source[i] = decode_row(in.table[in.out.source[i]]);
  } else if ((in.ordered || in.pad) && i < in.bound.arcs) {
    in.out.source[i] = static_cast<int32_t>(in.bound.sources);
  }
  if (in.out.degree != nullptr && i < (in.pad ? in.bound.sources : *in.sources)) {
    in.out.degree[i] = i < *in.sources ? static_cast<float>(in.visible.degree(in.nodes[i])) : 0.0F;
  }
  if (in.out.target != nullptr && i < (in.pad ? in.bound.targets : *in.targets)) {
    in.out.target[i] = i;
  }
  if (in.pad && i > *in.targets && i <= in.bound.targets) in.out.row_ptr[i] = *in.arcs;
}

__global__ void __launch_bounds__(kThreads) number_seeds_kernel(const SeedNumbering in) {
  const int64_t i = index_of_thread();
  if (i == 0) in.sources.set(in.n);
  if (i >= in.n) return;
  const int32_t seed = in.seeds[i];
  in.nodes[i] = seed;
  in.table[seed] = encode_row(i);
}

__global__ void __launch_bounds__(kThreads) release_table_kernel(const TableRelease in) {
  const int64_t i = index_of_thread();
  if (i >= *in.sources) {
    if (in.pad && i < in.bound) in.out[i] = 0;
    return;
  }
  const int32_t node = in.nodes[i];
  in.table[node] = kUnseen;
  in.out[i] = node;
}

__global__ void __launch_bounds__(kThreads) count_arcs_kernel(const ArcCount in) {
  const int64_t i = index_of_thread();
  int64_t size = 0;
  if (i < *in.targets) {
    const int64_t degree = in.visible.degree(in.nodes[i]);
    size = in.fanout >= 0 && in.fanout < degree ? in.fanout : degree;
  }
  for (int step = kLanes / 2; step > 0; step /= 2) {
    size += __shfl_down_sync(kAllLanes, size, step);
  }
  if (lane_of_thread() == 0) atomicAdd(in.sum, static_cast<unsigned long long>(size));
}

__global__ void __launch_bounds__(kThreads)
    find_largest_degree_kernel(const DeviceAdjacency graph, unsigned long long* largest) {
  const int64_t u = index_of_thread();
  int64_t degree = u < graph.nodes ? graph.row_ptr[u + 1] - graph.row_ptr[u] : 0;
  for (int step = kLanes / 2; step > 0; step /= 2) {
    const int64_t other = __shfl_down_sync(kAllLanes, degree, step);
    if (other > degree) degree = other;
  }
  if (lane_of_thread() == 0) atomicMax(largest, static_cast<unsigned long long>(degree));
}

__global__ void __launch_bounds__(kThreads) fill_ascending_kernel(int64_t* values, int64_t n) {
  const int64_t i = index_of_thread();
  if (i < n) values[i] = i;
}

unsigned grid_for(int64_t n) { return static_cast<unsigned>(blocks_for(n)); }

}  // namespace

int64_t arc_tiles(int64_t arcs) { return tiles_of(arcs); }

void number_nodes(const NodeNumbering& in, const TileSums& sums, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(tiles_of(in.bound));
  number_nodes_kernel<<<blocks, kThreads, 0, stream>>>(in, sums);
  check(cudaGetLastError(), kFailure);
}

void finish_block(const BlockFinish& in, cudaStream_t stream) {
  // Sources include targets, and row_ptr has one entry more.
  const int64_t n = std::max(in.bound.arcs, in.bound.sources + 1);
  finish_block_kernel<<<grid_for(n), kThreads, 0, stream>>>(in);
  check(cudaGetLastError(), kFailure);
}

void number_seeds(const SeedNumbering& in, cudaStream_t stream) {
  number_seeds_kernel<<<grid_for(in.n), kThreads, 0, stream>>>(in);
  check(cudaGetLastError(), kFailure);
}

void release_table(const TableRelease& in, cudaStream_t stream) {
  release_table_kernel<<<grid_for(in.bound), kThreads, 0, stream>>>(in);
  check(cudaGetLastError(), kFailure);
}

void count_arcs(const ArcCount& in, cudaStream_t stream) {
  count_arcs_kernel<<<grid_for(in.bound), kThreads, 0, stream>>>(in);
  check(cudaGetLastError(), kFailure);
}

void find_largest_degree(const DeviceAdjacency& graph, unsigned long long* largest,
                         cudaStream_t stream) {
  find_largest_degree_kernel<<<grid_for(graph.nodes), kThreads, 0, stream>>>(graph, largest);
  check(cudaGetLastError(), kFailure);
}

void fill_ascending(int64_t* values, int64_t n, cudaStream_t stream) {
  fill_ascending_kernel<<<grid_for(n), kThreads, 0, stream>>>(values, n);
  check(cudaGetLastError(), kFailure);
}

}  // namespace lase::kernels::cuda
