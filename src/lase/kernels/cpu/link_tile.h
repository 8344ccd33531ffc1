// Shared by the forward and backward passes of the link kernel. Compiled once per instruction set:
// see vector.h for what may be included here.
//
// Arcs are processed in tiles of kArcTile. For each tile, f(e) is gathered; then, for each tile of
// columns, U f(e) is computed in registers, and the rest (activation, h(v), gate, sum) is applied
// while the product is still in the L1 cache.
#pragma once

#include "lase/kernels/cpu/isa.h"
#include "lase/kernels/cpu/vector.h"

namespace lase::kernels {
namespace {

constexpr int kColumnTile = kLanes * kVectors;

// The amplifier given z: 1, z itself, or σ.
enum class Act { kOne, kGiven, kSigmoid };

template <Act kAct>
LASE_INLINE Vec activate(Vec z) {
  return kAct == Act::kSigmoid ? sigmoid_of_exponent(z) : z;
}

// C[r][n] += Σ_i A(r, i) B[i][n] for kRows rows and N vectors of columns, in registers. A is in the
// scratch with compile-time strides, so that addressing it is free.
template <int N, int kRowStride, int kStep>
LASE_INLINE void multiply(Vec (&c)[kRows][N], const float* a, const float* b, int64_t b_stride,
                          int64_t length) {
  for (int64_t i = 0; i < length; ++i) {
    Vec y[N];
#pragma GCC unroll 8
    for (int n = 0; n < N; ++n) y[n] = load(b + i * b_stride + n * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Vec x = splat(a[r * kRowStride + i * kStep]);
#pragma GCC unroll 8
      for (int n = 0; n < N; ++n) c[r][n] += x * y[n];
    }
  }
}

// f: f(e) of a tile of arcs as [⌈k / kScratchColumns⌉][arc][kScratchColumns], zero-padded.
// product: U f(e) of the current tile of columns, [arc][width].
struct Scratch {
  float* f;
  alignas(64) float product[kArcTile * kColumnTile];
};

// Pointers to f(e) of a tile of arcs in any layout; sparse rows are read in place.
struct TileAttributes {
  int n = 0;
  const float* values[kArcTile];    // dense: the row; sparse: its stored values
  const int32_t* column[kArcTile];  // sparse
  int stored[kArcTile];             // sparse
};

// Prefetches the position of a row, one tile ahead of the row itself.
LASE_INLINE void prefetch_index(const AttributeView& f, int64_t link) {
  if (f.layout == Layout::kSparse) prefetch(f.row_ptr + link);
  if (f.layout == Layout::kDictionary) prefetch(f.code + link);
}

LASE_INLINE void locate(const AttributeView& f, int64_t link, int m, TileAttributes& tile) {
  if (f.layout == Layout::kSparse) {
    const int64_t first = f.row_ptr[link];
    tile.stored[m] = static_cast<int>(f.row_ptr[link + 1] - first);
    tile.values[m] = f.values + first;
    tile.column[m] = f.column + first;
    prefetch(tile.values[m]);
    prefetch(tile.column[m]);
    return;
  }
  const int64_t row = f.layout == Layout::kDictionary ? f.code[link] : link;
  tile.values[m] = f.values + row * f.columns;
  for (int64_t j = 0; j < f.columns; j += 16) prefetch(tile.values[m] + j);
}

// Copies dense rows to the scratch.
LASE_INLINE void gather(const TileAttributes& tile, int64_t k, float* to) {
  for (int m = 0; m < tile.n; ++m) {
    const float* row = tile.values[m];
    for (int64_t j = 0; j < k; j += kScratchColumns) {
      float* out = to + j * kArcTile + m * kScratchColumns;
      const int64_t width = k - j < kScratchColumns ? k - j : kScratchColumns;
      int64_t i = 0;
      for (; i + kLanes <= width; i += kLanes) store(out + i, load(row + j + i));
      if (i < width) store(out + i, load(row + j + i, static_cast<int>(width - i)));
    }
  }
}

// V f(e) of arc m of the tile.
LASE_INLINE float dot(const TileAttributes& tile, int m, const float* v, int64_t k, bool sparse) {
  if (sparse) {
    float result = 0;
    for (int i = 0; i < tile.stored[m]; ++i) result += tile.values[m][i] * v[tile.column[m][i]];
    return result;
  }
  return dot(tile.values[m], v, k);
}

// Prefetches the columns of h that the next tile will read, row by row, so that memory latency
// overlaps with the product.
struct Ahead {
  const float* const* row = nullptr;
  int n = 0;
  int64_t column = 0;
  int64_t width = 0;

  LASE_INLINE void fetch(int m) const {
    if (m >= n) return;
    for (int64_t i = 0; i < width; i += 16) prefetch(row[m] + column + i);
  }
};

// z [arc][N · kLanes] = shift + U f(e) for one tile of columns; dense rows in the scratch.
template <int N>
LASE_INLINE void dense_product(const Scratch& scratch, int n, int64_t k, const float* u,
                               const float* shift, float* z, const Ahead& ahead) {
  for (int m = 0; m < n; m += kRows) {
    Vec c[kRows][N];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) c[r][i] = load(shift + i * kLanes);
    }
    for (int64_t j = 0; j < k; j += kScratchColumns) {
      const int64_t width = k - j < kScratchColumns ? k - j : kScratchColumns;
      const float* f = scratch.f + j * kArcTile + m * kScratchColumns;
      for (int r = 0; r < kRows; ++r) {
        const int64_t first = width * r / kRows;
        multiply<N, kScratchColumns, 1>(c, f + first, u + (j + first) * N * kLanes, N * kLanes,
                                        width * (r + 1) / kRows - first);
        if (j == 0) ahead.fetch(m + r);
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) store(z + ((m + r) * N + i) * kLanes, c[r][i]);
    }
  }
}

template <int N>
LASE_INLINE void sparse_product(const TileAttributes& tile, const float* u, const float* shift,
                                float* z, const Ahead& ahead) {
  for (int m = 0; m < tile.n; ++m) {
    ahead.fetch(m);
    Vec c[N];
    for (int i = 0; i < N; ++i) c[i] = load(shift + i * kLanes);
    for (int s = 0; s < tile.stored[m]; ++s) {
      const float* row = u + tile.column[m][s] * int64_t{N * kLanes};
      const Vec x = splat(tile.values[m][s]);
      for (int i = 0; i < N; ++i) c[i] += x * load(row + i * kLanes);
    }
    for (int i = 0; i < N; ++i) store(z + (m * N + i) * kLanes, c[i]);
  }
}

// du [k_padded][N · kLanes] += f(e)ᵀ D for one tile of columns; row stride of D: d_stride.
template <int N>
LASE_INLINE void dense_outer(const Scratch& scratch, int n, int64_t k, const float* d,
                             int64_t d_stride, float* du) {
  for (int64_t j = 0; j < k; j += kRows) {
    Vec c[kRows][N];
    float* to = du + j * N * kLanes;
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) c[r][i] = load(to + (r * N + i) * kLanes);
    }
    multiply<N, 1, kScratchColumns>(
        c, scratch.f + j / kScratchColumns * kScratchColumns * kArcTile + j % kScratchColumns, d,
        d_stride, n);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) store(to + (r * N + i) * kLanes, c[r][i]);
    }
  }
}

template <int N>
LASE_INLINE void sparse_outer(const TileAttributes& tile, const float* d, float* du) {
  for (int m = 0; m < tile.n; ++m) {
    for (int s = 0; s < tile.stored[m]; ++s) {
      float* row = du + tile.column[m][s] * int64_t{N * kLanes};
      const Vec x = splat(tile.values[m][s]);
      for (int i = 0; i < N; ++i) {
        store(row + i * kLanes, load(row + i * kLanes) + x * load(d + (m * N + i) * kLanes));
      }
    }
  }
}

// Columns first … first + N · kLanes; with kTail the last vector is partial.
template <int N, bool kTail>
struct Columns {
  int64_t first;
  int last_lanes;  // lanes in the last vector, with kTail

  LASE_INLINE Vec read(const float* row, int i) const {
    if (kTail && i == N - 1) return load(row + first + i * kLanes, last_lanes);
    return load(row + first + i * kLanes);
  }
  LASE_INLINE void write(float* row, int i, Vec x) const {
    if (kTail && i == N - 1) {
      store(row + first + i * kLanes, x, last_lanes);
    } else {
      store(row + first + i * kLanes, x);
    }
  }
  LASE_INLINE void write(float* row, const Vec (&x)[N]) const {
    for (int i = 0; i < N; ++i) write(row, i, x[i]);
  }
  LASE_INLINE void add(float* row, const Vec (&x)[N]) const {
    for (int i = 0; i < N; ++i) write(row, i, read(row, i) + x[i]);
  }
  LASE_INLINE Ahead ahead(const float* const* rows, int n) const {
    return {rows, n, first, N * kLanes};
  }
};

// Calls visit(Columns) for each tile of columns.
template <class Visit>
LASE_INLINE void for_each_column_tile(const Shape& shape, const Visit& visit) {
  const int64_t whole = shape.d / kColumnTile * kColumnTile;
  for (int64_t c = 0; c < whole; c += kColumnTile) visit(Columns<kVectors, false>{c, kLanes});
  const auto rest = static_cast<int>(shape.d - whole);
  if (rest == 0) return;
  const int vectors = (rest + kLanes - 1) / kLanes;
  const int lanes = rest - (vectors - 1) * kLanes;
  if (vectors == 1) visit(Columns<1, true>{whole, lanes});
  if (vectors == 2) visit(Columns<2, true>{whole, lanes});
  if constexpr (kVectors > 2) {
    if (vectors == 3) visit(Columns<3, true>{whole, lanes});
  }
}

// z of a tile of arcs for one tile of columns, in any layout.
template <int N>
LASE_INLINE void product(const Scratch& scratch, const TileAttributes& tile, const Shape& shape,
                         const PackedTerm& term, int64_t column, bool sparse, float* z,
                         const Ahead& ahead) {
  const float* u = term.u + column * shape.k_padded;
  const float* shift = term.shift + column;
  if (sparse) {
    sparse_product<N>(tile, u, shift, z, ahead);
  } else {
    dense_product<N>(scratch, tile.n, shape.k, u, shift, z, ahead);
  }
}

// The row of each arc, for arcs visited in ascending order.
struct RowCursor {
  const int64_t* row_ptr;
  int64_t row;
  LASE_INLINE int64_t at(int64_t arc) {
    while (row_ptr[row + 1] <= arc) ++row;
    return row;
  }
};

// Processes a chunk tile by tile. The next tile is filled before the current one is computed, so
// that its data can be prefetched.
template <class Tile, class Work>
LASE_INLINE void run_tiles(Work&& work) {
  Tile tiles[2];
  int current = 0;
  work.fill(tiles[current]);
  while (tiles[current].f.n > 0) {
    work.fill(tiles[1 - current]);
    work.compute(tiles[current], tiles[1 - current]);
    current = 1 - current;
  }
}

}  // namespace
}  // namespace lase::kernels
