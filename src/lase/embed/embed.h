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

enum class EmbedMethod : uint8_t { kNone, kLine, kDeepWalk };
enum class Order : uint8_t { kFirst, kSecond, kBoth };

// LINE (Tang et al. 2015) learns from drawn arcs: in its first order nodes that are linked lie
// close, in its second nodes with the same neighbours do. DeepWalk (Perozzi et al. 2014) learns
// from nodes that are near on random walks. Both by skip-gram with noise from degree^¾.
struct EmbedOptions {
  EmbedMethod method = EmbedMethod::kLine;
  Order order = Order::kSecond;  // of LINE; kBoth: half the width each, side by side
  int64_t width = 128;
  int64_t epochs = 0;     // LINE: samples per arc; 0: see default_epochs()
  int64_t walks = 10;     // DeepWalk: from each node
  int64_t length = 40;    // nodes of a walk
  int64_t window = 10;    // at most so many steps apart on a walk
  int64_t negatives = 5;  // noise drawn with every sample
  double rate = 0.025;    // of learning, falling to almost nothing
  bool weighted = false;  // links count by the sum of their attributes
  uint64_t seed = 1;

  std::function<void(double share, double samples)> progress = {};  // of the work that is done
  const std::atomic<bool>* stop = nullptr;
};

// What is learned: c and, where it is not the same, c' of every node. A LINE of both orders has two
// tables.
struct Embedding {
  struct Table {
    int64_t width = 0;
    std::vector<float> center;   // [nodes, width]
    std::vector<float> context;  // [nodes, width]; empty: first order
  };
  int64_t nodes = 0;
  std::vector<Table> tables;
  double samples = 0;  // that were learned from
  bool stopped = false;

  int64_t width() const;
  // [nodes, width]: c of the tables side by side.
  std::vector<float> rows() const;
};

// The same seed gives the same rows for any number of threads. Nodes without an arc have zeros.
Embedding embed(const Graph& graph, const Adjacency& arcs, const EmbedOptions& options);

// Nodes that are not `fixed` learn from the arcs at which they stand; the others keep their rows.
void join_embedding(const Graph& graph, const Adjacency& arcs, const EmbedOptions& options,
                    const std::vector<bool>& fixed, Embedding& embedding);

// As in the evaluation of GraphSAGE: links between training nodes first, then the others join with
// all their links.
Embedding embed_online(const Graph& graph, const std::vector<bool>& training,
                       const EmbedOptions& options);

// LINE: enough samples per arc for the graph's size.
int64_t default_epochs(int64_t arcs);

const OptionTable<EmbedOptions>& embed_option_table();
nlohmann::json to_json(const EmbedOptions& options);

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<EmbedMethod> = {"none", "line",
                                                                            "deepwalk"};
template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Order> = {"first", "second", "both"};

}  // namespace lase
