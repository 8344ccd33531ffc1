#include <algorithm>

#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/rows.h"

namespace lase::kernels::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kThreads = 256;
constexpr unsigned kAllLanes = 0xFFFFFFFFU;

unsigned blocks_for(int64_t items, int64_t per_block) {
  constexpr int64_t kMost = int64_t{1} << 30;
  return static_cast<unsigned>(std::clamp<int64_t>((items + per_block - 1) / per_block, 1, kMost));
}

__device__ int64_t row_at(const int64_t* row, int64_t i) { return row == nullptr ? i : row[i]; }

// One warp per row; the order of additions depends only on d.
__global__ void dot_rows_kernel(const float* h, const int64_t* row, int64_t n, int64_t d,
                                const float* v, float* out) {
  const int64_t i = blockIdx.x * int64_t{kThreads / kWarp} + threadIdx.x / kWarp;
  if (i >= n) return;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const float* x = h + row_at(row, i) * d;
  float sum = 0;
  for (int64_t j = lane; j < d; j += kWarp) sum += x[j] * v[j];
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    sum += __shfl_xor_sync(kAllLanes, sum, offset);
  }
  if (lane == 0) out[i] = sum;
}

// Rows are summed in chunks; the number of chunks depends only on n.
constexpr int kRowLanes = kThreads / kWarp;
struct RowChunks {
  int64_t count;
  int64_t rows;  // per chunk

  explicit RowChunks(int64_t n) {
    constexpr int64_t kRows = 64;
    constexpr int64_t kMost = 1024;
    count = std::clamp<int64_t>((n + kRows - 1) / kRows, 1, kMost);
    rows = (n + count - 1) / count;
  }
};

// partial[chunk, j] = Σ g[i] h(row_i)[j] over the rows i of a chunk; 32 columns per thread block,
// whose warps take every eighth row.
__global__ void sum_rows_kernel(const float* h, const int64_t* row, int64_t n, int64_t d,
                                const float* g, int64_t chunk, float* partial) {
  __shared__ float sums[kRowLanes][kWarp];
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const int warp = static_cast<int>(threadIdx.x / kWarp);
  const int64_t j = blockIdx.y * int64_t{kWarp} + lane;
  const int64_t first = blockIdx.x * chunk;
  const int64_t last = first + chunk < n ? first + chunk : n;
  float sum = 0;
  for (int64_t i = first + warp; i < last && j < d; i += kRowLanes) {
    sum += g[i] * h[row_at(row, i) * d + j];
  }
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || j >= d) return;
  for (int other = 1; other < kRowLanes; ++other) sum += sums[other][lane];
  partial[blockIdx.x * d + j] = sum;
}

// out[j] = Σ partial[chunk, j]
__global__ void sum_chunks_kernel(const float* partial, int64_t chunks, int64_t d, float* out) {
  const int64_t j = blockIdx.x * int64_t{kThreads} + threadIdx.x;
  if (j >= d) return;
  float sum = 0;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) sum += partial[chunk * d + j];
  out[j] = sum;
}

// One thread per random number, which decides four entries of a row.
template <class T>
__global__ void drop_rows_kernel(const T* h, const int64_t* row, int64_t n, int64_t d,
                                 DropoutMask mask, T kept, T* out) {
  const int64_t step = gridDim.x * int64_t{kThreads};
  for (int64_t k = blockIdx.x * int64_t{kThreads} + threadIdx.x; k < n * mask.words; k += step) {
    const int64_t i = k / mask.words;
    const int64_t word = k % mask.words;
    const uint64_t bits = mask.bits(i, word);
    const T* from = h + row_at(row, i) * d;
    for (int entry = 0; entry < 4; ++entry) {
      const int64_t j = 4 * word + entry;
      if (j >= d) break;
      const auto own = static_cast<uint16_t>(bits >> (16 * entry));
      out[i * d + j] = from[j] * (own < mask.threshold ? T{0} : kept);
    }
  }
}

template <class T>
__global__ void copy_sparse_rows_kernel(SparseRows<T> from, const int64_t* row,
                                        const int64_t* offset, int64_t n, int64_t* column,
                                        T* value) {
  const int64_t i = blockIdx.x * int64_t{kThreads / kWarp} + threadIdx.x / kWarp;
  if (i >= n) return;
  const int64_t first = from.row_ptr[row[i]];
  const int64_t count = from.row_ptr[row[i] + 1] - first;
  for (int64_t j = threadIdx.x % kWarp; j < count; j += kWarp) {
    column[offset[i] + j] = from.column[first + j];
    value[offset[i] + j] = from.value[first + j];
  }
}

template <class T>
__global__ void largest_arcs_kernel(const T* x, const int64_t* row_ptr, int64_t targets,
                                    int64_t arcs, int64_t d, int64_t* out) {
  const int64_t k = blockIdx.x * int64_t{kThreads} + threadIdx.x;
  if (k >= targets * d) return;
  const int64_t u = k / d;
  const int64_t j = k % d;
  int64_t best = arcs;
  for (int64_t i = row_ptr[u]; i < row_ptr[u + 1]; ++i) {
    if (best == arcs || x[i * d + j] > x[best * d + j]) best = i;
  }
  out[k] = best;
}

}  // namespace

void dot_rows(const float* h, const int64_t* row, int64_t n, int64_t d, const float* v, float* out,
              const Launch& launch) {
  if (n == 0) return;
  dot_rows_kernel<<<blocks_for(n, kThreads / kWarp), kThreads, 0, launch.stream>>>(h, row, n, d, v,
                                                                                   out);
  check_launch("dot_rows");
}

void sum_rows(const float* h, const int64_t* row, int64_t n, int64_t d, const float* g, float* out,
              const Launch& launch) {
  if (d == 0) return;
  const RowChunks chunks(n);
  auto* partial = launch.scratch->array<float>(chunks.count * d);
  const dim3 grid(static_cast<unsigned>(chunks.count), blocks_for(d, kWarp));
  sum_rows_kernel<<<grid, kThreads, 0, launch.stream>>>(h, row, n, d, g, chunks.rows, partial);
  check_launch("sum_rows");
  sum_chunks_kernel<<<blocks_for(d, kThreads), kThreads, 0, launch.stream>>>(partial, chunks.count,
                                                                             d, out);
  check_launch("sum_rows");
}

template <class T>
void drop_rows(const T* h, const int64_t* row, int64_t n, int64_t d, const DropoutMask& mask,
               T* out, const Launch& launch) {
  if (n * d == 0) return;
  constexpr int64_t kMostBlocks = 1 << 16;
  const auto blocks = std::min<int64_t>(blocks_for(n * mask.words, kThreads), kMostBlocks);
  drop_rows_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, launch.stream>>>(
      h, row, n, d, mask, static_cast<T>(mask.scale()), out);
  check_launch("drop_rows");
}

template <class T>
void copy_sparse_rows(const SparseRows<T>& from, const int64_t* row, const int64_t* offset,
                      int64_t n, int64_t* column, T* value, const Launch& launch) {
  if (n == 0) return;
  copy_sparse_rows_kernel<<<blocks_for(n, kThreads / kWarp), kThreads, 0, launch.stream>>>(
      from, row, offset, n, column, value);
  check_launch("copy_sparse_rows");
}

template <class T>
void largest_arcs(const T* x, const int64_t* row_ptr, int64_t targets, int64_t arcs, int64_t d,
                  int64_t* out, const Launch& launch) {
  if (targets * d == 0) return;
  largest_arcs_kernel<<<blocks_for(targets * d, kThreads), kThreads, 0, launch.stream>>>(
      x, row_ptr, targets, arcs, d, out);
  check_launch("largest_arcs");
}

template void drop_rows(const float*, const int64_t*, int64_t, int64_t, const DropoutMask&, float*,
                        const Launch&);
template void drop_rows(const double*, const int64_t*, int64_t, int64_t, const DropoutMask&,
                        double*, const Launch&);
template void copy_sparse_rows(const SparseRows<float>&, const int64_t*, const int64_t*, int64_t,
                               int64_t*, float*, const Launch&);
template void copy_sparse_rows(const SparseRows<double>&, const int64_t*, const int64_t*, int64_t,
                               int64_t*, double*, const Launch&);
template void largest_arcs(const float*, const int64_t*, int64_t, int64_t, int64_t, int64_t*,
                           const Launch&);
template void largest_arcs(const double*, const int64_t*, int64_t, int64_t, int64_t, int64_t*,
                           const Launch&);

}  // namespace lase::kernels::cuda
