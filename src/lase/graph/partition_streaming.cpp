#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "lase/base/random.h"
#include "lase/base/shuffle.h"
#include "lase/graph/partition_methods.h"

namespace lase {
namespace {

constexpr uint64_t kOrderStream = 1;  // random numbers
constexpr uint16_t kUnassigned = std::numeric_limits<uint16_t>::max();
static_assert(kMostParts <= kUnassigned);

// Whether every node has as many arcs from others as to others, as in an undirected graph.
bool is_balanced(const Adjacency& graph) {
  std::vector<int32_t> excess(static_cast<size_t>(graph.node_count()));
  for (const int32_t v : graph.neighbor) ++excess[static_cast<size_t>(v)];
  for (size_t u = 0; u < excess.size(); ++u) {
    if (excess[u] != graph.degree(static_cast<int64_t>(u))) return false;
  }
  return true;
}

// An undirected graph already has both directions of every link.
WeightedGraph both_directions(const Adjacency& graph) {
  if (is_balanced(graph)) return {graph.row_ptr, graph.neighbor, {}};
  return without_directions(graph, "use a machine with more memory");
}

// Restreaming linear deterministic greedy partitioning (Stanton and Kliot 2012, Nishimura and
// Ugander 2013). Nodes arrive in random order, and node u joins the part p that maximizes
//
//   c(u, p) (1 − L(p) / C)       c: arcs between u and p,  L: load of p,  C: largest load
//
// In every pass, loads start from zero, and neighbors that have not arrived yet are where the
// previous pass put them. These passes alternate with passes of local moves, in which u moves to
// the part with the largest c(u, p) that has room for it: moves alone are stuck when all parts are
// full, and starting over alone converges slowly.
//
// One thread computes everything: a pass over 200 million arcs takes a few seconds.
class StreamingPartitioner {
 public:
  StreamingPartitioner(const Adjacency& graph, const PartitionOptions& options)
      : graph_(both_directions(graph)),
        weights_(node_weights(graph)),
        part_(weights_.size(), kUnassigned),
        load_(static_cast<size_t>(options.parts)),
        arcs_to_(load_.size()),
        order_(weights_.size()) {
    const auto total = std::accumulate(weights_.begin(), weights_.end(), int64_t{0});
    capacity_ =
        (1 + options.imbalance) * static_cast<double>(total) / static_cast<double>(options.parts);
    std::iota(order_.begin(), order_.end(), 0);
    Random random(options.seed, kOrderStream);
    shuffle(order_, random);
  }

  std::vector<uint16_t> run() {
    constexpr int kRounds = 4;
    constexpr int kLastMoves = 6;
    for (int round = 0; round < kRounds; ++round) {
      stream();
      move_nodes();
    }
    for (int pass = 0; pass < kLastMoves; ++pass) {
      if (move_nodes() == 0) break;
    }
    return std::move(part_);
  }

 private:
  // The part with the smallest load, while loads only increase.
  class LeastLoaded {
   public:
    explicit LeastLoaded(const std::vector<int64_t>& load) : load_(load) {
      for (size_t p = 0; p < load.size(); ++p) heap_.emplace(load[p], static_cast<uint16_t>(p));
    }
    uint16_t get() {
      for (;;) {
        const auto [load, p] = heap_.top();
        if (load == load_[p]) return p;
        heap_.pop();
        heap_.emplace(load_[p], p);
      }
    }

   private:
    using Entry = std::pair<int64_t, uint16_t>;
    const std::vector<int64_t>& load_;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap_;
  };

  // Calls visit() while arcs_to_[p] is c(u, p) for the parts p in near_, and 0 for all others.
  template <class Visit>
  void with_neighbor_parts(int32_t u, const Visit& visit) {
    near_.clear();
    for (int64_t i = graph_.row_ptr[u]; i < graph_.row_ptr[u + 1]; ++i) {
      const int32_t v = graph_.neighbor[i];
      const uint16_t p = part_[static_cast<size_t>(v)];
      if (v == u || p == kUnassigned) continue;
      if (arcs_to_[p] == 0) near_.push_back(p);
      arcs_to_[p] += graph_.weight.empty() ? 1 : graph_.weight[i];
    }
    visit();
    for (const uint16_t p : near_) arcs_to_[p] = 0;
  }

  bool has_room(uint16_t p, int64_t weight) const {
    return static_cast<double>(load_[p] + weight) <= capacity_;
  }

  void stream() {
    std::fill(load_.begin(), load_.end(), 0);
    LeastLoaded least_loaded(load_);
    const auto score = [&](uint16_t p) {
      return static_cast<double>(arcs_to_[p]) * (1 - static_cast<double>(load_[p]) / capacity_);
    };
    for (const int32_t u : order_) {
      with_neighbor_parts(u, [&] {
        const int64_t weight = weights_[static_cast<size_t>(u)];
        uint16_t best = least_loaded.get();
        double best_score = score(best);
        for (const uint16_t p : near_) {
          if (!has_room(p, weight)) continue;
          const double score_of_p = score(p);
          if (score_of_p > best_score || (score_of_p == best_score && load_[p] < load_[best])) {
            best = p;
            best_score = score_of_p;
          }
        }
        part_[static_cast<size_t>(u)] = best;
        load_[best] += weight;
      });
    }
  }

  // Returns the number of nodes that moved to another part.
  int64_t move_nodes() {
    int64_t moved = 0;
    for (const int32_t u : order_) {
      with_neighbor_parts(u, [&] {
        const int64_t weight = weights_[static_cast<size_t>(u)];
        const uint16_t own = part_[static_cast<size_t>(u)];
        // The load of a part without u.
        const auto other_load = [&](uint16_t p) { return load_[p] - (p == own ? weight : 0); };
        uint16_t best = own;
        for (const uint16_t p : near_) {
          if (p == own || !has_room(p, weight)) continue;
          if (std::pair(arcs_to_[p], other_load(best)) > std::pair(arcs_to_[best], other_load(p))) {
            best = p;
          }
        }
        if (best == own) return;
        load_[own] -= weight;
        load_[best] += weight;
        part_[static_cast<size_t>(u)] = best;
        ++moved;
      });
    }
    return moved;
  }

  WeightedGraph graph_;
  std::vector<int64_t> weights_;  // [nodes]
  std::vector<uint16_t> part_;    // [nodes]
  std::vector<int64_t> load_;     // [parts]
  std::vector<int64_t> arcs_to_;  // [parts]: c(u, p) of the current node
  std::vector<uint16_t> near_;    // parts with c(u, p) > 0
  std::vector<int32_t> order_;    // [nodes]
  double capacity_ = 0;
};

}  // namespace

std::vector<uint16_t> partition_streaming(const Adjacency& graph, const PartitionOptions& options) {
  return StreamingPartitioner(graph, options).run();
}

}  // namespace lase
