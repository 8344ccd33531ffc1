// The gradients of ⟨ds, s⟩ over a piece of a block's arcs; the equations stand above
// differentiate().
#pragma once

#include "lase/kernels/cpu/link_group.h"

namespace lase::kernels {
namespace {

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
      if (reads_f_) locate(in_.f, block.link_row(arc), m, group.f);
      if (piece_.term.table != nullptr) {
        const int64_t at = in_.f.code[block.link_row(arc)] * piece_.shape.d_padded;
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

void backward(const BackwardPiece& piece) { run_groups<BackwardGroup>(Backward(piece)); }

}  // namespace
}  // namespace lase::kernels
