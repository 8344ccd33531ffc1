#include "lase/graph/arcs.h"

#include <algorithm>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/parallel.h"

namespace lase {
namespace {

constexpr int64_t kRows = 4096;

// Calls visit(u, v, link) for every arc u→v with u in [first, last).
template <class Visit>
void for_each_arc(const LinkEnds& ends, int64_t first, int64_t last, const Visit& visit) {
  for (size_t i = 0; i < ends.source.size(); ++i) {
    const int32_t u = ends.source[i];
    const int32_t v = ends.target[i];
    const auto link = static_cast<int64_t>(i);
    if (u == v && !ends.keep_self_loops) continue;
    if (u >= first && u < last) visit(u, v, link);
    if (ends.directed || u == v) continue;
    if (v >= first && v < last) visit(v, u, link);
  }
}

// Prefix sum: counts[u+1] becomes the end of row u.
void accumulate(Buffer<int64_t>& counts) {
  for (int64_t u = 1; u < counts.size(); ++u) counts[u] += counts[u - 1];
}

}  // namespace

SortedArcs::SortedArcs(const LinkEnds& ends) {
  require(std::ssize(ends.source) < int64_t{1} << kLinkBits, "the graph has ",
          std::ssize(ends.source), " links, expected fewer than ", int64_t{1} << kLinkBits);
  const int64_t n = ends.nodes;
  row_ptr_.resize(n + 1);
  std::fill(row_ptr_.begin(), row_ptr_.end(), 0);
  for_each_arc(ends, 0, n, [&](int32_t u, int32_t, int64_t) { ++row_ptr_[u + 1]; });
  accumulate(row_ptr_);
  const int64_t arcs = row_ptr_[n];
  packed_.resize(arcs);
  // Each thread fills the rows of its own nodes, so no synchronization is needed.
  const int64_t chunks = std::max(1, thread_count());
  const auto chunk_start = [&](int64_t chunk) {
    const int64_t* at = std::lower_bound(row_ptr_.begin(), row_ptr_.end(), arcs * chunk / chunks);
    return chunk == chunks ? n : std::min<int64_t>(at - row_ptr_.begin(), n);
  };
  parallel_for(chunks, 1, [&](int64_t chunk, int64_t) {
    const int64_t first = chunk_start(chunk);
    const int64_t last = chunk_start(chunk + 1);
    std::vector<int64_t> next(row_ptr_.data() + first, row_ptr_.data() + last);
    for_each_arc(ends, first, last, [&](int32_t u, int32_t v, int64_t link) {
      packed_[next[static_cast<size_t>(u - first)]++] =
          static_cast<uint64_t>(v) << kLinkBits | static_cast<uint64_t>(link);
    });
  });
  parallel_for(n, kRows, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      std::sort(packed_.data() + row_ptr_[u], packed_.data() + row_ptr_[u + 1]);
    }
  });
}

namespace {

// Calls visit(i) for the arcs of u that are kept.
template <class Visit>
void for_each_kept(const SortedArcs& arcs, const AdjacencyRules& rules, int64_t u,
                   const Visit& visit) {
  uint32_t seen = 0;  // stages of the current parallel arcs, one bit each
  for (int64_t i = arcs.begin(u); i < arcs.end(u); ++i) {
    if (rules.merge_parallel) {
      if (!arcs.is_parallel(u, i)) seen = 0;
      const int stage = rules.stage.empty() ? 0 : rules.stage[static_cast<size_t>(arcs[i].link)];
      const uint32_t bit = uint32_t{1} << stage;
      if ((seen & bit) != 0) continue;
      seen |= bit;
    }
    visit(i);
  }
}

}  // namespace

Adjacency make_adjacency(const SortedArcs& arcs, const AdjacencyRules& rules) {
  const int64_t n = arcs.nodes();
  const bool merged = !rules.row.empty();
  const int shift = rules.separate_directions ? 1 : 0;
  const int64_t* row = rules.row.data();
  Buffer<int64_t> row_ptr;
  row_ptr.resize(n + 1);
  row_ptr[0] = 0;
  parallel_for(n, kRows, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      int64_t degree = 0;
      for_each_kept(arcs, rules, u, [&](int64_t) { ++degree; });
      row_ptr[u + 1] = degree;
    }
  });
  accumulate(row_ptr);
  Buffer<int32_t> neighbor;
  neighbor.resize(row_ptr[n]);
  IndexBuffer link(row_ptr[n], rules.rows - 1, rules.largest_narrow);
  constexpr int64_t kAhead = 32;
  const int64_t last_arc = n == 0 ? 0 : arcs.end(n - 1);
  parallel_for(n, kRows, [&](int64_t first, int64_t last) {
    int64_t to = row_ptr[first];
    for (int64_t u = first; u < last; ++u) {
      for_each_kept(arcs, rules, u, [&](int64_t i) {
        const SortedArcs::Arc arc = arcs[i];
        // The links of a node are far apart in memory.
        if (merged && i + kAhead < last_arc) __builtin_prefetch(row + arcs[i + kAhead].link);
        const int64_t number = merged ? row[arc.link] >> shift : arc.link;
        neighbor[to] = arc.neighbor;
        link.set(to++, attribute_row(rules.separate_directions, number, u, arc.neighbor));
      });
    }
  });
  return {row_ptr.freeze(), neighbor.freeze(), link.freeze()};
}

Adjacency build_adjacency(const LinkEnds& ends, bool separate_directions) {
  return make_adjacency(SortedArcs(ends),
                        {.separate_directions = separate_directions,
                         .rows = std::ssize(ends.source) * (separate_directions ? 2 : 1)});
}

}  // namespace lase
