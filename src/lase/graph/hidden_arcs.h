#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lase/graph/adjacency.h"

namespace lase {

// Arcs of a graph that pass no messages, because the links between their nodes are being predicted.
class HiddenArcs {
 public:
  HiddenArcs() = default;
  // All arcs between source[i] and target[i], in both directions.
  HiddenArcs(const Adjacency& graph, std::span<const int32_t> source,
             std::span<const int32_t> target);

  bool empty() const { return arcs_.empty(); }
  std::span<const int64_t> arcs() const { return arcs_; }  // ascending
  // The hidden arcs of u, ascending.
  std::span<const int64_t> of(const Adjacency& graph, int64_t u) const;
  // The number of arcs of u that are not hidden.
  int64_t visible_degree(const Adjacency& graph, int64_t u) const {
    return graph.degree(u) - std::ssize(of(graph, u));
  }

 private:
  std::vector<int64_t> arcs_;  // ascending, distinct
};

// The arcs that are not hidden; node ids do not change.
Adjacency visible_arcs(const Adjacency& graph, const HiddenArcs& hidden);

}  // namespace lase
