#include <algorithm>
#include <limits>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/graph/build.h"

namespace lase {
namespace {

// An arc as one sortable number: neighbour, then attribute row.
uint64_t pack(int32_t neighbor, int64_t row) {
  return static_cast<uint64_t>(neighbor) << 32 | static_cast<uint64_t>(row);
}

// visit(u, v, row) for every arc u→v whose u lies in [first, last).
struct Arcs {
  std::span<const int32_t> source;
  std::span<const int32_t> target;
  bool directed;
  bool directional;

  template <class Visit>
  void for_each(int64_t first, int64_t last, const Visit& visit) const {
    for (size_t i = 0; i < source.size(); ++i) {
      const int32_t u = source[i];
      const int32_t v = target[i];
      const auto link = static_cast<int64_t>(i);
      const int64_t row = directional ? 2 * link + (u > v ? 1 : 0) : link;
      if (u >= first && u < last) visit(u, v, row);
      if (directed || u == v) continue;
      if (v >= first && v < last) visit(v, u, directional ? row ^ 1 : row);
    }
  }
};

}  // namespace

Adjacency build_adjacency(std::span<const int32_t> source, std::span<const int32_t> target,
                          int64_t nodes, bool directed, bool directional) {
  const Arcs arcs{source, target, directed, directional};
  const int64_t most_rows = static_cast<int64_t>(source.size()) * (directional ? 2 : 1);
  require(most_rows <= std::numeric_limits<int32_t>::max(),
          "more than 2147483647 rows of link attributes cannot be held");
  Buffer<int64_t> row_ptr;
  row_ptr.resize(nodes + 1);
  std::fill(row_ptr.begin(), row_ptr.end(), 0);
  arcs.for_each(0, nodes, [&](int32_t u, int32_t, int64_t) { ++row_ptr[u + 1]; });
  for (int64_t u = 0; u < nodes; ++u) row_ptr[u + 1] += row_ptr[u];

  const int64_t count = row_ptr[nodes];
  Buffer<uint64_t> packed;
  packed.resize(count);
  // Each thread fills the rows of its own share of the nodes, so that none waits for another.
  const int64_t shares = std::max(1, thread_count());
  const auto share_start = [&](int64_t share) {
    const int64_t* at = std::lower_bound(row_ptr.begin(), row_ptr.end(), count * share / shares);
    return share == shares ? nodes : std::min<int64_t>(at - row_ptr.begin(), nodes);
  };
  parallel_for(shares, 1, [&](int64_t share, int64_t) {
    const int64_t first = share_start(share);
    const int64_t last = share_start(share + 1);
    std::vector<int64_t> next(row_ptr.data() + first, row_ptr.data() + last);
    arcs.for_each(first, last, [&](int32_t u, int32_t v, int64_t row) {
      packed[next[static_cast<size_t>(u - first)]++] = pack(v, row);
    });
  });
  Buffer<int32_t> neighbor;
  Buffer<int32_t> link;
  neighbor.resize(count);
  link.resize(count);
  constexpr int64_t kRows = 4096;
  parallel_for(nodes, kRows, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      std::sort(packed.data() + row_ptr[u], packed.data() + row_ptr[u + 1]);
    }
    for (int64_t i = row_ptr[first]; i < row_ptr[last]; ++i) {
      neighbor[i] = static_cast<int32_t>(packed[i] >> 32);
      link[i] = static_cast<int32_t>(packed[i] & 0xFFFFFFFFu);
    }
  });
  return {row_ptr.freeze(), neighbor.freeze(), link.freeze()};
}

}  // namespace lase
