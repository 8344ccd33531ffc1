#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "lase/base/array.h"
#include "lase/base/index_array.h"
#include "lase/graph/adjacency.h"

namespace lase {

// The ends of links, before they are arcs.
struct LinkEnds {
  std::span<const int32_t> source;
  std::span<const int32_t> target;
  int64_t nodes = 0;
  bool directed = false;         // an arc from source to target only
  bool keep_self_loops = false;  // as one arc each
};

// The arcs of links by row, each row sorted by neighbor and then by link.
class SortedArcs {
 public:
  struct Arc {
    int32_t neighbor;
    int64_t link;
  };

  explicit SortedArcs(const LinkEnds& ends);

  int64_t nodes() const { return row_ptr_.size() - 1; }
  int64_t begin(int64_t u) const { return row_ptr_[u]; }
  int64_t end(int64_t u) const { return row_ptr_[u + 1]; }
  Arc operator[](int64_t i) const {
    return {static_cast<int32_t>(packed_[i] >> kLinkBits),
            static_cast<int64_t>(packed_[i] & ((uint64_t{1} << kLinkBits) - 1))};
  }
  // Whether arc i leads to the same node as the arc before it in the row of u.
  bool is_parallel(int64_t u, int64_t i) const {
    return i > row_ptr_[u] && packed_[i] >> kLinkBits == packed_[i - 1] >> kLinkBits;
  }

 private:
  static constexpr int kLinkBits = 33;  // neighbors take the other 31

  Buffer<int64_t> row_ptr_;  // [nodes+1]
  Buffer<uint64_t> packed_;  // [arcs]: neighbor, then link, as one sortable number
};

struct AdjacencyRules {
  bool merge_parallel = false;  // one arc for parallel ones, which has the row of the first
  int64_t rows = 0;             // of link attributes
  int64_t largest_narrow = kLargestNarrow;
};

// Arcs with their rows of link attributes: row_of(u, v, link) of each.
Adjacency make_adjacency(const SortedArcs& arcs, const AdjacencyRules& rules,
                         const std::function<int64_t(int64_t u, const SortedArcs::Arc&)>& row_of);

// The row of link attributes of the arc u→v. The arcs of a directional graph have one each, that
// of the lower node first.
constexpr int64_t attribute_row(bool directional, int64_t link, int64_t u, int64_t v) {
  return directional ? 2 * link + (u > v ? 1 : 0) : link;
}

// The adjacency of links as they are, parallel ones and self-loops included.
Adjacency build_adjacency(const LinkEnds& ends, bool directional);

}  // namespace lase
