// s(u) = Σ_i w_i λ_i h(v_i) ⊙ a(e_i) over whole runs of arcs, and the norms of the terms.
#pragma once

#include "lase/kernels/cpu/link_tile.h"

namespace lase::kernels {
namespace {

constexpr int64_t kMaxTerms = 2;

// The inputs of a tile of arcs, gathered one tile ahead so that they can be prefetched.
struct ForwardTile {
  TileAttributes f;
  int64_t arc[kArcTile];
  int64_t row[kArcTile];
  const float* h[kMaxTerms][kArcTile];
  const float* a[kMaxTerms][kArcTile];  // tabulated
  float gate[kMaxTerms][kArcTile];      // p + q, then λ
  float coefficient[kMaxTerms][kArcTile];
  float* s[kArcTile];
  bool starts[kArcTile];  // whether the arc starts a run, whose sum starts from zero
  Vec squares[kArcTile];  // ‖h ⊙ a ⊙ factor‖², per lane
};

class Forward {
 public:
  explicit Forward(const ForwardChunk& chunk)
      : chunk_(chunk),
        in_(*chunk.in),
        out_(*chunk.out),
        sparse_(in_.f.layout == Layout::kSparse),
        reads_f_(chunk.terms[0].u != nullptr || chunk.terms[0].v != nullptr ||
                 (in_.links && in_.f.columns > 0)),
        scratch_{chunk.scratch, {}},
        cursor_{in_.block.row_ptr, chunk.first_row},
        arc_(chunk.first) {}

  void fill(ForwardTile& tile) {
    const BlockView& block = in_.block;
    const int64_t left = chunk_.last - arc_;
    const int n = static_cast<int>(left < kArcTile ? left : kArcTile);
    tile.f.n = n;
    for (int m = 0; m < n; ++m) {
      const int64_t arc = arc_ + m;
      const int64_t row = cursor_.at(arc);
      const int64_t source = block.source[arc];
      tile.arc[m] = arc;
      tile.row[m] = row;
      const int64_t position = arc - block.row_ptr[row];
      tile.starts[m] = position % kRun == 0;
      tile.s[m] =
          position < kRun ? out_.s + row * chunk_.shape.width : chunk_.carry(arc - position % kRun);
      if (reads_f_ && m + kArcTile < left) prefetch_index(in_.f, block.link_row(arc + kArcTile));
      if (reads_f_) locate(in_.f, block.link_row(arc), m, tile.f);
      for (int64_t t = 0; t < chunk_.term_count; ++t) {
        const PackedTerm& term = chunk_.terms[t];
        const TermView& view = term.view;
        tile.h[t][m] = view.h + (view.h_row != nullptr ? view.h_row[source] : source) * in_.d;
        if (view.p != nullptr) {
          tile.gate[t][m] = view.p[row] + (view.q != nullptr ? view.q[source] : 0);
        }
        if (term.table != nullptr) {
          tile.a[t][m] = term.table + in_.f.code[block.link_row(arc)] * chunk_.shape.d_padded;
        }
      }
    }
    arc_ += n;
  }

  void compute(ForwardTile& tile, const ForwardTile& next) {
    const int n = tile.f.n;
    if (chunk_.terms[0].u != nullptr && !sparse_) gather(tile.f, chunk_.shape.k, scratch_.f);
    for (int64_t t = 0; t < chunk_.term_count; ++t) find_gates(tile, t);
    for (int m = 0; m < n; ++m) tile.squares[m] = Vec{};
    for_each_column_tile(chunk_.shape,
                         [&](const auto& columns) { compute_columns(columns, tile, next); });
    if (in_.links) add_links(tile);
    if (out_.gate != nullptr) {
      for (int m = 0; m < n; ++m) out_.gate[tile.arc[m]] = tile.gate[0][m];
    }
    if (out_.norm != nullptr) {
      for (int m = 0; m < n; ++m) {
        float squares = sum(tile.squares[m]);
        if (in_.links) squares += 1;
        out_.norm[tile.arc[m]] = tile.gate[0][m] * __builtin_sqrtf(squares);
      }
    }
  }

 private:
  // s(u) of the links themselves: += w λ [1; f(e)], in the order of arcs.
  void add_links(ForwardTile& tile) {
    const int64_t k = chunk_.shape.k;
    for (int m = 0; m < tile.f.n; ++m) {
      float* s = tile.s[m] + in_.d;
      for (int64_t j = 0; j <= k && tile.starts[m]; ++j) s[j] = 0;
      float w = 0;
      for (int64_t t = 0; t < chunk_.term_count; ++t) w += tile.coefficient[t][m];
      s[0] += w;
      float* r = s + 1;
      if (k == 0) continue;
      if (sparse_) {
        for (int i = 0; i < tile.f.stored[m]; ++i) {
          r[tile.f.column[m][i]] += w * tile.f.values[m][i];
        }
        continue;
      }
      const float* f = tile.f.values[m];
      const Vec weight = splat(w);
      int64_t j = 0;
      for (; j + kLanes <= k; j += kLanes) store(r + j, load(r + j) + weight * load(f + j));
      for (; j < k; ++j) r[j] += w * f[j];
    }
  }

  void find_gates(ForwardTile& tile, int64_t t) {
    const PackedTerm& term = chunk_.terms[t];
    const BlockView& block = in_.block;
    for (int m = 0; m < tile.f.n; ++m) {
      float& gate = tile.gate[t][m];
      if (term.view.p == nullptr) {
        gate = 1;
      } else {
        if (term.view.v_h != nullptr) gate += dot(tile.h[t][m], term.view.v_h, in_.d);
        if (term.v != nullptr) gate += dot(tile.f, m, term.v, chunk_.shape.k, sparse_);
        gate = sigmoid(gate);
      }
      float w = t == 0 ? 1 : -1;
      if (block.weight != nullptr) w *= block.weight[tile.arc[m]];
      if (block.scale != nullptr) w *= block.scale[tile.row[m]];
      tile.coefficient[t][m] = w * gate;
    }
  }

  template <int N, bool kTail>
  LASE_INLINE void compute_columns(const Columns<N, kTail>& columns, ForwardTile& tile,
                                   const ForwardTile& next) {
    if (chunk_.term_count == 1) compute_terms<1>(columns, tile, next);
    if (chunk_.term_count == 2) compute_terms<2>(columns, tile, next);
  }

  template <int kTerms, int N, bool kTail>
  LASE_INLINE void compute_terms(const Columns<N, kTail>& columns, ForwardTile& tile,
                                 const ForwardTile& next) {
    const PackedTerm& term = chunk_.terms[0];
    if (term.table != nullptr) {
      accumulate<Act::kGiven, kTerms>(columns, tile, next, false);
      return;
    }
    if (term.u == nullptr) {
      accumulate<Act::kOne, kTerms>(columns, tile, next, false);
      return;
    }
    for (int t = 0; t < kTerms; ++t) {
      product<N>(scratch_, tile.f, chunk_.shape, chunk_.terms[t], columns.first, sparse_,
                 product_of(t), columns.ahead(next.h[t], next.f.n));
    }
    if (in_.amplifier == Amplifier::kSigmoid) {
      accumulate<Act::kSigmoid, kTerms>(columns, tile, next, true);
    } else {
      accumulate<Act::kGiven, kTerms>(columns, tile, next, true);
    }
  }

  float* product_of(int t) { return t == 0 ? scratch_.product : second_product_; }

  // s(u) += w λ h(v) ⊙ a(e), in the order of arcs and then terms, so that the sum does not depend
  // on the tiles; kept in registers within a run. a(e) comes from the product z [arc][width] or
  // from the table.
  template <Act kAct, int kTerms, int N, bool kTail>
  __attribute__((noinline)) void accumulate(const Columns<N, kTail>& columns, ForwardTile& tile,
                                            const ForwardTile& next, bool from_product) {
    const Ahead ahead[2] = {columns.ahead(next.h[0], next.f.n), columns.ahead(next.h[1], next.f.n)};
    Vec s[N] = {};
    float* row = nullptr;
    for (int m = 0; m < tile.f.n; ++m) {
      if (tile.s[m] != row) {
        if (row != nullptr) columns.write(row, s);
        row = tile.s[m];
        for (int i = 0; i < N; ++i) s[i] = tile.starts[m] ? Vec{} : columns.read(row, i);
      }
#pragma GCC unroll 2
      for (int t = 0; t < kTerms; ++t) {
        if (!from_product) ahead[t].fetch(m);
        const float* z = nullptr;
        if (kAct != Act::kOne) {
          z = from_product ? product_of(t) + m * N * kLanes : tile.a[t][m] + columns.first;
        }
        const Vec w = splat(tile.coefficient[t][m]);
        Vec x[N];
#pragma GCC unroll 8
        for (int i = 0; i < N; ++i) {
          x[i] = columns.read(tile.h[t][m], i);
          if (kAct != Act::kOne) x[i] *= activate<kAct>(load(z + i * kLanes));
          s[i] += w * x[i];
        }
        if (t == 0 && out_.norm != nullptr) tile.squares[m] += squares(columns, x, tile.row[m]);
      }
    }
    if (row != nullptr) columns.write(row, s);
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

  const ForwardChunk& chunk_;
  const GatedSum& in_;
  const GatedSumOutput& out_;
  bool sparse_;
  bool reads_f_;
  Scratch scratch_;
  alignas(64) float second_product_[kArcTile * kColumnTile];
  RowCursor cursor_;
  int64_t arc_;
};

void forward(const ForwardChunk& chunk) { run_tiles<ForwardTile>(Forward(chunk)); }

}  // namespace
}  // namespace lase::kernels
