// y = x Wᵀ for rows of x. Every element of y is summed over j = 0 … d−1 in order, so that the
// result for a row depends only on that row and W. Compiled once per instruction set, like
// link_tile.h.
#pragma once

#include "lase/kernels/cpu/link_tile.h"

namespace lase::kernels {
namespace {

constexpr int64_t kProductDepth = 192;  // rows of Wᵀ per tile in the L1 cache

// c[r][·] += Σ_j x_r[j] w[j][·] for kRows rows and N vectors of columns, in registers.
template <int N>
LASE_INLINE void multiply_tile(const float* const (&x)[kRows], const float* w, int64_t depth,
                               float* c) {
  Vec sum[kRows][N];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) sum[r][i] = load(c + (r * N + i) * kLanes);
  }
  for (int64_t j = 0; j < depth; ++j) {
    Vec y[N];
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) y[i] = load(w + (j * N + i) * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vec factor = splat(x[r][j]);
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) sum[r][i] += factor * y[i];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int i = 0; i < N; ++i) store(c + (r * N + i) * kLanes, sum[r][i]);
  }
}

// y [n, m] for n ≤ kProductRows rows from `first`; w is packed in column tiles of d rows.
void multiply_rows(const RowsView& rows, int64_t first, int64_t n, const float* w, int64_t m,
                   float* y) {
  const float* x[kProductRows];
  for (int64_t i = 0; i < kProductRows; ++i) x[i] = rows.at(first + (i < n ? i : n - 1));
  alignas(64) float sums[kProductRows * kColumnTile];
  for_each_column_tile({.d = m}, [&]<int N, bool kTail>(const Columns<N, kTail>& columns) {
    for (int64_t i = 0; i < kProductRows * N * kLanes; i += kLanes) store(sums + i, Vec{});
    for (int64_t j = 0; j < rows.d; j += kProductDepth) {
      const int64_t depth = rows.d - j < kProductDepth ? rows.d - j : kProductDepth;
      const float* w_tile = w + columns.first * rows.d + j * N * kLanes;
      for (int64_t i = 0; i < n; i += kRows) {
        const float* x_tile[kRows];
        for (int r = 0; r < kRows; ++r) x_tile[r] = x[i + r] + j;
        multiply_tile<N>(x_tile, w_tile, depth, sums + i * N * kLanes);
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      for (int v = 0; v < N; ++v) {
        columns.write(y + i * m, v, load(sums + (i * N + v) * kLanes));
      }
    }
  });
}

}  // namespace
}  // namespace lase::kernels
