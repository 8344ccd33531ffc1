#pragma once

#include <memory>
#include <span>

#include "lase/embed/embed.h"
#include "lase/embed/skip_gram.h"

namespace lase {

// What pairs are drawn from: arcs, with weights where links have some, of nodes that may learn.
struct PairInput {
  const Adjacency& arcs;
  std::span<const float> weight;   // [arcs]; empty: all alike
  std::span<const uint8_t> fixed;  // [nodes]; empty: none
  const EmbedOptions& options;
};

// LINE: arcs (u, v), each `epochs` times on average.
std::unique_ptr<PairSource> arc_pairs(const PairInput& in);
// DeepWalk: nodes within a window of walks. The window of every node is drawn from 1 to `window`,
// so that near nodes count more.
std::unique_ptr<PairSource> walk_pairs(const PairInput& in);

}  // namespace lase
