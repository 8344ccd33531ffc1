// Products with rows of a matrix that are read once, so that only their way from memory counts.
// Compiled once for each instruction set, as link_group.h.
#pragma once

#include "lase/kernels/cpu/isa.h"
#include "lase/kernels/cpu/vector.h"

namespace lase::kernels {
namespace {

// Short rows need more of them on their way.
LASE_INLINE int64_t rows_ahead(int64_t d) { return d >= 512 ? 4 : d >= 128 ? 8 : 24; }

LASE_INLINE void ask_for_row(const RowsView& rows, int64_t i, int64_t last) {
  if (i >= last) return;
  const float* row = rows.at(i);
  for (int64_t j = 0; j < rows.d; j += 16) prefetch(row + j);
}

void dot_rows(const RowsView& rows, int64_t first, int64_t last, const float* v, float* out) {
  constexpr int kSums = 4;
  const int64_t ahead = rows_ahead(rows.d);
  for (int64_t i = first; i < last; ++i) {
    ask_for_row(rows, i + ahead, last);
    const float* row = rows.at(i);
    Vec lanes[kSums] = {};
    int64_t j = 0;
    for (; j + kSums * kLanes <= rows.d; j += kSums * kLanes) {
      for (int s = 0; s < kSums; ++s) {
        lanes[s] += load(row + j + s * kLanes) * load(v + j + s * kLanes);
      }
    }
    for (; j + kLanes <= rows.d; j += kLanes) lanes[0] += load(row + j) * load(v + j);
    if (j < rows.d) {
      const auto rest = static_cast<int>(rows.d - j);
      lanes[1] += load(row + j, rest) * load(v + j, rest);
    }
    out[i] = sum((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
  }
}

void sum_rows(const RowsView& rows, int64_t first, int64_t last, const float* g, float* total) {
  const int64_t ahead = rows_ahead(rows.d);
  for (int64_t i = first; i < last; ++i) {
    ask_for_row(rows, i + ahead, last);
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
