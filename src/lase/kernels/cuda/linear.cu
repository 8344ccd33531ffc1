// A thread block computes a tile of the result, kTile × kTile. Tiles of both factors, kDepth terms
// of the sum at a time, are copied to shared memory kStages − 1 stages ahead. Each of the eight
// warps computes 16 rows × 32 columns of the tile on tensor cores.
#include <algorithm>

#include "lase/kernels/cuda/add_parts.h"
#include "lase/kernels/cuda/check.h"
#include "lase/kernels/cuda/dispatch.h"
#include "lase/kernels/cuda/linear.h"
#include "lase/kernels/cuda/tensor_core.cuh"

namespace lase::kernels::cuda {
namespace {

constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kStages = 3;
constexpr int kThreads = 256;

// A factor of the product: a matrix in memory, of which either the columns or the rows are summed.
struct Factor {
  const float* data = nullptr;
  int64_t stride = 0;
  const int64_t* row = nullptr;  // null: identity
  int64_t rows = 0;
  int64_t columns = 0;
};

// Copies tiles of a factor, in the order of memory: [kTile, kDepth] if its columns are summed, else
// [kDepth, kTile]. Each thread copies four adjacent columns of two rows.
template <bool kSumsColumns>
class FactorTile {
 public:
  static constexpr int kRows = kSumsColumns ? kTile : kDepth;
  static constexpr int kColumns = kSumsColumns ? kDepth : kTile;
  // Without bank conflicts, since the threads of a warp read 8 rows and 4 columns, or the reverse.
  static constexpr int kStride = kColumns + (kSumsColumns ? 4 : 8);
  static constexpr int kFloats = kRows * kStride;

  // The tile starts at `kept` in the dimension that is not summed.
  __device__ FactorTile(const Factor& in, int64_t kept, int64_t first, int64_t last)
      : in_(in), kept_(kept), first_(first), last_(last) {
    const bool is_even = in.stride % 2 == 0 && reinterpret_cast<uintptr_t>(in.data) % 8 == 0;
    vector_ = is_even && in.stride % 4 == 0 && reinterpret_cast<uintptr_t>(in.data) % 16 == 0 ? 4
              : is_even                                                                       ? 2
                                                                                              : 1;
    find_rows(0);
  }

  // Copies the terms of a stage, and finds the rows of the next one.
  __device__ void copy(int stage, float* to) {
    const int64_t at = first_ + int64_t{stage} * kDepth;
    const int64_t column = (kSumsColumns ? at : kept_) + own_column();
    const int64_t end = kSumsColumns ? last_ : in_.columns;
    const auto valid = static_cast<int>(max(int64_t{0}, min(int64_t{4}, end - column)));
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
      const bool exists = rows_[i] >= 0 && valid > 0;
      const float* from = in_.data + (exists ? rows_[i] * in_.stride + column : 0);
      copy_four(to + (own_row() + i * kRowStep) * kStride + own_column(), from, exists ? valid : 0);
    }
    if (!kSumsColumns) find_rows(stage + 1);
  }

  // The element of a tile at `kept` and `term`, both relative to the tile.
  __device__ __forceinline__ static float at(const float* tile, int kept, int term) {
    return kSumsColumns ? tile[kept * kStride + term] : tile[term * kStride + kept];
  }

 private:
  static constexpr int kQuads = kColumns / 4;
  static constexpr int kRowStep = kThreads / kQuads;
  static constexpr int kOwnRows = kRows / kRowStep;

  __device__ static int own_row() { return static_cast<int>(threadIdx.x) / kQuads; }
  __device__ static int own_column() { return static_cast<int>(threadIdx.x) % kQuads * 4; }

  __device__ void find_rows(int stage) {
    const int64_t from = kSumsColumns ? kept_ : first_ + int64_t{stage} * kDepth;
    const int64_t end = kSumsColumns ? in_.rows : last_;
#pragma unroll
    for (int i = 0; i < kOwnRows; ++i) {
      const int64_t row = from + own_row() + i * kRowStep;
      rows_[i] = row >= end ? -1 : (in_.row != nullptr ? in_.row[row] : row);
    }
  }

  // Of which `valid` floats exist; the others are zeros.
  __device__ __forceinline__ void copy_four(float* to, const float* from, int valid) const {
    constexpr int kFloat = 4;
    if (vector_ == 4) {
      copy_async<4 * kFloat>(to, from, valid * kFloat);
    } else if (vector_ == 2) {
      copy_async<2 * kFloat>(to, from, min(valid, 2) * kFloat);
      copy_async<2 * kFloat>(to + 2, valid > 2 ? from + 2 : from, max(valid - 2, 0) * kFloat);
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        copy_async<kFloat>(to + j, j < valid ? from + j : from, j < valid ? kFloat : 0);
      }
    }
  }

  const Factor& in_;
  int64_t kept_;
  int64_t first_;
  int64_t last_;
  int64_t rows_[kOwnRows];
  int vector_;
};

struct Product {
  Factor a;
  Factor b;
  int64_t rows = 0;      // of the result
  int64_t columns = 0;   // of the result
  int64_t depth = 0;     // terms of each sum
  int64_t part = 0;      // terms of a part of the sum, a multiple of kDepth
  float* out = nullptr;  // [parts, rows, columns]
};

// out = A B, with blockIdx.x and .y the tile of the result, and .z the part of the sum.
template <bool kSumsColumnsA, bool kSumsColumnsB, Precision kPrecision>
__global__ void __launch_bounds__(kThreads) multiply_tiles(const __grid_constant__ Product in) {
  using TileA = FactorTile<kSumsColumnsA>;
  using TileB = FactorTile<kSumsColumnsB>;
  constexpr int kStageFloats = TileA::kFloats + TileB::kFloats;
  extern __shared__ __align__(16) float shared[];
  const int64_t row = int64_t{blockIdx.x} * kTile;
  const int64_t column = int64_t{blockIdx.y} * kTile;
  const int64_t first = int64_t{blockIdx.z} * in.part;
  const int64_t last = min(in.depth, first + in.part);
  const auto stages = static_cast<int>((last - first + kDepth - 1) / kDepth);
  TileA a(in.a, row, first, last);
  TileB b(in.b, column, first, last);
  const auto copy = [&](int stage) {
    if (stage < stages) {
      float* to = shared + stage % kStages * kStageFloats;
      a.copy(stage, to);
      b.copy(stage, to + TileA::kFloats);
    }
    commit_copies();
  };
  for (int stage = 0; stage < kStages - 1; ++stage) copy(stage);

  const int quad = lane_id() % 4;
  const int eighth = lane_id() / 4;
  const int own_row = warp_id() / 2 * 16 + eighth;
  const int own_column = warp_id() % 2 * 32 + eighth;
  float total[4][4] = {};  // [8 columns each]
  for (int stage = 0; stage < stages; ++stage) {
    wait_for_copies<kStages - 2>();
    __syncthreads();
    copy(stage + kStages - 1);
    const float* tile_a = shared + stage % kStages * kStageFloats;
    const float* tile_b = tile_a + TileA::kFloats;
    // A sum of its own for each stage: the instruction truncates when it adds.
    float sum[4][4] = {};
#pragma unroll
    for (int term = quad; term < kDepth; term += 8) {
      Operand<2, kPrecision> x;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        x.set(i, TileA::at(tile_a, own_row + 8 * i, term),
              TileA::at(tile_a, own_row + 8 * i, term + 4));
      }
#pragma unroll
      for (int n = 0; n < 4; ++n) {
        Operand<1, kPrecision> y;
        y.set(0, TileB::at(tile_b, own_column + 8 * n, term),
              TileB::at(tile_b, own_column + 8 * n, term + 4));
        multiply<kPrecision>(sum[n], x, y);
      }
    }
#pragma unroll
    for (int n = 0; n < 4; ++n) {
#pragma unroll
      for (int j = 0; j < 4; ++j) total[n][j] += sum[n][j];
    }
  }
  // Through shared memory, so that a warp writes a part of a row.
  constexpr int kOutStride = kTile + 8;
  static_assert(kTile * kOutStride <= kStages * kStageFloats);
  wait_for_copies<0>();
  __syncthreads();
#pragma unroll
  for (int n = 0; n < 4; ++n) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int r = own_row + j / 2 * 8;
      const int c = warp_id() % 2 * 32 + 8 * n + 2 * quad + j % 2;
      shared[r * kOutStride + c] = total[n][j];
    }
  }
  __syncthreads();
  float* out = in.out + (int64_t{blockIdx.z} * in.rows + row) * in.columns + column;
  const auto rows = static_cast<int>(min(int64_t{kTile}, in.rows - row));
  const auto columns = static_cast<int>(min(int64_t{kTile}, in.columns - column));
  for (int r = warp_id(); r < rows; r += kThreads / 32) {
    for (int c = lane_id(); c < columns; c += 32) {
      out[r * in.columns + c] = shared[r * kOutStride + c];
    }
  }
}

int64_t tiles_of(int64_t n) { return (n + kTile - 1) / kTile; }

template <bool kSumsColumnsA, bool kSumsColumnsB>
void multiply_in(Precision precision, const Product& in, int64_t parts, const Launch& launch) {
  constexpr int kBytes = kStages *
                         (FactorTile<kSumsColumnsA>::kFloats + FactorTile<kSumsColumnsB>::kFloats) *
                         static_cast<int>(sizeof(float));
  const dim3 grid(static_cast<unsigned>(tiles_of(in.rows)),
                  static_cast<unsigned>(tiles_of(in.columns)), static_cast<unsigned>(parts));
  with_precision(precision, [&](auto rounding) {
    const auto kernel = multiply_tiles<kSumsColumnsA, kSumsColumnsB, rounding>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
          "linear");
    kernel<<<grid, kThreads, kBytes, launch.stream>>>(in);
  });
  check_launch("linear");
}

Factor factor_of(const RowsOf<float>& x) {
  return {.data = x.h, .stride = x.stride, .row = x.row, .rows = x.n, .columns = x.d};
}
Factor factor_of(const float* matrix, int64_t rows, int64_t columns) {
  return {.data = matrix, .stride = columns, .row = nullptr, .rows = rows, .columns = columns};
}

}  // namespace

void linear(const RowsOf<float>& x, const Weights& weights, Precision precision, float* y,
            const Launch& launch) {
  if (x.n * weights.m == 0) return;
  multiply_in<true, true>(precision,
                          {.a = factor_of(x),
                           .b = factor_of(weights.w, weights.m, x.d),
                           .rows = x.n,
                           .columns = weights.m,
                           .depth = x.d,
                           .part = x.d,
                           .out = y},
                          1, launch);
}

void linear_dx(const float* dy, int64_t n, const Weights& weights, int64_t d, Precision precision,
               float* dx, const Launch& launch) {
  if (n * d == 0) return;
  multiply_in<true, false>(precision,
                           {.a = factor_of(dy, n, weights.m),
                            .b = factor_of(weights.w, weights.m, d),
                            .rows = n,
                            .columns = d,
                            .depth = weights.m,
                            .part = weights.m,
                            .out = dx},
                           1, launch);
}

void linear_dw(const float* dy, int64_t m, const RowsOf<float>& x, Precision precision, float* dw,
               const Launch& launch) {
  if (m * x.d == 0) return;
  // Enough thread blocks for a GPU, unless there are few rows.
  constexpr int64_t kBlocks = 512;
  constexpr int64_t kLeast = 4 * kDepth;
  const int64_t wanted = std::max<int64_t>(1, kBlocks / (tiles_of(m) * tiles_of(x.d)));
  const int64_t part =
      (std::max(kLeast, (x.n + wanted - 1) / wanted) + kDepth - 1) / kDepth * kDepth;
  const int64_t parts = std::max<int64_t>(1, (x.n + part - 1) / part);
  float* out = parts == 1 ? dw : launch.scratch->array<float>(parts * m * x.d);
  multiply_in<false, false>(precision,
                            {.a = factor_of(dy, x.n, m),
                             .b = factor_of(x),
                             .rows = m,
                             .columns = x.d,
                             .depth = x.n,
                             .part = part,
                             .out = out},
                            parts, launch);
  if (parts > 1) add_parts(out, parts, m * x.d, dw, launch);
}

}  // namespace lase::kernels::cuda
