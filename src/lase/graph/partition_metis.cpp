#include <limits>
#include <string_view>

#include "lase/base/error.h"
#include "lase/base/memory.h"
#include "lase/graph/partition_methods.h"

#ifdef LASE_METIS
#include <metis.h>
#include <mutex>
#endif

namespace lase {

#ifdef LASE_METIS

namespace {

// METIS takes pointers to mutable arrays.
std::vector<idx_t> narrow_row_ptr(const WeightedGraph& graph) {
  return {graph.row_ptr.begin(), graph.row_ptr.end()};
}

void require_done(int status) {
  require(status != METIS_ERROR_MEMORY, "METIS needs more memory than is available; set ",
          OptionName{"method"}, " to streaming, which needs less");
  require(status == METIS_OK, "METIS could not partition the graph; set ", OptionName{"method"},
          " to streaming");
}

}  // namespace

bool has_metis() { return true; }

bool metis_can_index(const Adjacency& graph) {
  // Both directions of every arc are stored, and all weights are added.
  constexpr auto kMost = static_cast<double>(std::numeric_limits<idx_t>::max());
  return 2 * static_cast<double>(graph.arc_count()) + static_cast<double>(graph.node_count()) <
         kMost;
}

std::vector<uint16_t> partition_metis(const Adjacency& graph, const PartitionOptions& options) {
  static_assert(sizeof(idx_t) == sizeof(int32_t));
  require(metis_can_index(graph), "the graph has ", graph.arc_count(),
          " arcs, more than the 32-bit indices of METIS can address; set ", OptionName{"method"},
          " to streaming");
  const std::string advice = join("set ", OptionName{"method"}, " to streaming");
  require_memory(metis_memory(graph), "the arrays of METIS", advice);
  const WeightedGraph merged = without_directions(graph, advice);
  std::vector<idx_t> row_ptr = narrow_row_ptr(merged);
  std::vector<idx_t> weight;
  for (const int64_t w : node_weights(graph)) weight.push_back(static_cast<idx_t>(w));
  std::vector<idx_t> part(weight.size());
  auto nodes = static_cast<idx_t>(graph.node_count());
  idx_t constraints = 1;
  auto parts = static_cast<idx_t>(options.parts);
  auto imbalance = static_cast<real_t>(1 + options.imbalance);
  idx_t settings[METIS_NOPTIONS];
  METIS_SetDefaultOptions(settings);
  constexpr uint64_t kSeeds = std::numeric_limits<idx_t>::max();
  settings[METIS_OPTION_SEED] = static_cast<idx_t>(options.seed % kSeeds);
  settings[METIS_OPTION_NUMBERING] = 0;
  idx_t cut = 0;
  // METIS uses the random numbers of the C library, which all threads share.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  require_done(METIS_PartGraphKway(&nodes, &constraints, row_ptr.data(),
                                   const_cast<idx_t*>(merged.neighbor.data()), weight.data(),
                                   nullptr, const_cast<idx_t*>(merged.weight.data()), &parts,
                                   nullptr, &imbalance, settings, &cut, part.data()));
  return {part.begin(), part.end()};
}

#else

bool has_metis() { return false; }

bool metis_can_index(const Adjacency&) { return false; }

std::vector<uint16_t> partition_metis(const Adjacency&, const PartitionOptions&) {
  fail(OptionName{"method"},
       " metis: lase was built without METIS; use streaming, or install libmetis-dev and rebuild "
       "lase");
}

#endif

// Measured with a graph of 200 million arcs, whose coarsened versions shrink slowly: 71 bytes per
// arc.
double metis_memory(const Adjacency& graph) {
  return 70.0 * static_cast<double>(graph.arc_count()) +
         100.0 * static_cast<double>(graph.node_count());
}

}  // namespace lase
