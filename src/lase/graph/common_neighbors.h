#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "lase/base/array.h"
#include "lase/graph/graph.h"

namespace lase {

// For each row of link attributes, of which its link between u and v has one, or two if directions
// are separate,
//
//   ln(1 + |N(u) ∩ N(v)|)
//
// N(u): the nodes other than u that have a link with u, in either direction and in any split.
// Parallel links count once, and neither u nor v is a common neighbor of both. A self-loop of u has
// ln(1 + |N(u)|). A link takes time O(a + b) for neighborhoods of a ≤ b nodes, or O(a log b) if b
// is much larger.
Array<float> common_neighbors(const Graph& graph);

// Appends them to the link attributes, as the last column. A dictionary stays one if at most one of
// eight rows is distinct; otherwise, its attributes become dense or sparse, whichever is smaller.
inline constexpr std::string_view kCommonNeighbors = "common neighbors";
void add_common_neighbors(Graph& graph);

// Calls visit(w) once for each node w in both of two lists, whose nodes ascend. A list has begin,
// end and size(), and is_hidden(i) tells whether the entry i, a pointer, does not count.
template <class ListA, class ListB, class Visit>
void for_each_common(const ListA& a, const ListB& b, const Visit& visit) {
  if (a.size() > b.size()) return for_each_common(b, a, visit);
  // Visits both lists in order, or if one is much longer, searches it.
  constexpr int64_t kMuchLonger = 16;
  const bool searches = b.size() > kMuchLonger * a.size();
  const int32_t* at = b.begin;
  int64_t previous = -1;
  for (const int32_t* i = a.begin; i != a.end; ++i) {
    const int32_t w = *i;
    if (w == previous || a.is_hidden(i)) continue;  // parallel links count once
    previous = w;
    if (searches) {
      at = std::lower_bound(at, b.end, w);
    } else {
      while (at != b.end && *at < w) ++at;
    }
    while (at != b.end && *at == w && b.is_hidden(at)) ++at;
    if (at == b.end) break;
    if (*at == w) visit(w);
  }
}

}  // namespace lase
