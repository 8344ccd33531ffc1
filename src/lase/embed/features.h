#pragma once

#include <optional>
#include <vector>

#include "lase/embed/embed.h"
#include "lase/graph/graph.h"

namespace lase {

// Node features learned from links, with what gives them to other graphs.
struct LearnedFeatures {
  EmbedOptions options;
  StringTable names;  // of the nodes that they were learned for
  Embedding embedding;

  bool present() const { return embedding.nodes > 0; }
};

// From all links; online: from those between training nodes, whom the others join.
struct FeatureOptions {
  EmbedOptions embed;
  bool online = false;

  bool wanted() const { return embed.method != EmbedMethod::kNone; }
};
// As options of a training: features, features_width, …
const OptionTable<FeatureOptions>& feature_option_table();

LearnedFeatures learn_features(const Graph& graph, const std::vector<bool>& training,
                               const FeatureOptions& options);

// Adds the features to those of the graph. Nodes known by name have their rows; others join with
// all their links while those stay.
void add_features(const LearnedFeatures& learned, Graph& graph);

}  // namespace lase
