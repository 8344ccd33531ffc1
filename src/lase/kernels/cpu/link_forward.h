// s(u) = Σ_i w_i λ_i h(v_i) ⊙ a(e_i) over a piece of a block's arcs, and the norms of its terms.
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
      if (reads_f_ && m + kGroup < left) ask_where(in_.f, block.link[arc + kGroup]);
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

void forward(const ForwardPiece& piece) { run_groups<ForwardGroup>(Forward(piece)); }

}  // namespace
}  // namespace lase::kernels
