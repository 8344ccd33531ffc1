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

// The first principal components of the rows, by subspace iteration from a random start:
//
//   V ← orthonormal basis of (Xᵀ X − n μ μᵀ) V        [columns, components + oversampling]
//
// X is read row by row in its own layout and never centred or made dense; the memory used beyond
// it is O(columns · components). The sign of a component is such that its largest entry is
// positive.
Reduction fit_pca(const Attributes& matrix, std::span<const int64_t> rows,
                  const PcaOptions& options);

// (x − mean) components for every row. Coded attributes stay coded, others become dense.
Attributes reduce(const Attributes& matrix, const Reduction& reduction);

// Reduces node features or link attributes of a graph to principal components, fitted on training
// nodes, and on links between such, where the graph has a split. `fitted` is applied instead where
// it is present.
void reduce_nodes(Graph& graph, const PcaOptions& options, const Reduction& fitted = {});
void reduce_links(Graph& graph, const PcaOptions& options, const Reduction& fitted = {});

}  // namespace lase
