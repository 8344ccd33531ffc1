#pragma once

#include <cstdint>
#include <memory>

#include "lase/base/host_device.h"
#include "lase/base/layout.h"
#include "lase/kernels/amplifier.h"

// The performance-critical kernels, on raw pointers, for the CPU. A build for another device
// provides the same functions for pointers to its memory.
//
// No kernel allocates an array of size arcs × d. The order of summation does not depend on the
// number of threads.
namespace lase::kernels {

// f(e) [rows, columns] in one of the three layouts of base/attributes.h.
struct AttributeView {
  Layout layout = Layout::kDense;
  int64_t rows = 0;
  int64_t columns = 0;  // k
  int64_t codes = 0;
  const float* values = nullptr;
  const int64_t* row_ptr = nullptr;
  const int32_t* column = nullptr;
  const int32_t* code = nullptr;
};

// The arcs of one layer, grouped by target.
struct BlockView {
  int64_t targets = 0;
  int64_t sources = 0;
  const int64_t* row_ptr = nullptr;    // [targets+1], starts at 0
  const int32_t* source = nullptr;     // [arcs]
  const int32_t* link = nullptr;       // [arcs]: the row of f(e)
  const int64_t* wide_link = nullptr;  // [arcs]: replaces `link` if 32 bits overflow
  const float* weight = nullptr;       // [arcs]; null: 1
  const float* scale = nullptr;        // [targets]: factor for all terms of a target; null: 1
  // For the gradient of h, from order_by_source(); null: computed when needed.
  const int64_t* by_source = nullptr;   // [arcs]
  const int32_t* arc_target = nullptr;  // [arcs]

  int64_t arcs() const { return row_ptr[targets]; }
  [[gnu::always_inline]] LASE_HD int64_t link_row(int64_t arc) const {
    return wide_link != nullptr ? wide_link[arc] : link[arc];
  }
};

// by_source: the arcs sorted by source (stable); arc_target: the target of each arc. Both [arcs].
void order_by_source(const BlockView& block, int64_t* by_source, int32_t* arc_target);

// Inputs of the terms λ(u,v) h(v) ⊙ a(e).
struct TermView {
  const float* h = nullptr;        // [·, d]
  const int64_t* h_row = nullptr;  // [sources]: the row of h for each source; null: identity
  const float* u = nullptr;        // U [d, k]
  const float* u_shift = nullptr;  // [d], added to U f(e); null: 0
  const float* p = nullptr;        // [targets]; null: no gate, λ = 1
  const float* q = nullptr;        // [sources]; null if v_h is given
  const float* v = nullptr;        // V_e [k]; null: 0
  const float* v_h = nullptr;      // V_v [d]: q_v = ⟨V_v, h(v)⟩ is computed for every arc
};

struct GatedSum {
  BlockView block;
  AttributeView f;
  int64_t d = 0;
  Amplifier amplifier = Amplifier::kSigmoid;
  bool links = false;  // append the sums over the links themselves, see gated_sum()
  TermView terms;
  // If set, the terms x̃_i of a baseline state are subtracted: Σ_i w_i (x_i − x̃_i), in one pass over
  // the links.
  const TermView* baseline = nullptr;

  int64_t width() const { return links ? d + 1 + f.columns : d; }
};

struct GatedSumOutput {
  float* s = nullptr;     // [targets, width]
  float* gate = nullptr;  // [arcs]: λ; null: not computed
  // [arcs]: ‖x_i ⊙ factor(u)‖, without weight, scale and the columns of f(e), whose units are
  // arbitrary; or null
  float* norm = nullptr;
  const float* factor = nullptr;  // [targets, d], only for the norms, without links; null: 1
};

// s(u) = scale_u Σ_i w_i x_i with x_i = λ_i h(v_i) ⊙ a(e_i), λ_i = σ(p_u + q_v + V_e f(e)) and
// a(e) = σ(U f(e) + shift), U f(e) + shift, or 1. With `links`, x_i = λ_i [h(v_i) ⊙ a(e_i); 1;
// f(e_i)]: the sum of the gates and the gated sum of the link attributes, from the same visit.
void gated_sum(const GatedSum& in, const GatedSumOutput& out);

// Outputs of gated_sum_backward; gradients that are null are not computed.
struct GatedSumGradients {
  float* h = nullptr;        // [sources, d]; only without h_row
  float* u = nullptr;        // [d, k]
  float* u_shift = nullptr;  // [d]
  float* p = nullptr;        // [targets]
  float* q = nullptr;        // [sources]
  float* v = nullptr;        // [k]
  float* v_h = nullptr;      // [d]
};

// The gradients of ⟨ds, s⟩ with respect to `terms`; gate [arcs] is the output of gated_sum. a(e) is
// recomputed.
void gated_sum_backward(const GatedSum& in, const float* gate, const float* ds,
                        const GatedSumGradients& out);

// out[i] = ⟨h(row_i), v⟩ for n rows of h [·, d]; row null: row_i = i.
void dot_rows(const float* h, const int64_t* row, int64_t n, int64_t d, const float* v, float* out);

// x Wᵀ with W packed once. The result for a row depends only on that row and W.
class RowProduct {
 public:
  // W [m, d], with element (c, j) at w[c · row_stride + j · column_stride].
  struct Matrix {
    const float* w = nullptr;
    int64_t m = 0;
    int64_t d = 0;
    int64_t row_stride = 0;
    int64_t column_stride = 1;
  };
  explicit RowProduct(const Matrix& matrix);

  // y [n, m] = x(row_i) Wᵀ for n rows of x [·, d]; row null: row_i = i. Single-threaded.
  void multiply(const float* x, const int64_t* row, int64_t n, float* y) const;

 private:
  int64_t m_;
  int64_t d_;
  std::unique_ptr<float[]> packed_;
};

// out [d] = Σ_i g[i] h(row_i), the gradient of dot_rows with respect to v.
void sum_rows(const float* h, const int64_t* row, int64_t n, int64_t d, const float* g, float* out);

// One step of Adam (Kingma and Ba 2015) on n weights, in place, with g' = clip(g) + weight_decay w:
//
//   m ← β1 m + (1−β1) g'     v ← β2 v + (1−β2) g'²
//   w ← w − lr m̂ / (√v̂ + ε),   m̂ = m / (1 − β1^steps),   v̂ = v / (1 − β2^steps)
struct AdamStep {
  double rate = 0;      // lr / (1 − β1^steps)
  double correct2 = 1;  // 1 − β2^steps
  double weight_decay = 0;
  double clip = 0;  // largest absolute value of an entry of g; 0: unlimited
};
inline constexpr double kAdamBeta1 = 0.9;
inline constexpr double kAdamBeta2 = 0.999;
inline constexpr double kAdamEpsilon = 1e-8;
template <class T>  // float or double
void adam_step(const AdamStep& step, const T* g, int64_t n, T* w, T* m, T* v);

// Skip-gram with negative sampling: ⟨c(u), c'(v)⟩ grows for observed pairs (u, v) and shrinks for
// negative samples. SGD steps in the order of the pairs; up to kPairGroup consecutive pairs with
// the same u form one step, computed from the same c(u):
//
//   g_i = rate · (y_i − σ(⟨c(u), c'(v_i)⟩));   c(u) += Σ g_i c'(v_i),   c'(v_i) += g_i c(u)
//
// with y_i = 1 for observed pairs and 0 for negative samples. A node is never paired with itself.
inline constexpr int kPairGroup = 8;
struct SkipGram {
  float* center = nullptr;         // c [nodes, width]
  float* context = nullptr;        // c' [nodes, width]; may be `center`
  const uint8_t* fixed = nullptr;  // [nodes]: rows that are not updated; null: none
  int64_t width = 0;
  float rate = 0;
};
struct NodePair {
  int32_t center;
  int32_t context;  // v of an observed pair, ~v of a negative sample
};
void skip_gram(const SkipGram& tables, const NodePair* pairs, int64_t n);

// The instruction set in use: "avx512", "avx2" or "generic". It is the best that the processor
// supports, unless the environment variable LASE_ISA selects a lower one.
const char* instruction_set();

}  // namespace lase::kernels
