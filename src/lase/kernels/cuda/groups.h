// The schedule of the link kernels: the arcs of each row, in groups of eight.
#pragma once

#include "lase/kernels/cuda/kernels.h"

namespace lase::kernels::cuda {

inline constexpr int kGroup = 8;
// A row is summed in runs of this many groups, counted from its own start, so that its result does
// not depend on other rows.
inline constexpr int kRunGroups = 64;

// Up to kGroup consecutive arcs of a row. A row without arcs has one empty group.
struct Group {
  int32_t row = 0;
  uint32_t flags = 0;

  enum : uint32_t { kStartsRun = 1, kEndsRun = 2, kLaterRun = 4 };
};

// Rows of arcs: row r has the arcs order[ptr[r]] … order[ptr[r + 1] − 1].
struct ArcRows {
  int64_t rows = 0;
  int64_t arcs = 0;
  const int64_t* ptr = nullptr;    // [rows + 1]
  const int64_t* order = nullptr;  // [arcs]; null: identity
};

struct Groups {
  int64_t rows = 0;
  int64_t most = 0;  // upper bound of the number of groups
  const int32_t* start =
      nullptr;              // [rows + 1]: the first group of each row; the last: their number
  Group* groups = nullptr;  // [most]
  // A slot for each arc of a group, [most · kGroup] each; see slots.h.
  int32_t* other = nullptr;  // row of the gathered matrix, plus 1; 0: no arc
  float* c = nullptr;        // coefficient
  int64_t* f = nullptr;      // row of f(e), unless it is not read
  int64_t* arc = nullptr;    // −1: none

  LASE_HD constexpr int64_t slot_count() const { return most * kGroup; }
  // Number of partial sums of later runs of rows; see carry_of().
  LASE_HD constexpr int64_t carries() const { return most / kRunGroups + 1; }
};

// The partial sum of the later run that starts with this group.
LASE_HD constexpr int64_t carry_of(int64_t group) { return group / kRunGroups; }

Groups make_groups(const ArcRows& rows, const Launch& launch);

// Adds the partial sums of later runs: out(row) += Σ carry(run) for columns 0 … width − 1.
void add_carries(const Groups& groups, const float* carry, int64_t width, float* out,
                 int64_t out_stride, const Launch& launch);

// The arcs of each source, in their order: rows of `by_source`, and the target of each arc. Arrays
// that the block does not have are computed.
struct BySource {
  ArcRows rows;
  const int32_t* arc_target = nullptr;  // [arcs]
};
BySource by_source(const BlockView& block, int64_t arcs, const Launch& launch);

}  // namespace lase::kernels::cuda
