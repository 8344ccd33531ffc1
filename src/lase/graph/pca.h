#pragma once

#include <cstdint>
#include <span>

#include "lase/base/attributes.h"
#include "lase/graph/graph.h"

namespace lase {

struct PcaOptions {
  int64_t components = 200;
  uint64_t seed = 1;
  int iterations = 8;
  int64_t oversampling = 10;
};

// Leading principal components of the rows, by randomized subspace iteration:
//
//   V ← orthonormal basis of (Xᵀ X − n μ μᵀ) V        [columns, components + oversampling]
//
// X is read row by row in its own layout, never centered or made dense; additional memory is
// O(columns · components). Signs are chosen so that the largest entry of a component is positive.
Reduction fit_pca(const Attributes& matrix, std::span<const int64_t> rows,
                  const PcaOptions& options);

// Projects every row: (x − mean) components. Dictionary-encoded attributes stay so, others become
// dense.
Attributes reduce(const Attributes& matrix, const Reduction& reduction);

// Reduces node features or link attributes of a graph to principal components. They are fitted on
// training nodes, or training links between training nodes, if the graph has a split of nodes or
// links. If `fitted` is present, it is applied instead.
void reduce_nodes(Graph& graph, const PcaOptions& options, const Reduction& fitted = {});
void reduce_links(Graph& graph, const PcaOptions& options, const Reduction& fitted = {});

}  // namespace lase
