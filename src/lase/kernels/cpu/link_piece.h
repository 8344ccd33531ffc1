// The link kernel, on a piece of a block's arcs. Compiled once for each instruction set: see
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
constexpr int64_t kMaxTerms = 2;

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
  LASE_INLINE void add(float* row, const Vec (&x)[N]) const {
    for (int i = 0; i < N; ++i) write(row, i, read(row, i) + x[i]);
  }
  LASE_INLINE Ahead ahead(const float* const* rows, int n) const {
    return {rows, n, first, N * kLanes};
  }
};

// visit(Columns, panel's first column) for each panel of the columns.
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

// What a group needs besides f(e); gathered one group ahead, so that memory has time to answer.
struct ForwardGroup {
  GroupAttributes f;
  int64_t arc[kGroup];
  int64_t row[kGroup];
  const float* h[kMaxTerms][kGroup];
  const float* a[kMaxTerms][kGroup];  // tabulated
  float gate[kMaxTerms][kGroup];      // p + q, then λ
  float coefficient[kMaxTerms][kGroup];
  float* s[kGroup];
  Vec squares[kGroup];  // of h ⊙ a ⊙ factor, lane by lane
};

class Forward {
 public:
  explicit Forward(const ForwardPiece& piece)
      : piece_(piece),
        in_(*piece.in),
        out_(*piece.out),
        sparse_(in_.f.layout == Layout::kSparse),
        reads_f_(piece.terms[0].u != nullptr || piece.terms[0].v != nullptr),
        scratch_{piece.scratch, {}},
        cursor_{in_.block.row_ptr, piece.first_row},
        arc_(piece.first) {}

  void fill(ForwardGroup& group) {
    const BlockView& block = in_.block;
    const int64_t left = piece_.last - arc_;
    const int n = static_cast<int>(left < kGroup ? left : kGroup);
    group.f.n = n;
    for (int m = 0; m < n; ++m) {
      const int64_t arc = arc_ + m;
      const int64_t row = cursor_.at(arc);
      const int64_t source = block.source[arc];
      group.arc[m] = arc;
      group.row[m] = row;
      const bool began_before = block.row_ptr[row] < piece_.first;
      group.s[m] = began_before ? piece_.carry : out_.s + row * in_.d;
      if (reads_f_) locate(in_.f, block.link[arc], m, group.f);
      for (int64_t t = 0; t < piece_.term_count; ++t) {
        const PackedTerm& term = piece_.terms[t];
        const TermView& view = term.view;
        group.h[t][m] = view.h + (view.h_row != nullptr ? view.h_row[source] : source) * in_.d;
        if (view.p != nullptr) group.gate[t][m] = view.p[row] + view.q[source];
        if (term.table != nullptr) {
          group.a[t][m] = term.table + in_.f.code[block.link[arc]] * piece_.shape.d_padded;
        }
      }
    }
    arc_ += n;
  }

  void compute(ForwardGroup& group, const ForwardGroup& next) {
    const int n = group.f.n;
    if (piece_.terms[0].u != nullptr && !sparse_) gather(group.f, piece_.shape.k, scratch_.f);
    for (int64_t t = 0; t < piece_.term_count; ++t) find_gates(group, t);
    for (int m = 0; m < n; ++m) group.squares[m] = Vec{};
    for_each_panel(piece_.shape, [&](const auto& columns) {
      for (int64_t t = 0; t < piece_.term_count; ++t) panel(columns, group, next, t);
    });
    if (out_.gate != nullptr) {
      for (int m = 0; m < n; ++m) out_.gate[group.arc[m]] = group.gate[0][m];
    }
    if (out_.norm != nullptr) {
      for (int m = 0; m < n; ++m) {
        out_.norm[group.arc[m]] = group.gate[0][m] * __builtin_sqrtf(sum(group.squares[m]));
      }
    }
  }

 private:
  void find_gates(ForwardGroup& group, int64_t t) {
    const PackedTerm& term = piece_.terms[t];
    const BlockView& block = in_.block;
    for (int m = 0; m < group.f.n; ++m) {
      float& gate = group.gate[t][m];
      if (term.view.p == nullptr) {
        gate = 1;
      } else {
        if (term.v != nullptr) gate += dot(group.f, m, term.v, piece_.shape.k, sparse_);
        gate = sigmoid(gate);
      }
      float w = t == 0 ? 1 : -1;
      if (block.weight != nullptr) w *= block.weight[group.arc[m]];
      if (block.scale != nullptr) w *= block.scale[group.row[m]];
      group.coefficient[t][m] = w * gate;
    }
  }

  template <int N, bool kTail>
  LASE_INLINE void panel(const Columns<N, kTail>& columns, ForwardGroup& group,
                         const ForwardGroup& next, int64_t t) {
    const PackedTerm& term = piece_.terms[t];
    const Ahead ahead = columns.ahead(next.h[t], next.f.n);
    if (term.table != nullptr) {
      accumulate<Act::kGiven>(columns, group, t, nullptr, ahead);
    } else if (term.u == nullptr) {
      accumulate<Act::kOne>(columns, group, t, nullptr, ahead);
    } else {
      product<N>(scratch_, group.f, piece_.shape, term, columns.first, sparse_, scratch_.panel,
                 ahead);
      if (in_.amplifier == Amplifier::kSigmoid) {
        accumulate<Act::kSigmoid>(columns, group, t, scratch_.panel, {});
      } else {
        accumulate<Act::kGiven>(columns, group, t, scratch_.panel, {});
      }
    }
  }

  // s(u) += w λ h(v) ⊙ a(e), kept in registers as long as the target stays the same. z [arc][width]
  // of the panel; null: a(e) from the table.
  template <Act kAct, int N, bool kTail>
  __attribute__((noinline)) void accumulate(const Columns<N, kTail>& columns, ForwardGroup& group,
                                            int64_t t, const float* panel_z, const Ahead& ahead) {
    Vec s[N] = {};
    float* row = group.s[0];
    for (int m = 0; m < group.f.n; ++m) {
      if (group.s[m] != row) {
        columns.add(row, s);
        row = group.s[m];
        for (int i = 0; i < N; ++i) s[i] = Vec{};
      }
      ahead.ask(m);
      const float* z = nullptr;
      if (kAct != Act::kOne) {
        z = panel_z != nullptr ? panel_z + m * N * kLanes : group.a[t][m] + columns.first;
      }
      const Vec w = splat(group.coefficient[t][m]);
      Vec x[N];
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) {
        x[i] = columns.read(group.h[t][m], i);
        if (kAct != Act::kOne) x[i] *= activate<kAct>(load(z + i * kLanes));
        s[i] += w * x[i];
      }
      if (t == 0 && out_.norm != nullptr) group.squares[m] += squares(columns, x, group.row[m]);
    }
    columns.add(row, s);
  }

  template <int N, bool kTail>
  LASE_INLINE Vec squares(const Columns<N, kTail>& columns, const Vec (&x)[N], int64_t row) {
    Vec lanes{};
    for (int i = 0; i < N; ++i) {
      Vec y = x[i];
      if (out_.factor != nullptr) y *= columns.read(out_.factor + row * in_.d, i);
      lanes += y * y;
    }
    return lanes;
  }

  const ForwardPiece& piece_;
  const GatedSum& in_;
  const GatedSumOutput& out_;
  bool sparse_;
  bool reads_f_;
  Scratch scratch_;
  RowCursor cursor_;
  int64_t arc_;
};

struct BackwardGroup {
  GroupAttributes f;
  int64_t arc[kGroup];
  const float* h[kGroup];
  const float* g[kGroup];  // ds(u)
  const float* a[kGroup];  // tabulated
  float* by_code[kGroup];
  float* dh[kGroup];
  float weight[kGroup];  // w · scale
  float gate[kGroup];
  Vec dgate[kGroup];  // ⟨G, h ⊙ a⟩, lane by lane
};

class Backward {
 public:
  explicit Backward(const BackwardPiece& piece)
      : piece_(piece),
        in_(*piece.in),
        sparse_(in_.f.layout == Layout::kSparse),
        reads_f_(piece.term.u != nullptr || piece.dv != nullptr),
        scratch_{piece.scratch, {}},
        cursor_{in_.block.row_ptr, piece.first_row},
        next_(piece.first) {}

  void fill(BackwardGroup& group) {
    const BlockView& block = in_.block;
    const TermView& view = piece_.term.view;
    const int64_t left = piece_.last - next_;
    const int n = static_cast<int>(left < kGroup ? left : kGroup);
    group.f.n = n;
    for (int m = 0; m < n; ++m) {
      const int64_t arc = piece_.order != nullptr ? piece_.order[next_ + m] : next_ + m;
      const int64_t row = piece_.order != nullptr ? piece_.row[arc] : cursor_.at(arc);
      const int64_t source = block.source[arc];
      group.arc[m] = arc;
      group.h[m] = view.h + (view.h_row != nullptr ? view.h_row[source] : source) * in_.d;
      group.g[m] = piece_.ds + row * in_.d;
      group.dh[m] = nullptr;
      if (piece_.dh != nullptr) {
        group.dh[m] = source == piece_.carry_source ? piece_.carry : piece_.dh + source * in_.d;
      }
      group.weight[m] = 1;
      if (block.weight != nullptr) group.weight[m] *= block.weight[arc];
      if (block.scale != nullptr) group.weight[m] *= block.scale[row];
      group.gate[m] = piece_.gate != nullptr ? piece_.gate[arc] : 1;
      if (reads_f_) locate(in_.f, block.link[arc], m, group.f);
      if (piece_.term.table != nullptr) {
        const int64_t at = in_.f.code[block.link[arc]] * piece_.shape.d_padded;
        group.a[m] = piece_.term.table + at;
        group.by_code[m] = piece_.du + at;
      }
    }
    next_ += n;
  }

  void compute(BackwardGroup& group, const BackwardGroup& next) {
    const int n = group.f.n;
    if (reads_f_ && !sparse_) gather(group.f, piece_.shape.k, scratch_.f);
    for (int m = 0; m < n; ++m) group.dgate[m] = Vec{};
    for_each_panel(piece_.shape, [&](const auto& columns) { panel(columns, group, next); });
    if (piece_.dgate == nullptr) return;
    for (int m = 0; m < n; ++m) {
      const float gate = group.gate[m];
      const float dz = group.weight[m] * sum(group.dgate[m]) * gate * (1 - gate);
      piece_.dgate[group.arc[m]] = dz;
      if (piece_.dv != nullptr) add_attributes(group, m, dz);
    }
  }

 private:
  // dV += dz f(e)
  LASE_INLINE void add_attributes(const BackwardGroup& group, int m, float dz) {
    if (sparse_) {
      for (int s = 0; s < group.f.stored[m]; ++s) {
        piece_.dv[group.f.column[m][s]] += dz * group.f.values[m][s];
      }
      return;
    }
    for (int64_t j = 0; j < piece_.shape.k_padded; j += kChunk) {
      const float* f = scratch_.f + j * kGroup + m * kChunk;
      const int64_t rest = piece_.shape.k_padded - j;
      const int64_t width = rest < kChunk ? rest : kChunk;
      for (int64_t i = 0; i < width; ++i) piece_.dv[j + i] += dz * f[i];
    }
  }

  template <int N, bool kTail>
  LASE_INLINE void panel(const Columns<N, kTail>& columns, BackwardGroup& group,
                         const BackwardGroup& next) {
    const PackedTerm& term = piece_.term;
    const Ahead ahead = columns.ahead(next.h, next.f.n);
    const bool curved = in_.amplifier == Amplifier::kSigmoid;
    if (term.table != nullptr) {
      if (curved) differentiate<Act::kGiven, true>(columns, group, nullptr, ahead);
      if (!curved) differentiate<Act::kGiven, false>(columns, group, nullptr, ahead);
      return;
    }
    if (term.u == nullptr) {
      differentiate<Act::kOne, false>(columns, group, nullptr, ahead);
      return;
    }
    product<N>(scratch_, group.f, piece_.shape, term, columns.first, sparse_, scratch_.panel,
               ahead);
    if (curved) differentiate<Act::kSigmoid, true>(columns, group, scratch_.panel, {});
    if (!curved) differentiate<Act::kGiven, false>(columns, group, scratch_.panel, {});
    float* du = piece_.du + columns.first * piece_.shape.k_padded;
    if (sparse_) {
      sparse_outer<N>(group.f, scratch_.panel, du);
    } else {
      dense_outer<N>(scratch_, group.f.n, piece_.shape.k, scratch_.panel, N * kLanes, du);
    }
  }

  // With G = ds(u):
  //   dλ  += w ⟨G, h ⊙ a⟩
  //   D    = w λ G ⊙ h ⊙ a'        for dU += f(e)ᵀ D: in place of z, or summed by code
  //   dh  += w λ G ⊙ a
  template <Act kAct, bool kCurved, int N, bool kTail>
  __attribute__((noinline)) void differentiate(const Columns<N, kTail>& columns,
                                               BackwardGroup& group, float* panel_z,
                                               const Ahead& ahead) {
    Vec dh[N] = {};
    Vec shift[N] = {};
    float* row = group.dh[0];
    for (int m = 0; m < group.f.n; ++m) {
      if (group.dh[m] != row) {
        columns.add(row, dh);
        row = group.dh[m];
        for (int i = 0; i < N; ++i) dh[i] = Vec{};
      }
      ahead.ask(m);
      const float* z = nullptr;
      float* place = nullptr;  // of D
      if (kAct != Act::kOne && panel_z != nullptr) {
        z = place = panel_z + m * N * kLanes;
      } else if (kAct != Act::kOne) {
        z = group.a[m] + columns.first;
        place = group.by_code[m] + columns.first;
      }
      const Vec coefficient = splat(group.weight[m] * group.gate[m]);
      Vec dgate{};
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) {
        const Vec g = columns.read(group.g[m], i);
        const Vec gh = g * columns.read(group.h[m], i);
        if (kAct == Act::kOne) {
          dgate += gh;
          if (row != nullptr) dh[i] += coefficient * g;
          continue;
        }
        const Vec a = activate<kAct>(load(z + i * kLanes));
        dgate += gh * a;
        if (row != nullptr) dh[i] += coefficient * g * a;
        Vec d = coefficient * gh;
        if (kCurved) d *= a - a * a;
        shift[i] += d;
        float* to = place + i * kLanes;
        store(to, panel_z != nullptr ? d : load(to) + d);
      }
      group.dgate[m] += dgate;
    }
    if (row != nullptr) columns.add(row, dh);
    if (kAct == Act::kOne) return;
    float* to = piece_.du_shift + columns.first;
    for (int i = 0; i < N; ++i) store(to + i * kLanes, load(to + i * kLanes) + shift[i]);
  }

  const BackwardPiece& piece_;
  const GatedSum& in_;
  bool sparse_;
  bool reads_f_;
  Scratch scratch_;
  RowCursor cursor_;
  int64_t next_;
};

// The rows first … of a table of codes as a group.
LASE_INLINE void take_codes(const AttributeView& f, int64_t first, GroupAttributes& group,
                            Scratch& scratch) {
  const int64_t left = f.codes - first;
  group.n = static_cast<int>(left < kGroup ? left : kGroup);
  for (int m = 0; m < group.n; ++m) group.values[m] = f.values + (first + m) * f.columns;
  gather(group, f.columns, scratch.f);
}

void tabulate(const AttributeView& f, const Shape& shape, const PackedTerm& term,
              Amplifier amplifier, float* room, float* table) {
  Scratch scratch{room, {}};
  GroupAttributes group;
  for (int64_t code = 0; code < f.codes; code += kGroup) {
    take_codes(f, code, group, scratch);
    for_each_panel(shape, [&]<int N, bool kTail>(const Columns<N, kTail>& columns) {
      product<N>(scratch, group, shape, term, columns.first, false, scratch.panel, {});
      for (int m = 0; m < group.n; ++m) {
        float* to = table + (code + m) * shape.d_padded + columns.first;
        for (int i = 0; i < N * kLanes; i += kLanes) {
          const Vec z = load(scratch.panel + m * N * kLanes + i);
          store(to + i, amplifier == Amplifier::kSigmoid ? sigmoid_of_exponent(z) : z);
        }
      }
    });
  }
}

void gather_codes(const AttributeView& f, const Shape& shape, const float* by_code, float* room,
                  float* du) {
  Scratch scratch{room, {}};
  GroupAttributes group;
  for (int64_t code = 0; code < f.codes; code += kGroup) {
    take_codes(f, code, group, scratch);
    for_each_panel(shape, [&]<int N, bool kTail>(const Columns<N, kTail>& columns) {
      dense_outer<N>(scratch, group.n, shape.k, by_code + code * shape.d_padded + columns.first,
                     shape.d_padded, du + columns.first * shape.k_padded);
    });
  }
}

void forward(const ForwardPiece& piece) { run_groups<ForwardGroup>(Forward(piece)); }
void backward(const BackwardPiece& piece) { run_groups<BackwardGroup>(Backward(piece)); }

}  // namespace
}  // namespace lase::kernels
