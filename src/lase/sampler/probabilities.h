#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lase/base/names.h"
#include "lase/graph/adjacency.h"

namespace lase {

// How S arcs of a row are sampled: independently (with replacement), or without replacement. If
// probabilities are given, the latter is systematic sampling: S evenly spaced points from a random
// offset, so that no arc repeats (except by rounding, about once in a billion). In both cases arc i
// is sampled S p_i times on average and has weight 1 / (S p_i).
enum class Replacement : uint8_t { kWith, kWithout };

template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Replacement> = {"with", "without"};

// Sampling probabilities p of the arcs of each row, as intervals of [0, 2^32): arc i of a row has
// the interval from start[i] to start[i + 1], and the last arc of a row ends at 2^32. Arcs are
// sampled and weighted with the same integers, so rounding does not bias the sums. Rows of at most
// S arcs are skipped (their entries are unspecified).
using Probabilities = std::vector<uint32_t>;  // start [arcs]

inline constexpr uint64_t kWholeRow = uint64_t{1} << 32;

// Weight of the uniform distribution that is mixed into p: scores become stale, and an arc that is
// never sampled would bias the sum.
inline constexpr double kFloor = 0.1;

// p in proportion to the scores [arcs] ≥ 0; uniform if all scores of a row are zero. Without
// replacement p is capped at 1/S, and the excess goes to the other arcs.
Probabilities sampling_probabilities(const Adjacency& graph, std::span<const float> scores,
                                     int64_t fanout, Replacement replacement);

}  // namespace lase
