#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

// The kernels of section 3.2, for graphs with node features f(u) and link attributes f(e). Each is
// the sum, over all pairs u ∈ G, u' ∈ G', of a kernel of nodes. With
//
//   F(u,u')       = ⟨f(u),f(u')⟩
//   (hop K)(u,u') = Σ_{v ∈ N(u)} Σ_{v' ∈ N(u')} K(v,v') ⟨f(e),f(e')⟩
//
// and products element by element, the kernels of nodes are
//
//   neighbor       hop F, so that the sum is that of ⟨f(v),f(v')⟩ ⟨f(e),f(e')⟩, the neighbour
//                  kernel, over all pairs of arcs
//   neighborhood   K_N^(0) = F,  K_N^(l) = λ F · hop K_N^(l−1)     of l = `length` hops
//   rw             K_W^l = K_N^(l−1), so that the sum is λ^(l−1) times that over all pairs of walks
//                  of l = `length` nodes, which have l − 1 links
//   wl             rw with R^(d) in place of F, the nodes relabelled d = `depth` times:
//                  R^(0) = F,  R^(d) = R^(d−1) + λ hop R^(d−1)
//
// The paper leaves wl to Lei et al. (2017): relabel, then compare walks. Here the new label of u is
// the pair of its label and the sum of its neighbours' labels, with what the links to them say,
//
//   r^(d)(u) = [r^(d−1)(u), √λ Σ_{v ∈ N(u)} f(e) ⊗ r^(d−1)(v)]
//
// and R^(d) is the inner product of such labels. LASE-WL relabels by a function of such a pair too,
// without f(e). R^(d−1) · hop R^(d−1) would also be a kernel, but one under which a node without
// neighbours resembles nothing, not even itself. All four kernels are inner products of explicit
// features and hence positive semi-definite.
enum class KernelKind : uint8_t { kNeighbor, kNeighborhood, kRandomWalk, kWeisfeilerLehman };

std::string_view name_of(KernelKind kind);
KernelKind kernel_named(std::string_view name);

struct KernelOptions {
  KernelKind kind = KernelKind::kRandomWalk;
  int64_t length = 4;      // hops of `neighborhood`; nodes of a walk for `rw` and `wl`
  double decay = 0.5;      // λ ∈ (0, 1]
  int64_t depth = 1;       // relabellings of `wl`
  bool normalize = false;  // K(G,G') / √(K(G,G) K(G',G')); 0 where K(G,G) or K(G',G') is
};

// The kernel of nodes [n, n'] whose sum is graph_kernel, before normalisation.
std::vector<double> node_kernel(const Graph& a, const Graph& b, const KernelOptions& options);

// The kernel of two graphs. A graph without node features, or without link attributes, counts as
// one whose f is 1; both graphs have as many of either.
double graph_kernel(const Graph& a, const Graph& b, const KernelOptions& options);

// The kernel of all pairs: [graphs, graphs], symmetric.
std::vector<double> gram_matrix(std::span<const Graph> graphs, const KernelOptions& options);

}  // namespace lase
