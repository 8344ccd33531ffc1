#pragma once

#include <cstdint>

#include "lase/graph/graph.h"

namespace lase {

// The graph with dense link attributes and normal noise on all of them; the standard deviation of
// the attributes is `snr` times that of the noise. Infinity: none.
Graph with_noise(const Graph& graph, double snr, uint64_t seed);

// The attributes dealt out to other links.
Graph with_shuffled_attributes(const Graph& graph, uint64_t seed);

Graph without_attributes(const Graph& graph);

}  // namespace lase
