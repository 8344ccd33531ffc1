#pragma once

#include <ATen/core/Tensor.h>
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "lase/graph/adjacency.h"
#include "lase/graph/hidden_arcs.h"

namespace lase {

// A graph without the arcs that are hidden, if any.
struct VisibleGraph {
  const Adjacency& arcs;
  const HiddenArcs* hidden = nullptr;
};

inline constexpr int64_t kPairStatistics = 5;

// What the neighborhoods of two nodes say about a link between them: [n, kPairStatistics], for each
// pair (u, v), with sums over the common neighbors w and d(u) = ln(1 + |N(u)|),
//
//   d(u), d(v)    or d(u) + d(v), |d(u) − d(v)| if `symmetric`
//   ln(1 + Σ 1)
//   Σ 1 / ln(2 + |N(w)|)    as Adamic and Adar
//   Σ 1 / (1 + |N(w)|)      resource allocation
//
// A pair takes time O(d log D) for neighborhoods of d ≤ D links.
at::Tensor pair_statistics(const VisibleGraph& graph, std::span<const int32_t> source,
                           std::span<const int32_t> target, bool symmetric);

// Names of the statistics, in their order.
std::array<std::string_view, kPairStatistics> pair_statistic_names(bool symmetric);

}  // namespace lase
