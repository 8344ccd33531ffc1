// Products with rows of a matrix. Each row is read once, so that memory bandwidth is the limit.
// Compiled once per instruction set, like link_tile.h.
#pragma once

#include "lase/kernels/cpu/isa.h"
#include "lase/kernels/cpu/vector.h"

namespace lase::kernels {
namespace {

// Prefetch distance in rows: longer for short rows.
LASE_INLINE int64_t rows_ahead(int64_t d) { return d >= 512 ? 4 : d >= 128 ? 8 : 24; }

LASE_INLINE void prefetch_row(const RowsView& rows, int64_t i, int64_t last) {
  if (i >= last) return;
  const float* row = rows.at(i);
  for (int64_t j = 0; j < rows.d; j += 16) prefetch(row + j);
}

void dot_rows(const RowsView& rows, int64_t first, int64_t last, const float* v, float* out) {
  const int64_t ahead = rows_ahead(rows.d);
  for (int64_t i = first; i < last; ++i) {
    prefetch_row(rows, i + ahead, last);
    out[i] = dot(rows.at(i), v, rows.d);
  }
}

void sum_rows(const RowsView& rows, int64_t first, int64_t last, const float* g, float* total) {
  const int64_t ahead = rows_ahead(rows.d);
  for (int64_t i = first; i < last; ++i) {
    prefetch_row(rows, i + ahead, last);
    const float* row = rows.at(i);
    const Vec factor = splat(g[i]);
    int64_t j = 0;
    for (; j + kLanes <= rows.d; j += kLanes) {
      store(total + j, load(total + j) + factor * load(row + j));
    }
    if (j < rows.d) {
      store(total + j, load(total + j) + factor * load(row + j, static_cast<int>(rows.d - j)));
    }
  }
}

}  // namespace
}  // namespace lase::kernels
