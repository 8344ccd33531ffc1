#pragma once

#include <optional>
#include <vector>

#include "lase/embed/embed.h"
#include "lase/graph/graph.h"

namespace lase {

// Node features learned from links, with what is needed to extend them to other graphs.
struct LearnedFeatures {
  EmbedOptions options;
  StringTable names;  // of the embedded nodes
  Embedding embedding;

  bool present() const { return embedding.nodes > 0; }
};

// Learned from all links; online: from links between training nodes, then the others are added.
struct FeatureOptions {
  EmbedOptions embed;
  bool online = false;
};
// As training options: features, features_width, …
const OptionTable<FeatureOptions>& feature_option_table();

LearnedFeatures learn_features(const Graph& graph, const std::vector<bool>& training,
                               const FeatureOptions& options);

// The number of nodes with these names that have learned features.
int64_t known_nodes(const LearnedFeatures& learned, const StringTable& names);

// Appends the features to those of the graph. Nodes known by name keep their rows; the others are
// trained on all their links.
void add_features(const LearnedFeatures& learned, Graph& graph);

}  // namespace lase
