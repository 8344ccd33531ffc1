#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lase/base/names.h"
#include "lase/graph/adjacency.h"

namespace lase {

// How the S arcs of a row are drawn: independently, or evenly spaced along the row from a random
// start, so that none is drawn twice (but for
// rounding, once in a billion). Either way arc i is drawn S p_i times on average, and weighs
// 1 / (S p_i).
enum class Draw : uint8_t { kReplace, kWithout };

template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Draw> = {"replace", "without"};

// The probabilities p of the arcs of each row, as one stretch of [0, 2^32) each: arc i of a row has
// the one from start[i] to start[i + 1], the last of a row ends at 2^32. What is drawn and what it
// weighs are read from the same integers, so that rounding biases nothing. Rows of at most S arcs
// are left out (their entries have no meaning).
using Shares = std::vector<uint32_t>;  // start [arcs]

inline constexpr uint64_t kWholeRow = uint64_t{1} << 32;

// Of all arcs of a row a share kFloor is drawn uniformly, since scores grow stale and an arc that
// is never drawn would bias the sum.
inline constexpr double kFloor = 0.1;

// p in proportion to the scores [arcs], at least 0; uniform where all of a row are zero. Without
// replacement p ≤ 1/S, and what is over goes to the others.
Shares make_shares(const Adjacency& graph, std::span<const float> scores, int64_t fanout,
                   Draw draw);

}  // namespace lase
