// The gradients of ⟨ds, s⟩ over a chunk of a block's arcs; see differentiate() for the equations.
#pragma once

#include "lase/kernels/cpu/link_tile.h"

namespace lase::kernels {
namespace {

struct BackwardTile {
  TileAttributes f;
  int64_t arc[kArcTile];
  const float* h[kArcTile];
  const float* g[kArcTile];  // ds(u)
  const float* a[kArcTile];  // tabulated
  float* by_code[kArcTile];
  float* dh[kArcTile];
  float weight[kArcTile];  // w · scale
  float gate[kArcTile];
  Vec dgate[kArcTile];  // ⟨G, h ⊙ a⟩, per lane
};

class Backward {
 public:
  explicit Backward(const BackwardChunk& chunk)
      : chunk_(chunk),
        in_(*chunk.in),
        sparse_(in_.f.layout == Layout::kSparse),
        reads_f_(chunk.term.u != nullptr || chunk.dv != nullptr ||
                 (in_.links && chunk.dgate != nullptr && in_.f.columns > 0)),
        scratch_{chunk.scratch, {}},
        cursor_{in_.block.row_ptr, chunk.first_row},
        next_(chunk.first) {}

  void fill(BackwardTile& tile) {
    const BlockView& block = in_.block;
    const TermView& view = chunk_.term.view;
    const int64_t left = chunk_.last - next_;
    const int n = static_cast<int>(left < kArcTile ? left : kArcTile);
    tile.f.n = n;
    for (int m = 0; m < n; ++m) {
      const int64_t arc = chunk_.order != nullptr ? chunk_.order[next_ + m] : next_ + m;
      const int64_t row = chunk_.order != nullptr ? chunk_.row[arc] : cursor_.at(arc);
      const int64_t source = block.source[arc];
      tile.arc[m] = arc;
      tile.h[m] = view.h + (view.h_row != nullptr ? view.h_row[source] : source) * in_.d;
      tile.g[m] = chunk_.ds + row * chunk_.shape.width;
      tile.dh[m] = nullptr;
      if (chunk_.dh != nullptr) {
        tile.dh[m] = source == chunk_.carry_source ? chunk_.carry : chunk_.dh + source * in_.d;
      }
      tile.weight[m] = 1;
      if (block.weight != nullptr) tile.weight[m] *= block.weight[arc];
      if (block.scale != nullptr) tile.weight[m] *= block.scale[row];
      tile.gate[m] = chunk_.gate != nullptr ? chunk_.gate[arc] : 1;
      if (reads_f_) locate(in_.f, block.link_row(arc), m, tile.f);
      if (chunk_.term.table != nullptr) {
        const int64_t at = in_.f.code[block.link_row(arc)] * chunk_.shape.d_padded;
        tile.a[m] = chunk_.term.table + at;
        tile.by_code[m] = chunk_.du + at;
      }
    }
    next_ += n;
  }

  void compute(BackwardTile& tile, const BackwardTile& next) {
    const int n = tile.f.n;
    if (reads_f_ && !sparse_) gather(tile.f, chunk_.shape.k, scratch_.f);
    for (int m = 0; m < n; ++m) tile.dgate[m] = Vec{};
    for_each_column_tile(chunk_.shape,
                         [&](const auto& columns) { compute_columns(columns, tile, next); });
    if (chunk_.dgate == nullptr) return;
    for (int m = 0; m < n; ++m) {
      const float gate = tile.gate[m];
      float dgate = sum(tile.dgate[m]);
      if (in_.links) dgate += of_links(tile, m);
      const float dz = tile.weight[m] * dgate * gate * (1 - gate);
      chunk_.dgate[tile.arc[m]] = dz;
      if (chunk_.dv != nullptr) add_attributes(tile, m, dz);
    }
    if (chunk_.dv_h == nullptr) return;
    for_each_column_tile(chunk_.shape, [&](const auto& columns) { add_sources(columns, tile); });
  }

 private:
  // ⟨G, [1; f(e)]⟩ for the columns of the links themselves
  LASE_INLINE float of_links(const BackwardTile& tile, int m) const {
    const float* g = tile.g[m] + in_.d;
    const int64_t k = chunk_.shape.k;
    return k == 0 ? g[0] : g[0] + dot(tile.f, m, g + 1, k, sparse_);
  }

  // dV += dz f(e)
  LASE_INLINE void add_attributes(const BackwardTile& tile, int m, float dz) {
    if (sparse_) {
      for (int s = 0; s < tile.f.stored[m]; ++s) {
        chunk_.dv[tile.f.column[m][s]] += dz * tile.f.values[m][s];
      }
      return;
    }
    for (int64_t j = 0; j < chunk_.shape.k_padded; j += kScratchColumns) {
      const float* f = scratch_.f + j * kArcTile + m * kScratchColumns;
      const int64_t rest = chunk_.shape.k_padded - j;
      const int64_t width = rest < kScratchColumns ? rest : kScratchColumns;
      for (int64_t i = 0; i < width; ++i) chunk_.dv[j + i] += dz * f[i];
    }
  }

  // dV_v += dz h(v), while the rows are in the cache
  template <int N, bool kTail>
  LASE_INLINE void add_sources(const Columns<N, kTail>& columns, const BackwardTile& tile) {
    Vec dv_h[N] = {};
    for (int m = 0; m < tile.f.n; ++m) {
      const Vec dz = splat(chunk_.dgate[tile.arc[m]]);
      for (int i = 0; i < N; ++i) dv_h[i] += dz * columns.read(tile.h[m], i);
    }
    columns.add(chunk_.dv_h, dv_h);
  }

  template <int N, bool kTail>
  LASE_INLINE void compute_columns(const Columns<N, kTail>& columns, BackwardTile& tile,
                                   const BackwardTile& next) {
    const PackedTerm& term = chunk_.term;
    const Ahead ahead = columns.ahead(next.h, next.f.n);
    const bool nonlinear = in_.amplifier == Amplifier::kSigmoid;
    if (term.table != nullptr) {
      if (nonlinear) differentiate<Act::kGiven, true>(columns, tile, nullptr, ahead);
      if (!nonlinear) differentiate<Act::kGiven, false>(columns, tile, nullptr, ahead);
      return;
    }
    if (term.u == nullptr) {
      differentiate<Act::kOne, false>(columns, tile, nullptr, ahead);
      return;
    }
    product<N>(scratch_, tile.f, chunk_.shape, term, columns.first, sparse_, scratch_.product,
               ahead);
    if (nonlinear) differentiate<Act::kSigmoid, true>(columns, tile, scratch_.product, {});
    if (!nonlinear) differentiate<Act::kGiven, false>(columns, tile, scratch_.product, {});
    float* du = chunk_.du + columns.first * chunk_.shape.k_padded;
    if (sparse_) {
      sparse_outer<N>(tile.f, scratch_.product, du);
    } else {
      dense_outer<N>(scratch_, tile.f.n, chunk_.shape.k, scratch_.product, N * kLanes, du);
    }
  }

  // With G = ds(u):
  //   dλ  += w ⟨G, h ⊙ a⟩
  //   D    = w λ G ⊙ h ⊙ a'        for dU += f(e)ᵀ D: overwrites z, or is summed by code
  //   dh  += w λ G ⊙ a
  template <Act kAct, bool kNonlinear, int N, bool kTail>
  __attribute__((noinline)) void differentiate(const Columns<N, kTail>& columns, BackwardTile& tile,
                                               float* z_tile, const Ahead& ahead) {
    Vec dh[N] = {};
    Vec shift[N] = {};
    float* row = tile.dh[0];
    for (int m = 0; m < tile.f.n; ++m) {
      if (tile.dh[m] != row) {
        columns.add(row, dh);
        row = tile.dh[m];
        for (int i = 0; i < N; ++i) dh[i] = Vec{};
      }
      ahead.fetch(m);
      const float* z = nullptr;
      float* d_row = nullptr;  // D
      if (kAct != Act::kOne && z_tile != nullptr) {
        z = d_row = z_tile + m * N * kLanes;
      } else if (kAct != Act::kOne) {
        z = tile.a[m] + columns.first;
        d_row = tile.by_code[m] + columns.first;
      }
      const Vec coefficient = splat(tile.weight[m] * tile.gate[m]);
      Vec dgate{};
#pragma GCC unroll 8
      for (int i = 0; i < N; ++i) {
        const Vec g = columns.read(tile.g[m], i);
        const Vec gh = g * columns.read(tile.h[m], i);
        if (kAct == Act::kOne) {
          dgate += gh;
          if (row != nullptr) dh[i] += coefficient * g;
          continue;
        }
        const Vec a = activate<kAct>(load(z + i * kLanes));
        dgate += gh * a;
        if (row != nullptr) dh[i] += coefficient * g * a;
        Vec d = coefficient * gh;
        if (kNonlinear) d *= a - a * a;
        shift[i] += d;
        float* to = d_row + i * kLanes;
        store(to, z_tile != nullptr ? d : load(to) + d);
      }
      tile.dgate[m] += dgate;
    }
    if (row != nullptr) columns.add(row, dh);
    if (kAct == Act::kOne) return;
    float* to = chunk_.du_shift + columns.first;
    for (int i = 0; i < N; ++i) store(to + i * kLanes, load(to + i * kLanes) + shift[i]);
  }

  const BackwardChunk& chunk_;
  const GatedSum& in_;
  bool sparse_;
  bool reads_f_;
  Scratch scratch_;
  RowCursor cursor_;
  int64_t next_;
};

void backward(const BackwardChunk& chunk) { run_tiles<BackwardTile>(Backward(chunk)); }

}  // namespace
}  // namespace lase::kernels
