#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lase/graph/graph.h"

namespace lase {

// The graph kernels of section 3.2, for graphs with node features f(u) and link attributes f(e).
// Each is the sum of a node kernel over all pairs u ∈ G, u' ∈ G'. With
//
//   F(u,u')       = ⟨f(u),f(u')⟩
//   (hop K)(u,u') = Σ_{v ∈ N(u)} Σ_{v' ∈ N(u')} K(v,v') ⟨f(e),f(e')⟩
//
// and element-wise products, the node kernels are
//
//   neighbor       hop F, so that the graph kernel is the sum of the neighbor kernel
//                  ⟨f(v),f(v')⟩ ⟨f(e),f(e')⟩ over all pairs of arcs
//   neighborhood   K_N^(0) = F,  K_N^(l) = λ F · hop K_N^(l−1)     for l = `length` hops
//   rw             K_W^l = K_N^(l−1), so that the graph kernel is λ^(l−1) times the sum over all
//                  pairs of walks with l = `length` nodes, that is, l − 1 links
//   wl             rw with R^(d) in place of F, after relabeling the nodes d = `depth` times:
//                  R^(0) = F,  R^(d) = R^(d−1) + λ hop R^(d−1)
//
// For wl the paper refers to Lei et al. (2017): relabel, then compare walks. Here the new label of
// u is the pair of its own label and the sum of its neighbors' labels, combined with the link
// attributes,
//
//   r^(d)(u) = [r^(d−1)(u), √λ Σ_{v ∈ N(u)} f(e) ⊗ r^(d−1)(v)]
//
// and R^(d) is the inner product of such labels. LASE-WL also relabels by a function of such a
// pair, but without f(e). R^(d−1) · hop R^(d−1) would be a kernel too, but it would be zero for
// nodes without neighbors. All four kernels are inner products of explicit features and therefore
// positive semidefinite.
enum class KernelKind : uint8_t { kNeighbor, kNeighborhood, kRandomWalk, kWeisfeilerLehman };

std::string_view name_of(KernelKind kind);
KernelKind kernel_named(std::string_view name);

struct KernelOptions {
  KernelKind kind = KernelKind::kRandomWalk;
  int64_t length = 4;      // `neighborhood`: number of hops; `rw` and `wl`: nodes per walk
  double decay = 0.5;      // λ ∈ (0, 1]
  int64_t depth = 1;       // `wl`: number of relabelings
  bool normalize = false;  // K(G,G') / √(K(G,G) K(G',G')); 0 if K(G,G) or K(G',G') is 0
};

// The node kernel [n, n'], whose sum is graph_kernel before normalization.
std::vector<double> node_kernel(const Graph& a, const Graph& b, const KernelOptions& options);

// The kernel of two graphs with equal numbers of node features and of link attributes. Missing
// features or attributes are treated as f = 1.
double graph_kernel(const Graph& a, const Graph& b, const KernelOptions& options);

// The kernels of all pairs: [graphs, graphs], symmetric.
std::vector<double> gram_matrix(std::span<const Graph> graphs, const KernelOptions& options);

}  // namespace lase
