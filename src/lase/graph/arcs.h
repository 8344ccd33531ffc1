#pragma once

#include <cstdint>
#include <span>

#include "lase/base/array.h"
#include "lase/base/index_array.h"
#include "lase/graph/adjacency.h"

namespace lase {

// Link endpoints, from which arcs are built.
struct LinkEnds {
  std::span<const int32_t> source;
  std::span<const int32_t> target;
  int64_t nodes = 0;
  bool directed = false;         // one arc per link, from source to target
  bool keep_self_loops = false;  // each as a single arc
};

// Arcs in CSR order, each row sorted by neighbor, then by link.
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
  // Whether arc i has the same neighbor as the previous arc in the row of u.
  bool is_parallel(int64_t u, int64_t i) const {
    return i > row_ptr_[u] && packed_[i] >> kLinkBits == packed_[i - 1] >> kLinkBits;
  }

 private:
  static constexpr int kLinkBits = 33;  // neighbors use the other 31

  Buffer<int64_t> row_ptr_;  // [nodes+1]
  Buffer<uint64_t> packed_;  // [arcs]: neighbor << kLinkBits | link, which sorts by both
};

// Row of link attributes of the arc u→v. If directions are separate, each arc has its own row, and
// the arc from the lower node comes first.
constexpr int64_t attribute_row(bool separate_directions, int64_t link, int64_t u, int64_t v) {
  return separate_directions ? 2 * link + (u > v ? 1 : 0) : link;
}

struct AdjacencyRules {
  bool merge_parallel = false;       // keep only the first of parallel arcs, per stage
  bool separate_directions = false;  // see attribute_row()
  int64_t rows = 0;                  // rows of link attributes
  // [links]: a row of link attributes of each link; empty: links were not merged
  std::span<const int64_t> row = {};
  std::span<const uint8_t> stage = {};  // [links]: values of Split; empty: the same for all
  int64_t largest_narrow = kLargestNarrow;
};

Adjacency make_adjacency(const SortedArcs& arcs, const AdjacencyRules& rules);

// Adjacency of unmerged links: parallel links stay separate arcs.
Adjacency build_adjacency(const LinkEnds& ends, bool separate_directions);

}  // namespace lase
