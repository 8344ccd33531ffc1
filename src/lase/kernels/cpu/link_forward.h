// s(u) = Σ_i w_i λ_i h(v_i) ⊙ a(e_i) over whole runs of a block's arcs, and the norms of its terms.
#pragma once

#include "lase/kernels/cpu/link_group.h"

namespace lase::kernels {
namespace {

constexpr int64_t kMaxTerms = 2;

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
  bool starts[kGroup];  // a run, and so its sum from zero
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
      const int64_t place = arc - block.row_ptr[row];
      group.starts[m] = place % kRun == 0;
      group.s[m] = place < kRun ? out_.s + row * in_.d : piece_.carry(arc - place % kRun);
      if (reads_f_ && m + kGroup < left) ask_where(in_.f, block.link_row(arc + kGroup));
      if (reads_f_) locate(in_.f, block.link_row(arc), m, group.f);
      for (int64_t t = 0; t < piece_.term_count; ++t) {
        const PackedTerm& term = piece_.terms[t];
        const TermView& view = term.view;
        group.h[t][m] = view.h + (view.h_row != nullptr ? view.h_row[source] : source) * in_.d;
        if (view.p != nullptr) group.gate[t][m] = view.p[row] + view.q[source];
        if (term.table != nullptr) {
          group.a[t][m] = term.table + in_.f.code[block.link_row(arc)] * piece_.shape.d_padded;
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
    for_each_panel(piece_.shape, [&](const auto& columns) { panel(columns, group, next); });
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
                         const ForwardGroup& next) {
    if (piece_.term_count == 1) panel_of_terms<1>(columns, group, next);
    if (piece_.term_count == 2) panel_of_terms<2>(columns, group, next);
  }

  template <int kTerms, int N, bool kTail>
  LASE_INLINE void panel_of_terms(const Columns<N, kTail>& columns, ForwardGroup& group,
                                  const ForwardGroup& next) {
    const PackedTerm& term = piece_.terms[0];
    if (term.table != nullptr) {
      accumulate<Act::kGiven, kTerms>(columns, group, next, false);
      return;
    }
    if (term.u == nullptr) {
      accumulate<Act::kOne, kTerms>(columns, group, next, false);
      return;
    }
    for (int t = 0; t < kTerms; ++t) {
      product<N>(scratch_, group.f, piece_.shape, piece_.terms[t], columns.first, sparse_,
                 product_of(t), columns.ahead(next.h[t], next.f.n));
    }
    if (in_.amplifier == Amplifier::kSigmoid) {
      accumulate<Act::kSigmoid, kTerms>(columns, group, next, true);
    } else {
      accumulate<Act::kGiven, kTerms>(columns, group, next, true);
    }
  }

  float* product_of(int t) { return t == 0 ? scratch_.panel : second_panel_; }

  // s(u) += w λ h(v) ⊙ a(e), arc by arc and for each arc term by term, so that groups of arcs do
  // not show in the sum; kept in registers as long as the run stays the same. a(e) comes from
  // z [arc][width] of the panel, or from the table.
  template <Act kAct, int kTerms, int N, bool kTail>
  __attribute__((noinline)) void accumulate(const Columns<N, kTail>& columns, ForwardGroup& group,
                                            const ForwardGroup& next, bool from_panel) {
    const Ahead ahead[2] = {columns.ahead(next.h[0], next.f.n), columns.ahead(next.h[1], next.f.n)};
    Vec s[N] = {};
    float* row = nullptr;
    for (int m = 0; m < group.f.n; ++m) {
      if (group.s[m] != row) {
        if (row != nullptr) columns.write(row, s);
        row = group.s[m];
        for (int i = 0; i < N; ++i) s[i] = group.starts[m] ? Vec{} : columns.read(row, i);
      }
#pragma GCC unroll 2
      for (int t = 0; t < kTerms; ++t) {
        if (!from_panel) ahead[t].ask(m);
        const float* z = nullptr;
        if (kAct != Act::kOne) {
          z = from_panel ? product_of(t) + m * N * kLanes : group.a[t][m] + columns.first;
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

  const ForwardPiece& piece_;
  const GatedSum& in_;
  const GatedSumOutput& out_;
  bool sparse_;
  bool reads_f_;
  Scratch scratch_;
  alignas(64) float second_panel_[kGroup * kPanel];
  RowCursor cursor_;
  int64_t arc_;
};

void forward(const ForwardPiece& piece) { run_groups<ForwardGroup>(Forward(piece)); }

}  // namespace
}  // namespace lase::kernels
