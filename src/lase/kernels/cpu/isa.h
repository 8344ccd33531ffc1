#pragma once

#include <cstdint>

#include "lase/kernels/kernels.h"

// The interface to the code that is compiled once per instruction set.
namespace lase::kernels {

// Columns are processed in tiles of up to `column_tile` columns, as many as fit in registers.
// Matrices with d columns are packed accordingly: element (j, c) is at
//
//   start · k_padded + j · width + (c − start)
//
// with start the first column of the tile and width its number of columns; d is padded to a
// multiple of `lanes` and k to a multiple of kAttributeTile.
inline constexpr int64_t kAttributeTile = 8;
inline constexpr int64_t kArcTile = 64;         // arcs per tile
inline constexpr int64_t kScratchColumns = 32;  // contiguous columns of f(e) in the scratch
// A row with more arcs is split into runs of this length, counted from the start of the row. Each
// run is summed from zero, and the runs are added in order, so that the sum of a row does not
// depend on its position in the block.
inline constexpr int64_t kRun = 512;

inline constexpr int64_t kProductRows = 64;  // rows per tile of a product

// A TermView with U packed. For the sigmoid, U and shift are multiplied by −log2 e, so that the
// product is the exponent t of σ(z) = 1 / (1 + 2^t).
struct PackedTerm {
  TermView view;
  const float* u = nullptr;      // packed; null: the amplifier is 1 or tabulated
  const float* shift = nullptr;  // [d_padded]
  const float* table = nullptr;  // a(e) by code: [codes, d_padded]
  const float* v = nullptr;      // [k_padded], or null
};

struct Shape {
  int64_t d = 0;
  int64_t d_padded = 0;
  int64_t k = 0;
  int64_t k_padded = 0;
  int64_t width = 0;  // of s: d, or d + 1 + k with links
  int64_t width_padded = 0;

  // Size of `scratch` below in floats: f(e) of one tile of arcs. Initialized to zero.
  int64_t scratch() const {
    return (k_padded + kScratchColumns - 1) / kScratchColumns * kScratchColumns * kArcTile;
  }
};

// Arcs first … last of a block, which consist of whole runs. The first run of a row is summed in
// place, later runs in carry(arc).
struct ForwardChunk {
  const GatedSum* in = nullptr;
  const GatedSumOutput* out = nullptr;
  Shape shape;
  PackedTerm terms[2];
  int64_t term_count = 1;
  int64_t first = 0;
  int64_t last = 0;
  int64_t first_row = 0;     // the row of arc `first`
  float* carries = nullptr;  // [arcs / kRun + 1, width_padded]
  float* scratch = nullptr;

  // The sum of the run starting at arc `start`; unique because later runs are kRun arcs apart.
  float* carry(int64_t start) const { return carries + start / kRun * shape.width_padded; }
};

struct BackwardChunk {
  const GatedSum* in = nullptr;
  Shape shape;
  PackedTerm term;
  const float* gate = nullptr;  // [arcs]; null: 1
  const float* ds = nullptr;    // [targets, width]
  int64_t first = 0;
  int64_t last = 0;
  int64_t first_row = 0;
  // For dh, arcs are visited by source, so that each row of dh is accumulated in registers:
  const int64_t* order = nullptr;  // [arcs]; null: by target
  const int32_t* row = nullptr;    // [arcs]: the target of an arc; with `order`
  float* dh = nullptr;             // [sources, d]
  float* carry = nullptr;          // [d_padded]: dh of the source continued from the previous chunk
  int64_t carry_source = -1;       // that source; −1: none
  float* du = nullptr;             // packed, or by code [codes, d_padded]; accumulated
  float* du_shift = nullptr;       // [d_padded]; accumulated
  float* dgate = nullptr;          // [arcs]: the gradient of the gate's argument
  float* dv = nullptr;             // [k_padded]; accumulated
  float* dv_h = nullptr;           // [d_padded]; accumulated
  float* scratch = nullptr;
};

struct RowsView {
  const float* h = nullptr;      // [·, d]
  const int64_t* row = nullptr;  // null: row_i = i
  int64_t d = 0;

  const float* at(int64_t i) const { return h + (row != nullptr ? row[i] : i) * d; }
};

struct InstructionSet {
  const char* name;
  int64_t lanes;
  int64_t column_tile;
  void (*forward)(const ForwardChunk& chunk);
  void (*backward)(const BackwardChunk& chunk);
  // table [codes, d_padded] = a(e) of every row of dictionary-encoded attributes.
  void (*tabulate)(const AttributeView& f, const Shape& shape, const PackedTerm& term,
                   Amplifier amplifier, float* scratch, float* table);
  // du (packed) += Σ_c f(c)ᵀ by_code(c)
  void (*gather_codes)(const AttributeView& f, const Shape& shape, const float* by_code,
                       float* scratch, float* du);
  // For rows first … last: out[i] = ⟨h(row_i), v⟩, and sum [d_padded] += g[i] h(row_i).
  void (*dot_rows)(const RowsView& rows, int64_t first, int64_t last, const float* v, float* out);
  void (*sum_rows)(const RowsView& rows, int64_t first, int64_t last, const float* g, float* sum);
  // y [n, m] = x Wᵀ for n ≤ kProductRows rows of x from `first`; W packed with k = d, unpadded.
  void (*multiply_rows)(const RowsView& x, int64_t first, int64_t n, const float* w, int64_t m,
                        float* y);
  void (*skip_gram)(const SkipGram& tables, const NodePair* pairs, int64_t n);
};

InstructionSet generic_instructions();
InstructionSet avx2_instructions();
InstructionSet avx512_instructions();

}  // namespace lase::kernels
