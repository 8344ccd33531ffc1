#include <algorithm>

#include "lase/kernels/cuda/add_parts.h"
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

__device__ float sum_of_warp(float x) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(kAllLanes, x, offset);
  return x;
}

// One warp per row; the order of additions depends only on d.
__global__ void dot_rows_kernel(const RowsOf<float> h, const float* v, float* out) {
  const int64_t i = blockIdx.x * int64_t{kThreads / kWarp} + threadIdx.x / kWarp;
  if (i >= h.n) return;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const float* x = h.at(i);
  float sum = 0;
  for (int64_t j = lane; j < h.d; j += kWarp) sum += x[j] * v[j];
  sum = sum_of_warp(sum);
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
__global__ void sum_rows_kernel(const RowsOf<float> h, const float* g, int64_t chunk,
                                float* partial) {
  __shared__ float sums[kRowLanes][kWarp];
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const int warp = static_cast<int>(threadIdx.x / kWarp);
  const int64_t j = blockIdx.y * int64_t{kWarp} + lane;
  const int64_t first = blockIdx.x * chunk;
  const int64_t last = first + chunk < h.n ? first + chunk : h.n;
  float sum = 0;
  for (int64_t i = first + warp; i < last && j < h.d; i += kRowLanes) sum += g[i] * h.at(i)[j];
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || j >= h.d) return;
  for (int other = 1; other < kRowLanes; ++other) sum += sums[other][lane];
  partial[blockIdx.x * h.d + j] = sum;
}

// One warp per row.
__global__ void scale_columns_kernel(const float* w, const ColumnScale by, float* scaled,
                                     float* shift) {
  const int64_t i = blockIdx.x * int64_t{kThreads / kWarp} + threadIdx.x / kWarp;
  if (i >= by.rows) return;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  float sum = 0;
  for (int64_t j = lane; j < by.columns; j += kWarp) {
    const float x = w[i * by.columns + j] * by.scale[j];
    scaled[i * by.columns + j] = x;
    sum += x * by.mean[j];
  }
  sum = sum_of_warp(sum);
  if (lane == 0) shift[i] = -sum;
}

__global__ void scale_columns_backward_kernel(const float* dscaled, const float* dshift,
                                              const ColumnScale by, float* dw) {
  const int64_t at = blockIdx.x * int64_t{kThreads} + threadIdx.x;
  if (at >= by.rows * by.columns) return;
  const int64_t j = at % by.columns;
  float x = dscaled != nullptr ? dscaled[at] : 0;
  if (dshift != nullptr) x -= dshift[at / by.columns] * by.mean[j];
  dw[at] = x * by.scale[j];
}

// One warp per row, with kLoads loads in flight per thread.
template <class T>
__global__ void copy_rows_kernel(const RowsOf<T> h, const RowsOf<T> cache, const int32_t* slot,
                                 T* out, int64_t out_stride) {
  const int64_t i = blockIdx.x * int64_t{kThreads / kWarp} + threadIdx.x / kWarp;
  if (i >= h.n) return;
  const int32_t cached = slot == nullptr ? -1 : slot[h.row[i]];
  const T* from = cached >= 0 ? cache.at(cached) : h.at(i);
  T* to = out + i * out_stride;
  constexpr int kLoads = 4;
  for (int64_t first = threadIdx.x % kWarp; first < h.d; first += kWarp * kLoads) {
    T x[kLoads];
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      if (first + kWarp * l < h.d) x[l] = from[first + kWarp * l];
    }
#pragma unroll
    for (int l = 0; l < kLoads; ++l) {
      if (first + kWarp * l < h.d) to[first + kWarp * l] = x[l];
    }
  }
}

// One thread per element of y.
__global__ void concat_relu_kernel(const float* a, const float* b, const ConcatShape shape,
                                   float* y) {
  const int64_t at = blockIdx.x * int64_t{kThreads} + threadIdx.x;
  const int64_t width = shape.left + shape.right;
  if (at >= shape.rows * width) return;
  const int64_t i = at / width;
  const int64_t j = at % width;
  const float x = j < shape.left ? a[i * shape.left + j] : b[i * shape.right + j - shape.left];
  y[at] = x < 0 ? 0 : x;  // NaN stays NaN
}

__global__ void concat_relu_backward_kernel(const float* dy, const float* y,
                                            const ConcatShape shape, float* da, float* db) {
  const int64_t at = blockIdx.x * int64_t{kThreads} + threadIdx.x;
  const int64_t width = shape.left + shape.right;
  if (at >= shape.rows * width) return;
  const int64_t i = at / width;
  const int64_t j = at % width;
  const float dx = y[at] <= 0 ? 0 : dy[at];
  if (j < shape.left) {
    if (da != nullptr) da[i * shape.left + j] = dx;
  } else if (db != nullptr) {
    db[i * shape.right + j - shape.left] = dx;
  }
}

// One warp per row.
__global__ void normalize_rows_kernel(const RowsOf<float> x, float smallest, float* y,
                                      float* norm) {
  const int64_t i = blockIdx.x * int64_t{kThreads / kWarp} + threadIdx.x / kWarp;
  if (i >= x.n) return;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const float* from = x.at(i);
  float squares = 0;
  for (int64_t j = lane; j < x.d; j += kWarp) squares += from[j] * from[j];
  const float length = sqrtf(sum_of_warp(squares));
  const float divisor = length < smallest ? smallest : length;  // NaN stays NaN
  for (int64_t j = lane; j < x.d; j += kWarp) y[i * x.d + j] = from[j] / divisor;
  if (lane == 0) norm[i] = length;
}

__global__ void normalize_rows_backward_kernel(const RowsOf<float> y, const float* dy,
                                               const float* norm, float smallest, float* dx) {
  const int64_t i = blockIdx.x * int64_t{kThreads / kWarp} + threadIdx.x / kWarp;
  if (i >= y.n) return;
  const int lane = static_cast<int>(threadIdx.x % kWarp);
  const float* own = y.at(i);
  const float* gradient = dy + i * y.d;
  float along = 0;
  for (int64_t j = lane; j < y.d; j += kWarp) along += own[j] * gradient[j];
  along = sum_of_warp(along);
  const bool is_small = norm[i] < smallest;
  if (is_small) along = 0;
  const float divisor = is_small ? smallest : norm[i];
  for (int64_t j = lane; j < y.d; j += kWarp) {
    dx[i * y.d + j] = (gradient[j] - own[j] * along) / divisor;
  }
}

// One thread per random number, which decides four entries of a row.
template <class T>
__global__ void drop_rows_kernel(const RowsOf<T> h, DropoutMask mask, const uint64_t* base, T kept,
                                 T* out) {
  if (base != nullptr) mask.key = Random(*base, mask.key).bits();
  const int64_t step = gridDim.x * int64_t{kThreads};
  for (int64_t k = blockIdx.x * int64_t{kThreads} + threadIdx.x; k < h.n * mask.words; k += step) {
    const int64_t i = k / mask.words;
    const int64_t word = k % mask.words;
    const uint64_t bits = mask.bits(i, word);
    const T* from = h.at(i);
    for (int entry = 0; entry < 4; ++entry) {
      const int64_t j = 4 * word + entry;
      if (j >= h.d) break;
      const auto own = static_cast<uint16_t>(bits >> (16 * entry));
      out[i * h.d + j] = from[j] * (own < mask.threshold ? T{0} : kept);
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

void dot_rows(const RowsOf<float>& h, const float* v, float* out, const Launch& launch) {
  if (h.n == 0) return;
  dot_rows_kernel<<<blocks_for(h.n, kThreads / kWarp), kThreads, 0, launch.stream>>>(h, v, out);
  check_launch("dot_rows");
}

void sum_rows(const RowsOf<float>& h, const float* g, float* out, const Launch& launch) {
  if (h.d == 0) return;
  const RowChunks chunks(h.n);
  auto* partial = launch.scratch->array<float>(chunks.count * h.d);
  const dim3 grid(static_cast<unsigned>(chunks.count), blocks_for(h.d, kWarp));
  sum_rows_kernel<<<grid, kThreads, 0, launch.stream>>>(h, g, chunks.rows, partial);
  check_launch("sum_rows");
  add_parts(partial, chunks.count, h.d, out, launch);
}

void copy_rows(const RowsOf<float>& h, const CacheOfRows& cache, float* out, int64_t out_stride,
               const Launch& launch) {
  if (h.n * h.d == 0) return;
  const auto blocks = blocks_for(h.n, kThreads / kWarp);
  const auto is_vector = [](const float* x, int64_t stride) {
    return reinterpret_cast<uintptr_t>(x) % sizeof(float4) == 0 && stride % 4 == 0;
  };
  if (is_vector(h.h, h.stride) && is_vector(cache.h, cache.stride) && is_vector(out, out_stride)) {
    const auto vectors = [](const float* x, int64_t stride) {
      return RowsOf<float4>{.h = reinterpret_cast<const float4*>(x), .stride = stride / 4};
    };
    RowsOf<float4> rows = vectors(h.h, h.stride);
    rows.row = h.row;
    rows.n = h.n;
    rows.d = (h.d + 3) / 4;
    copy_rows_kernel<<<blocks, kThreads, 0, launch.stream>>>(
        rows, vectors(cache.h, cache.stride), cache.slot, reinterpret_cast<float4*>(out),
        out_stride / 4);
  } else {
    copy_rows_kernel<<<blocks, kThreads, 0, launch.stream>>>(
        h, RowsOf<float>{.h = cache.h, .stride = cache.stride}, cache.slot, out, out_stride);
  }
  check_launch("copy_rows");
}

void concat_relu(const float* a, const float* b, const ConcatShape& shape, float* y,
                 const Launch& launch) {
  const int64_t n = shape.rows * (shape.left + shape.right);
  if (n == 0) return;
  concat_relu_kernel<<<blocks_for(n, kThreads), kThreads, 0, launch.stream>>>(a, b, shape, y);
  check_launch("concat_relu");
}

void concat_relu_backward(const float* dy, const float* y, const ConcatShape& shape, float* da,
                          float* db, const Launch& launch) {
  const int64_t n = shape.rows * (shape.left + shape.right);
  if (n == 0) return;
  concat_relu_backward_kernel<<<blocks_for(n, kThreads), kThreads, 0, launch.stream>>>(dy, y, shape,
                                                                                       da, db);
  check_launch("concat_relu_backward");
}

void normalize_rows(const RowsOf<float>& x, float smallest, float* y, float* norm,
                    const Launch& launch) {
  if (x.n == 0) return;
  normalize_rows_kernel<<<blocks_for(x.n, kThreads / kWarp), kThreads, 0, launch.stream>>>(
      x, smallest, y, norm);
  check_launch("normalize_rows");
}

void normalize_rows_backward(const RowsOf<float>& y, const float* dy, const float* norm,
                             float smallest, float* dx, const Launch& launch) {
  if (y.n == 0) return;
  normalize_rows_backward_kernel<<<blocks_for(y.n, kThreads / kWarp), kThreads, 0, launch.stream>>>(
      y, dy, norm, smallest, dx);
  check_launch("normalize_rows_backward");
}

void scale_columns(const float* w, const ColumnScale& by, float* scaled, float* shift,
                   const Launch& launch) {
  if (by.rows == 0) return;
  scale_columns_kernel<<<blocks_for(by.rows, kThreads / kWarp), kThreads, 0, launch.stream>>>(
      w, by, scaled, shift);
  check_launch("scale_columns");
}

void scale_columns_backward(const float* dscaled, const float* dshift, const ColumnScale& by,
                            float* dw, const Launch& launch) {
  if (by.rows * by.columns == 0) return;
  scale_columns_backward_kernel<<<blocks_for(by.rows * by.columns, kThreads), kThreads, 0,
                                  launch.stream>>>(dscaled, dshift, by, dw);
  check_launch("scale_columns_backward");
}

template <class T>
void drop_rows(const RowsOf<T>& h, const DropoutMask& mask, const uint64_t* base, T* out,
               const Launch& launch) {
  if (h.n * h.d == 0) return;
  constexpr int64_t kMostBlocks = 1 << 16;
  const auto blocks = std::min<int64_t>(blocks_for(h.n * mask.words, kThreads), kMostBlocks);
  drop_rows_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, launch.stream>>>(
      h, mask, base, static_cast<T>(mask.scale()), out);
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

template void drop_rows(const RowsOf<float>&, const DropoutMask&, const uint64_t*, float*,
                        const Launch&);
template void drop_rows(const RowsOf<double>&, const DropoutMask&, const uint64_t*, double*,
                        const Launch&);
template void copy_sparse_rows(const SparseRows<float>&, const int64_t*, const int64_t*, int64_t,
                               int64_t*, float*, const Launch&);
template void copy_sparse_rows(const SparseRows<double>&, const int64_t*, const int64_t*, int64_t,
                               int64_t*, double*, const Launch&);
template void largest_arcs(const float*, const int64_t*, int64_t, int64_t, int64_t, int64_t*,
                           const Launch&);
template void largest_arcs(const double*, const int64_t*, int64_t, int64_t, int64_t, int64_t*,
                           const Launch&);

}  // namespace lase::kernels::cuda
