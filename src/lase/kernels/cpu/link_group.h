// What forward and backward of the link kernel share. Compiled once for each instruction set: see
// vector.h for what may be included here.
//
// Arcs are taken in groups of kGroup. For a group, f(e) is gathered; then, panel by panel of
// columns, U f(e) is multiplied in registers, and what follows (activation, h(v), gate, sum) is
// done with the product still in the nearest cache.
#pragma once

#include "lase/kernels/cpu/isa.h"
#include "lase/kernels/cpu/vector.h"

namespace lase::kernels {
namespace {

constexpr int kPanel = kLanes * kVectors;

// The amplifier of a column: 1, as it stands, or the sigmoid of what stands.
enum class Act { kOne, kGiven, kSigmoid };

template <Act kAct>
LASE_INLINE Vec activate(Vec z) {
  return kAct == Act::kSigmoid ? sigmoid_of_exponent(z) : z;
}

// C[r][n] += Σ_i A(r, i) B[i][n] for kRows rows and N vectors of columns, in registers. A stands in
// the scratch with compile-time strides, so that its addresses cost nothing.
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

// f(e) of a group in chunks of kChunk columns, [chunk][arc][kChunk], zero where nothing is; and the
// panel in work, [arc][width].
struct Scratch {
  float* f;
  alignas(64) float panel[kGroup * kPanel];
};

// The group's f(e), by any layout; sparse rows stay where they are.
struct GroupAttributes {
  int n = 0;
  const float* values[kGroup];    // dense: the row; sparse: its stored values
  const int32_t* column[kGroup];  // sparse
  int stored[kGroup];             // sparse
};

// Where a row lies is read from memory too, one group before the row itself.
LASE_INLINE void ask_where(const AttributeView& f, int64_t link) {
  if (f.layout == Layout::kSparse) prefetch(f.row_ptr + link);
  if (f.layout == Layout::kCoded) prefetch(f.code + link);
}

LASE_INLINE void locate(const AttributeView& f, int64_t link, int m, GroupAttributes& group) {
  if (f.layout == Layout::kSparse) {
    const int64_t first = f.row_ptr[link];
    group.stored[m] = static_cast<int>(f.row_ptr[link + 1] - first);
    group.values[m] = f.values + first;
    group.column[m] = f.column + first;
    prefetch(group.values[m]);
    prefetch(group.column[m]);
    return;
  }
  const int64_t row = f.layout == Layout::kCoded ? f.code[link] : link;
  group.values[m] = f.values + row * f.columns;
  for (int64_t j = 0; j < f.columns; j += 16) prefetch(group.values[m] + j);
}

// Dense rows into the scratch.
LASE_INLINE void gather(const GroupAttributes& group, int64_t k, float* to) {
  for (int m = 0; m < group.n; ++m) {
    const float* row = group.values[m];
    for (int64_t j = 0; j < k; j += kChunk) {
      float* out = to + j * kGroup + m * kChunk;
      const int64_t width = k - j < kChunk ? k - j : kChunk;
      int64_t i = 0;
      for (; i + kLanes <= width; i += kLanes) store(out + i, load(row + j + i));
      if (i < width) store(out + i, load(row + j + i, static_cast<int>(width - i)));
    }
  }
}

// V f(e) of an arc of the group.
LASE_INLINE float dot(const GroupAttributes& group, int m, const float* v, int64_t k, bool sparse) {
  if (sparse) {
    float result = 0;
    for (int i = 0; i < group.stored[m]; ++i) result += group.values[m][i] * v[group.column[m][i]];
    return result;
  }
  Vec lanes{};
  int64_t j = 0;
  for (; j + kLanes <= k; j += kLanes) lanes += load(group.values[m] + j) * load(v + j);
  if (j < k) {
    const int rest = static_cast<int>(k - j);
    lanes += load(group.values[m] + j, rest) * load(v + j, rest);
  }
  return sum(lanes);
}

// The columns of h that the next group will read: asked for little by little, so that memory is
// busy while the product is.
struct Ahead {
  const float* const* row = nullptr;
  int n = 0;
  int64_t column = 0;
  int64_t width = 0;

  LASE_INLINE void ask(int m) const {
    if (m >= n) return;
    for (int64_t i = 0; i < width; i += 16) prefetch(row[m] + column + i);
  }
};

// z [arc][N · kLanes] = shift + f(e) U for one panel; dense rows in the scratch.
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
    for (int64_t j = 0; j < k; j += kChunk) {
      const int64_t width = k - j < kChunk ? k - j : kChunk;
      const float* f = scratch.f + j * kGroup + m * kChunk;
      for (int r = 0; r < kRows; ++r) {
        const int64_t first = width * r / kRows;
        multiply<N, kChunk, 1>(c, f + first, u + (j + first) * N * kLanes, N * kLanes,
                               width * (r + 1) / kRows - first);
        if (j == 0) ahead.ask(m + r);
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
LASE_INLINE void sparse_product(const GroupAttributes& group, const float* u, const float* shift,
                                float* z, const Ahead& ahead) {
  for (int m = 0; m < group.n; ++m) {
    ahead.ask(m);
    Vec c[N];
    for (int i = 0; i < N; ++i) c[i] = load(shift + i * kLanes);
    for (int s = 0; s < group.stored[m]; ++s) {
      const float* row = u + group.column[m][s] * int64_t{N * kLanes};
      const Vec x = splat(group.values[m][s]);
      for (int i = 0; i < N; ++i) c[i] += x * load(row + i * kLanes);
    }
    for (int i = 0; i < N; ++i) store(z + (m * N + i) * kLanes, c[i]);
  }
}

// du [k_padded][N · kLanes] of one panel += f(e)ᵀ D, with D [arc] at stride d_stride.
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
    multiply<N, 1, kChunk>(c, scratch.f + j / kChunk * kChunk * kGroup + j % kChunk, d, d_stride,
                           n);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) store(to + (r * N + i) * kLanes, c[r][i]);
    }
  }
}

template <int N>
LASE_INLINE void sparse_outer(const GroupAttributes& group, const float* d, float* du) {
  for (int m = 0; m < group.n; ++m) {
    for (int s = 0; s < group.stored[m]; ++s) {
      float* row = du + group.column[m][s] * int64_t{N * kLanes};
      const Vec x = splat(group.values[m][s]);
      for (int i = 0; i < N; ++i) {
        store(row + i * kLanes, load(row + i * kLanes) + x * load(d + (m * N + i) * kLanes));
      }
    }
  }
}

// Columns column … column + N · kLanes of which the last vector may be cut off.
template <int N, bool kTail>
struct Columns {
  int64_t first;
  int last_lanes;  // of the last vector, with kTail

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

// visit(Columns) for each panel of the columns.
template <class Visit>
LASE_INLINE void for_each_panel(const Shape& shape, const Visit& visit) {
  const int64_t whole = shape.d / kPanel * kPanel;
  for (int64_t c = 0; c < whole; c += kPanel) visit(Columns<kVectors, false>{c, kLanes});
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

// z of a group for one panel, by whichever layout.
template <int N>
LASE_INLINE void product(const Scratch& scratch, const GroupAttributes& group, const Shape& shape,
                         const PackedTerm& term, int64_t column, bool sparse, float* z,
                         const Ahead& ahead) {
  const float* u = term.u + column * shape.k_padded;
  const float* shift = term.shift + column;
  if (sparse) {
    sparse_product<N>(group, u, shift, z, ahead);
  } else {
    dense_product<N>(scratch, group.n, shape.k, u, shift, z, ahead);
  }
}

// The row in which each arc lies, for arcs visited in ascending order.
struct RowCursor {
  const int64_t* row_ptr;
  int64_t row;
  LASE_INLINE int64_t at(int64_t arc) {
    while (row_ptr[row + 1] <= arc) ++row;
    return row;
  }
};

// A piece group by group: while one is computed, the next is known, so that memory can be asked for
// what it will need.
template <class Group, class Work>
LASE_INLINE void run_groups(Work&& work) {
  Group groups[2];
  int now = 0;
  work.fill(groups[now]);
  while (groups[now].f.n > 0) {
    work.fill(groups[1 - now]);
    work.compute(groups[now], groups[1 - now]);
    now = 1 - now;
  }
}

}  // namespace
}  // namespace lase::kernels
