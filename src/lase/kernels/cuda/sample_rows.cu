#include <algorithm>
#include <bit>

#include "lase/kernels/cuda/memory.h"
#include "lase/kernels/cuda/sample_kernels.h"

namespace lase::kernels::cuda {
namespace {

constexpr int kTileRows = 16;  // at most 32
// Longer rows are written by all threads of a block, shorter ones by a warp.
constexpr int64_t kLongRow = 512;
constexpr uint64_t kWholeRow = uint64_t{1} << 32;

__host__ __device__ int64_t tiles_of(int64_t targets) {
  return targets <= kTileRows ? 1 : (targets + kTileRows - 1) / kTileRows;
}

// One row of the block. If size < degree, `size` arcs are sampled from it.
struct Row {
  int64_t u;
  int64_t begin;   // its first arc, hidden or not
  int64_t degree;  // without hidden arcs
  int64_t size;
  int64_t hidden_first;  // its hidden arcs
  int64_t hidden_count;
};

__device__ Row row_of(const RowSampling& in, int64_t i) {
  Row row{};
  row.u = in.nodes[i];
  row.begin = in.visible.graph.row_ptr[row.u];
  const int64_t end = in.visible.graph.row_ptr[row.u + 1];
  if (in.visible.hidden != nullptr) {
    row.hidden_first = in.visible.hidden_before(row.begin);
    row.hidden_count = in.visible.hidden_before(end) - row.hidden_first;
  }
  row.degree = end - row.begin - row.hidden_count;
  const int64_t fanout = in.layer.fanout;
  row.size = fanout >= 0 && fanout < row.degree ? fanout : row.degree;
  return row;
}

__device__ bool is_whole(const Row& row) { return row.size == row.degree; }

// Whether distinct positions are sampled.
__device__ bool is_distinct(const RowSampling& in, const Row& row) {
  return !is_whole(row) && !in.replace && in.layer.start == nullptr;
}

__device__ bool fits_warp(const RowSampling& in, const Row& row) {
  return is_distinct(in, row) ? row.size <= kLanes : row.size <= kLongRow;
}

// Whether the arc at position j of the row of u is not dropped.
__device__ bool is_kept(const RowSampling& in, int64_t u, int64_t j) {
  Random random = in.dropped.with(u);
  random.skip(static_cast<uint64_t>(j));
  return !(random.uniform() < in.dropout);
}

// The last position with start ≤ point, given that the first one is.
__device__ int64_t interval_of(const uint32_t* start, int64_t n, uint32_t point) {
  int64_t first = 0;
  while (n > 1) {
    const int64_t half = n / 2;
    first += start[first + half] <= point ? half : 0;
    n -= half;
  }
  return first;
}

// The j-th sampled position, if it does not depend on the others.
__device__ int64_t draw(const RowSampling& in, const Row& row, int64_t j) {
  Random random = in.sampled.with(row.u);
  const auto at = static_cast<uint64_t>(j);
  if (in.layer.start == nullptr) {
    random.skip(at);
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(row.degree)));
  }
  // The first number is the offset of evenly spaced points; independent points do not use it.
  uint64_t point = random.bits() >> 32;
  if (in.replace) {
    random.skip(at);
    point = random.bits() >> 32;
  } else {
    point = (point + at * kWholeRow) / static_cast<uint64_t>(row.size);
  }
  return interval_of(in.layer.start + row.begin, row.degree, static_cast<uint32_t>(point));
}

// The arc at a position among the visible arcs of a row: of these, hidden[k] − k precede hidden[k],
// counted from the start of all rows.
__device__ int64_t arc_at(const RowSampling& in, const Row& row, int64_t position) {
  const int64_t arc = row.begin + position;
  const int64_t* hidden = in.visible.hidden + row.hidden_first;
  int64_t first = 0;
  int64_t last = row.hidden_count;
  while (first < last) {
    const int64_t k = first + (last - first) / 2;
    if (hidden[k] - k <= arc) {
      first = k + 1;
    } else {
      last = k;
    }
  }
  return arc + first;
}

__device__ float weight_of(const RowSampling& in, const Row& row, int64_t position) {
  if (is_whole(row)) return 1;
  const auto samples = static_cast<double>(row.size);
  if (in.layer.start == nullptr) {
    return static_cast<float>(static_cast<double>(row.degree) / samples);
  }
  const uint32_t* start = in.layer.start + row.begin;
  const uint64_t end = position + 1 == row.degree ? kWholeRow : start[position + 1];
  const auto p = static_cast<double>(end - start[position]) / static_cast<double>(kWholeRow);
  return static_cast<float>(1 / (samples * p));
}

// Writes arc `to` of the block, from a position in row i.
__device__ void store(const RowSampling& in, const Row& row, int64_t i, int64_t position,
                      int64_t to) {
  const DeviceAdjacency& graph = in.visible.graph;
  const int64_t arc = arc_at(in, row, position);
  const int32_t v = graph.neighbor[arc];
  in.out.source[to] = v;
  if (graph.wide_link != nullptr) {
    in.out.wide_link[to] = graph.wide_link[arc];
  } else {
    in.out.link[to] = graph.link[arc];
  }
  const float weight = weight_of(in, row, position);
  in.out.weight[to] = in.dropout > 0 ? weight * in.kept : weight;
  if (in.out.arc_target != nullptr) in.out.arc_target[to] = static_cast<int32_t>(i);
  // Entries only decrease, so an outdated one costs no more than a redundant update.
  if (*const_cast<volatile int32_t*>(in.table + v) > to) {
    atomicMin(in.table + v, static_cast<int32_t>(to));
  }
}

// Floyd's algorithm draws r_j ≤ top_j = degree − S + j for j = 0, …, S − 1, and adds top_j instead
// of r_j if r_j has been added before. That is so if
//   r_j = r_l for some l < j, or
//   r_j = top_l for some l < j, and top_l was added instead of r_l.
// Since l = r_j − top_0, the second condition is a chain of ever smaller l, and the steps need not
// be taken in order.

__device__ int64_t draw_below_top(const RowSampling& in, const Row& row, int64_t j) {
  Random random = in.sampled.with(row.u);
  random.skip(static_cast<uint64_t>(j));
  return static_cast<int64_t>(random.below(static_cast<uint64_t>(row.degree - row.size + j) + 1));
}

struct Ranked {
  int64_t position;
  int rank;  // among the positions of all lanes
};

// One position per lane, for S ≤ 32; lanes from S on do not get one.
__device__ Ranked distinct_in_warp(const RowSampling& in, const Row& row) {
  const int lane = lane_of_thread();
  const auto samples = static_cast<int>(row.size);
  const auto top = static_cast<int32_t>(row.degree) - samples + lane;
  // Other lanes draw distinct negative numbers.
  const int32_t r =
      lane < samples ? static_cast<int32_t>(draw_below_top(in, row, lane)) : -1 - lane;
  bool taken = (__match_any_sync(kAllLanes, r) & lanes_below(lane)) != 0;
  const int32_t chained = r - (top - lane);  // l, if it is in [0, lane)
  int next = !taken && lane < samples && chained >= 0 && chained < lane ? chained : -1;
  while (__any_sync(kAllLanes, next >= 0)) {
    const int from = next >= 0 ? next : lane;
    const bool their_taken = __shfl_sync(kAllLanes, static_cast<int>(taken), from) != 0;
    const int their_next = __shfl_sync(kAllLanes, next, from);
    if (next >= 0) {
      taken = their_taken;
      next = their_taken ? -1 : their_next;
    }
  }
  const int32_t position = taken ? top : r;
  int rank = 0;
  for (int l = 0; l < samples; ++l) {
    rank += __shfl_sync(kAllLanes, position, l) < position ? 1 : 0;
  }
  return {position, lane < samples ? rank : lane};
}

// Sorts n keys, a power of two, with all threads of the block (bitonic sort).
__device__ void sort_in_block(uint64_t* keys, int64_t n) {
  for (int64_t run = 2; run <= n; run *= 2) {
    for (int64_t step = run / 2; step > 0; step /= 2) {
      for (int64_t i = threadIdx.x; i < n; i += kThreads) {
        const int64_t other = i ^ step;
        if (other < i) continue;
        const bool ascending = (i & run) == 0;
        const uint64_t a = keys[i];
        const uint64_t b = keys[other];
        if ((a > b) == ascending) {
          keys[i] = b;
          keys[other] = a;
        }
      }
      __syncthreads();
    }
  }
}

// Whether r_j is replaced by top_j; draws [S] as in distinct_in_block.
__device__ bool is_taken(const uint32_t* draws, int64_t top, int64_t j) {
  constexpr uint32_t kRepeated = 0x80000000u;
  while ((draws[j] & kRepeated) == 0) {
    const int64_t chained = static_cast<int64_t>(draws[j]) - top;
    if (chained < 0 || chained >= j) return false;
    j = chained;
  }
  return true;
}

// Sets the first S keys to the sampled positions, ascending, with all threads of the block.
__device__ void distinct_in_block(const RowSampling& in, const Row& row, int64_t capacity,
                                  uint64_t* keys, uint32_t* draws) {
  // Equal draws become neighbors, ordered by j.
  for (int64_t j = threadIdx.x; j < capacity; j += kThreads) {
    keys[j] = ~uint64_t{0};
    if (j >= row.size) continue;
    keys[j] = static_cast<uint64_t>(draw_below_top(in, row, j)) << 32 | static_cast<uint64_t>(j);
  }
  __syncthreads();
  sort_in_block(keys, capacity);
  for (int64_t i = threadIdx.x; i < row.size; i += kThreads) {
    const uint64_t r = keys[i] >> 32;
    const bool repeated = i > 0 && keys[i - 1] >> 32 == r;
    draws[keys[i] & 0xFFFFFFFFu] = static_cast<uint32_t>(r) | (repeated ? 0x80000000u : 0u);
  }
  __syncthreads();
  const int64_t top = row.degree - row.size;
  for (int64_t j = threadIdx.x; j < row.size; j += kThreads) {
    const bool taken = is_taken(draws, top, j);
    keys[j] = taken ? static_cast<uint64_t>(top + j) : draws[j] & 0x7FFFFFFFu;
  }
  __syncthreads();
  sort_in_block(keys, capacity);
}

// Writes the arcs of row i from arc `to` on, with the lanes of a warp.
__device__ void write_in_warp(const RowSampling& in, const Row& row, int64_t i, int64_t to) {
  const int lane = lane_of_thread();
  const bool distinct = is_distinct(in, row);
  for (int64_t j = lane; j - lane < row.size; j += kLanes) {
    Ranked at{j, lane};
    if (distinct) {
      at = distinct_in_warp(in, row);
    } else if (!is_whole(row) && j < row.size) {
      at.position = draw(in, row, j);
    }
    const bool keep = j < row.size && (!(in.dropout > 0) || is_kept(in, row.u, j - lane + at.rank));
    const unsigned kept = __reduce_or_sync(kAllLanes, keep ? 1u << at.rank : 0u);
    if (keep) store(in, row, i, at.position, to + __popc(kept & lanes_below(at.rank)));
    to += __popc(kept);
  }
}

// The same with all threads of the block.
__device__ void write_in_block(const RowSampling& in, const Row& row, int64_t i, int64_t to,
                               int64_t capacity, uint64_t* words) {
  __shared__ int kept_in_warp[kWarps];
  const bool distinct = is_distinct(in, row);
  if (distinct) {
    distinct_in_block(in, row, capacity, words, reinterpret_cast<uint32_t*>(words + capacity));
  }
  const int lane = lane_of_thread();
  const auto warp = static_cast<int>(threadIdx.x) / kLanes;
  for (int64_t first = 0; first < row.size; first += kThreads) {
    const int64_t j = first + threadIdx.x;
    const bool keep = j < row.size && (!(in.dropout > 0) || is_kept(in, row.u, j));
    const unsigned kept = __ballot_sync(kAllLanes, keep);
    if (lane == 0) kept_in_warp[warp] = __popc(kept);
    __syncthreads();
    int64_t before = to;
    for (int w = 0; w < kWarps; ++w) {
      if (w < warp) before += kept_in_warp[w];
      to += kept_in_warp[w];
    }
    if (keep) {
      int64_t position = j;
      if (distinct) {
        position = static_cast<int64_t>(words[j]);
      } else if (!is_whole(row)) {
        position = draw(in, row, j);
      }
      store(in, row, i, position, before + __popc(kept & lanes_below(lane)));
    }
    __syncthreads();  // for the next counts, and the next keys
  }
}

// Sets count[k] to the number of arcs of each row that are not dropped.
__device__ void count_kept(const RowSampling& in, const Row* rows, int n, uint32_t* count) {
  const int lane = lane_of_thread();
  const auto warp = static_cast<int>(threadIdx.x) / kLanes;
  for (int k = 0; k < n; ++k) {
    const Row& row = rows[k];
    const bool is_long = row.size > kLongRow;
    if (!is_long && k % kWarps != warp) continue;
    uint32_t kept = 0;
    const int step = is_long ? kThreads : kLanes;
    for (int64_t j = is_long ? static_cast<int>(threadIdx.x) : lane; j < row.size; j += step) {
      kept += is_kept(in, row.u, j) ? 1 : 0;
    }
    kept = __reduce_add_sync(kAllLanes, kept);
    if (lane == 0) atomicAdd(count + k, kept);
  }
}

__global__ void __launch_bounds__(kThreads, 5)
    sample_rows_kernel(const RowSampling in, const FloydMemory memory, const TileSums sums) {
  __shared__ Row rows[kTileRows];
  __shared__ uint32_t count[kTileRows];
  __shared__ int64_t first[kTileRows];
  extern __shared__ uint64_t shared_words[];
  uint64_t* words = memory.words == nullptr
                        ? shared_words
                        : memory.words + blockIdx.x * (memory.capacity + memory.capacity / 2);
  const int64_t targets = *in.targets;
  const int64_t tiles = tiles_of(targets);
  const int lane = lane_of_thread();
  const auto warp = static_cast<int>(threadIdx.x) / kLanes;
  for (int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const int64_t begin = tile * kTileRows;
    const auto n = static_cast<int>(targets - begin < kTileRows ? targets - begin : kTileRows);
    const auto k = static_cast<int>(threadIdx.x);
    if (k < n) {
      rows[k] = row_of(in, begin + k);
      count[k] = in.dropout > 0 ? 0 : static_cast<uint32_t>(rows[k].size);
    }
    __syncthreads();
    if (in.dropout > 0) {
      count_kept(in, rows, n, count);
      __syncthreads();
    }
    if (warp == 0) {
      const uint32_t own = lane < n ? count[lane] : 0;
      const uint32_t up_to = sum_to_lane(own);
      const uint32_t sum = __shfl_sync(kAllLanes, up_to, kLanes - 1);
      const uint32_t before = sums.before(tile, sum);
      if (lane < n) {
        first[lane] = before + up_to - own;
        in.out.row_ptr[begin + lane + 1] = before + up_to;
      }
      if (lane == 0 && tile == 0) in.out.row_ptr[0] = 0;
      if (lane == 0 && tile == tiles - 1) in.arcs.set(before + sum);
    }
    __syncthreads();
    for (int row = warp; row < n; row += kWarps) {
      if (fits_warp(in, rows[row])) write_in_warp(in, rows[row], begin + row, first[row]);
    }
    for (int row = 0; row < n; ++row) {
      if (fits_warp(in, rows[row])) continue;
      write_in_block(in, rows[row], begin + row, first[row], memory.capacity, words);
    }
    __syncthreads();
  }
}

}  // namespace

FloydMemory floyd_memory(const LayerSampling& layer, bool replace, int64_t largest_degree) {
  FloydMemory memory;
  const bool distinct = !replace && layer.start == nullptr && layer.fanout > kLanes;
  if (!distinct || layer.fanout >= largest_degree) return memory;
  memory.capacity = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(layer.fanout)));
  return memory;
}

int64_t row_tiles(int64_t targets) { return tiles_of(targets); }

void sample_rows(const RowSampling& in, const FloydMemory& memory, const TileSums& sums,
                 cudaStream_t stream) {
  const int64_t tiles = tiles_of(in.bound);
  const int64_t blocks = memory.blocks > 0 ? std::min(memory.blocks, tiles) : tiles;
  const size_t shared = memory.words == nullptr
                            ? static_cast<size_t>(memory.words_per_block()) * sizeof(uint64_t)
                            : 0;
  sample_rows_kernel<<<static_cast<unsigned>(blocks), kThreads, shared, stream>>>(in, memory, sums);
  check(cudaGetLastError(), "neighbors cannot be sampled on the GPU");
}

}  // namespace lase::kernels::cuda
