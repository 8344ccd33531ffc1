#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

// Numerical check of theorem 1 (section 3.3): with a constant gate λ, linear amplifiers and no
// activations, the sum of the k-th coordinates of LASE-RW's states is a random-walk kernel of the
// graph and a path whose attributes are the k-th rows of the weights,
//
//   Σ_u h^(l)(u)[k] = K_W(G, L_{l,k})
//
// h^(l) spans l links, so the kernel is that of walks with l + 1 nodes, K_W^(l+1) in the notation
// of section 3.2 and KernelOptions::length. Two recursions are tested, both starting from h^(0)(u)
// = W^(0) f(u):
//
//   walk form      h^(l)(u) = Σ_{v ∈ N(u)} λ h^(l−1)(v) ⊙ U^(l) f(e) ⊙ W^(l) f(u)
//   printed form   h^(l)(u) = Σ_{v ∈ N(u)} λ h^(l−1)(u) ⊙ U^(l) f(e) ⊙ W^(l) f(v)
//
// In the walk form, a walk starts at u, paired with W^(l), and ends at a node paired with W^(0), so
// directed arcs of the path point from W^(l) to W^(0). The printed form runs in the opposite
// direction, with W^(0) f(u) at its start, and is compared with the reversed path. It satisfies the
// theorem for l = 1; for l ≥ 2 it sums over stars centered at u, and the theorem fails.
enum class LaseRwForm : uint8_t { kWalk, kPrinted };

// W^(0) … W^(layers) and U^(1) … U^(layers), each with `width` rows.
struct LaseRwWeights {
  int64_t layers;
  int64_t width;
  int64_t features;
  int64_t attributes;
  std::vector<float> w;  // [layers+1, width, features]
  std::vector<float> u;  // [layers, width, attributes], starting with U^(1)
  double gate;           // λ

  const float* w_row(int64_t l, int64_t k) const { return &w.at(at(l * width + k, features)); }
  const float* u_row(int64_t l, int64_t k) const {
    return &u.at(at((l - 1) * width + k, attributes));
  }

 private:
  static size_t at(int64_t row, int64_t columns) { return static_cast<size_t>(row * columns); }
};

// h^(l) [nodes, width] for l ≤ weights.layers.
std::vector<double> lase_rw_states(const Graph& graph, const LaseRwWeights& weights, int64_t l,
                                   LaseRwForm form);

// L_{l,k}: nodes v_0 … v_l with f(v_i) = W^(i)[k], and links with f(e) = U^(i+1)[k] between v_i and
// v_{i+1}. Arcs point to v_i for the walk form and to v_{i+1} for the printed form, so there is
// exactly one walk with l + 1 nodes.
Graph path_graph(const LaseRwWeights& weights, int64_t l, int64_t k, LaseRwForm form);

// The two sides of the theorem.
struct TheoremSide {
  double sum_of_states;
  double kernel;
  double relative_difference;  // |sum − kernel| / max(|sum|, |kernel|)
};

// kSeparate: undirected, and the two arcs of a link have separate attributes.
enum class LinkDirection : uint8_t { kUndirected, kSeparate, kDirected };
std::string_view name_of(LinkDirection direction);

struct TheoremRow {
  LinkDirection direction;
  int64_t graph;  // index among the graphs of this direction
  int64_t l;
  int64_t k;
  TheoremSide walk;
  TheoremSide printed;
};

struct TheoremOptions {
  int64_t graphs = 3;  // per direction
  int64_t nodes = 20;
  int64_t links = 60;
  int64_t features = 5;
  int64_t attributes = 4;
  int64_t width = 3;   // coordinates k
  int64_t layers = 4;  // l = 1 … layers
  double gate = 0.5;   // λ
  uint64_t seed = 1;
};

// A random graph with parallel links and self-loops, and random weights; all values are standard
// normal.
struct TheoremCase {
  Graph graph;
  LaseRwWeights weights;
};
TheoremCase theorem_case(const TheoremOptions& options, LinkDirection direction, int64_t number);

// Checks both forms on random graphs with random weights: one row per graph, l and k.
std::vector<TheoremRow> check_theorem(const TheoremOptions& options);

}  // namespace lase
