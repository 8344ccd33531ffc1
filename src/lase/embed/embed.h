#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/option_table.h"
#include "lase/graph/adjacency.h"
#include "lase/graph/graph.h"

namespace lase {

// kAuto: chosen by train() if the graph has no node features or sparse ones, otherwise none.
enum class EmbedMethod : uint8_t { kNone, kLine, kDeepWalk, kAuto };
enum class Order : uint8_t { kFirst, kSecond, kBoth };

// LINE (Tang et al. 2015) trains on sampled arcs: its first order makes linked nodes similar, its
// second order nodes with the same neighbors. DeepWalk (Perozzi et al. 2014) trains on nodes that
// are close on random walks. Both use skip-gram with negative sampling from degree^¾.
struct EmbedOptions {
  EmbedMethod method = EmbedMethod::kLine;
  Order order = Order::kSecond;  // LINE; kBoth: both concatenated, half the width each
  int64_t width = 128;
  int64_t epochs = 0;            // LINE: samples per arc; 0: see default_epochs()
  int64_t walks = 10;            // DeepWalk: walks per node
  int64_t length = 40;           // DeepWalk: nodes per walk
  int64_t window = 10;           // DeepWalk: maximum distance on a walk
  int64_t negatives = 5;         // negative samples per positive sample
  double learning_rate = 0.025;  // at the start; decays to almost zero
  bool weighted = false;         // weight links by the sum of their attributes
  uint64_t seed = 1;

  // Called with the fraction of the work done and the number of samples so far.
  std::function<void(double fraction, double samples)> progress = {};
  const std::atomic<bool>* stop = nullptr;
};

// Center vectors c and, unless shared, context vectors c' of every node. LINE with both orders has
// two tables.
struct Embedding {
  struct Table {
    int64_t width = 0;
    std::vector<float> center;   // [nodes, width]
    std::vector<float> context;  // [nodes, width]; empty for the first order
  };
  int64_t nodes = 0;
  std::vector<Table> tables;
  double samples = 0;  // number of positive samples
  bool stopped = false;

  int64_t width() const;
  // [nodes, width]: the center vectors of all tables, concatenated.
  std::vector<float> rows() const;
};

// The same seed gives the same rows for any number of threads. Nodes without arcs get zeros.
Embedding embed(const Graph& graph, const Adjacency& arcs, const EmbedOptions& options);

// Trains the rows of nodes that are not `fixed` on their arcs; the others keep their rows.
void join_embedding(const Graph& graph, const Adjacency& arcs, const EmbedOptions& options,
                    const std::vector<bool>& fixed, Embedding& embedding);

// As in the evaluation of GraphSAGE: trains on links between training nodes first, then adds the
// other nodes with all their links.
Embedding embed_online(const Graph& graph, const std::vector<bool>& training,
                       const EmbedOptions& options);

// LINE: default number of samples per arc for a graph of this size.
int64_t default_epochs(int64_t arcs);

const OptionTable<EmbedOptions>& embed_option_table();
nlohmann::json to_json(const EmbedOptions& options);

template <>
inline constexpr std::array<std::string_view, 4> kEnumNames<EmbedMethod> = {"none", "line",
                                                                            "deepwalk", "auto"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Order> = {"first", "second", "both"};

}  // namespace lase
