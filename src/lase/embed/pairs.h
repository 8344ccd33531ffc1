#pragma once

#include <memory>
#include <span>

#include "lase/embed/embed.h"
#include "lase/embed/skip_gram.h"

namespace lase {

// The arcs from which node pairs are sampled.
struct PairInput {
  const Adjacency& arcs;
  std::span<const float> weight;   // [arcs]; empty: unweighted
  std::span<const uint8_t> fixed;  // [nodes]; empty: none
  const EmbedOptions& options;
};

// LINE: arcs (u, v), each sampled `epochs` times on average.
std::unique_ptr<PairSource> arc_pairs(const PairInput& in);
// DeepWalk: nodes within a window on random walks. The window of each node is sampled from 1 to
// `window`, so closer nodes get more weight.
std::unique_ptr<PairSource> walk_pairs(const PairInput& in);

}  // namespace lase
