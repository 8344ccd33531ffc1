#pragma once

#include <cstdint>

#include "lase/kernels/kernels.h"

// What gated_sum.cpp asks of the code that is compiled once for each instruction set.
namespace lase::kernels {

// Columns are worked on in panels of up to `panel` columns, as many as fit in registers. Matrices
// with columns d are packed accordingly: element (j, c) stands at
//
//   start · k_padded + j · width + (c − start)
//
// with start the first column of the panel and width its columns; d is padded to a multiple of
// `lanes` and k to one of kAttributeTile.
inline constexpr int64_t kAttributeTile = 8;
inline constexpr int64_t kGroup = 64;  // arcs worked on together
inline constexpr int64_t kChunk = 32;  // attributes side by side in the scratch of a group
// A longer row is summed in runs of this many arcs, counted from its own start, each from zero; the
// runs are added in order. The sum of a row is thus the same wherever the row stands in a call.
inline constexpr int64_t kRun = 512;

inline constexpr int64_t kProductRows = 64;  // rows of a product worked on together

// TermView with its matrix packed. With the sigmoid, U and shift are multiplied by −log2 e, so that
// the product is the exponent of σ(z) = 1 / (1 + 2^t).
struct PackedTerm {
  TermView view;
  const float* u = nullptr;      // packed; null: the amplifier is 1, or tabulated
  const float* shift = nullptr;  // [d_padded]
  const float* table = nullptr;  // a(e) by code: [codes, d_padded]
  const float* v = nullptr;      // [k_padded], or null
};

struct Shape {
  int64_t d = 0;
  int64_t d_padded = 0;
  int64_t k = 0;
  int64_t k_padded = 0;

  // Floats that a group's attributes take: the `scratch` of the functions below, zero at first.
  int64_t scratch() const { return (k_padded + kChunk - 1) / kChunk * kChunk * kGroup; }
};

// Arcs first … last of a block, which hold whole runs only. The first run of a row is summed in
// place, later ones in carry(arc).
struct ForwardPiece {
  const GatedSum* in = nullptr;
  const GatedSumOutput* out = nullptr;
  Shape shape;
  PackedTerm terms[2];
  int64_t term_count = 1;
  int64_t first = 0;
  int64_t last = 0;
  int64_t first_row = 0;     // the row of arc `first`
  float* carries = nullptr;  // [arcs / kRun + 1, d_padded]
  float* scratch = nullptr;

  // Where the run that starts at an arc is summed: later runs start at least kRun arcs apart.
  float* carry(int64_t start) const { return carries + start / kRun * shape.d_padded; }
};

struct BackwardPiece {
  const GatedSum* in = nullptr;
  Shape shape;
  PackedTerm term;
  const float* gate = nullptr;  // [arcs]; null: 1
  const float* ds = nullptr;    // [targets, d]
  int64_t first = 0;
  int64_t last = 0;
  int64_t first_row = 0;
  // With dh the arcs are visited by source, so that each row of dh is summed at once:
  const int64_t* order = nullptr;  // [arcs]; null: by target
  const int32_t* row = nullptr;    // [arcs]: the target of an arc; with `order`
  float* dh = nullptr;             // [sources, d]
  float* carry = nullptr;          // [d_padded]: for the source that began before
  int64_t carry_source = -1;       // that source; −1: none
  float* du = nullptr;             // packed, or by code [codes, d_padded]; summed over
  float* du_shift = nullptr;       // [d_padded]; summed over
  float* dgate = nullptr;          // [arcs]: the gradient of the gate's argument
  float* dv = nullptr;             // [k_padded]; summed over
  float* scratch = nullptr;
};

struct RowsView {
  const float* h = nullptr;      // [·, d]
  const int64_t* row = nullptr;  // null: in order
  int64_t d = 0;

  const float* at(int64_t i) const { return h + (row != nullptr ? row[i] : i) * d; }
};

struct InstructionSet {
  const char* name;
  int64_t lanes;
  int64_t panel;
  void (*forward)(const ForwardPiece& piece);
  void (*backward)(const BackwardPiece& piece);
  // table [codes, d_padded] = a(e) of every row of coded attributes.
  void (*tabulate)(const AttributeView& f, const Shape& shape, const PackedTerm& term,
                   Amplifier amplifier, float* scratch, float* table);
  // du (packed) += Σ_c f(c)ᵀ by_code(c)
  void (*gather_codes)(const AttributeView& f, const Shape& shape, const float* by_code,
                       float* scratch, float* du);
  // Rows first … last of those in `rows`: out[i] = ⟨h(row_i), v⟩; and sum [d_padded] += g[i]
  // h(row_i).
  void (*dot_rows)(const RowsView& rows, int64_t first, int64_t last, const float* v, float* out);
  void (*sum_rows)(const RowsView& rows, int64_t first, int64_t last, const float* g, float* sum);
  // y [n, m] = x Wᵀ for rows first … first + n ≤ first + kProductRows of x; W packed with k = d and
  // no padding of k.
  void (*multiply_rows)(const RowsView& x, int64_t first, int64_t n, const float* w, int64_t m,
                        float* y);
  void (*skip_gram)(const SkipGram& tables, const NodePair* pairs, int64_t n);
};

InstructionSet baseline_instructions();
InstructionSet avx2_instructions();
InstructionSet avx512_instructions();

}  // namespace lase::kernels
