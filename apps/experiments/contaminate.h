#pragma once

#include <cstdint>

#include "lase/graph/graph.h"

namespace lase {

// The graph with dense link attributes plus Gaussian noise; `snr` is the standard deviation of the
// attributes divided by that of the noise. Infinity: no noise.
Graph with_noise(const Graph& graph, double snr, uint64_t seed);

// The graph with its attributes randomly permuted among links.
Graph with_shuffled_attributes(const Graph& graph, uint64_t seed);

Graph without_attributes(const Graph& graph);

}  // namespace lase
