#include "lase/embed/features.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "lase/base/error.h"

namespace lase {
namespace {

// Embedding rows for another graph: known nodes by name; the others are zero and not fixed.
struct Known {
  Embedding embedding;
  std::vector<bool> fixed;
};

std::unordered_map<std::string_view, int64_t> nodes_by_name(const LearnedFeatures& learned) {
  std::unordered_map<std::string_view, int64_t> node_of;
  for (int64_t i = 0; i < learned.names.size(); ++i) node_of.emplace(learned.names[i], i);
  return node_of;
}

Known known_rows(const LearnedFeatures& learned, const StringTable& names) {
  const auto node_of = nodes_by_name(learned);
  Known known;
  known.embedding.nodes = names.size();
  known.fixed.resize(static_cast<size_t>(names.size()));
  for (const auto& from : learned.embedding.tables) {
    Embedding::Table to{.width = from.width, .center = {}, .context = {}};
    to.center.resize(static_cast<size_t>(names.size() * from.width));
    if (!from.context.empty()) to.context.resize(to.center.size());
    for (int64_t u = 0; u < names.size(); ++u) {
      const auto found = node_of.find(names[u]);
      if (found == node_of.end()) continue;
      known.fixed[static_cast<size_t>(u)] = true;
      const auto copy = [&](const std::vector<float>& old_rows, std::vector<float>& rows) {
        if (old_rows.empty()) return;
        std::copy_n(old_rows.begin() + found->second * from.width, from.width,
                    rows.begin() + u * from.width);
      };
      copy(from.center, to.center);
      copy(from.context, to.context);
    }
    known.embedding.tables.push_back(std::move(to));
  }
  return known;
}

}  // namespace

const OptionTable<FeatureOptions>& feature_option_table() {
  static const auto table = [] {
    OptionTable<FeatureOptions> all;
    all.include(embed_option_table(), &FeatureOptions::embed,
                {.prefix = "features_", .rename = {{"method", "features"}}, .skip = {"seed"}});
    return all;
  }();
  return table;
}

LearnedFeatures learn_features(const Graph& graph, const std::vector<bool>& training,
                               const FeatureOptions& options) {
  LearnedFeatures learned{.options = options.embed, .names = graph.nodes.names, .embedding = {}};
  learned.embedding = options.online ? embed_online(graph, training, options.embed)
                                     : embed(graph, graph, options.embed);
  return learned;
}

int64_t known_nodes(const LearnedFeatures& learned, const StringTable& names) {
  const auto node_of = nodes_by_name(learned);
  int64_t known = 0;
  for (int64_t u = 0; u < names.size(); ++u) known += node_of.contains(names[u]) ? 1 : 0;
  return known;
}

void add_features(const LearnedFeatures& learned, Graph& graph) {
  Known known = known_rows(learned, graph.nodes.names);
  const bool all = std::all_of(known.fixed.begin(), known.fixed.end(), [](bool is) { return is; });
  if (!all) {
    join_embedding(graph, graph, learned.options, known.fixed, known.embedding);
  }
  const int64_t width = known.embedding.width();
  const auto rows = Attributes::dense(known.embedding.rows(), graph.node_count(), width);
  append_features(graph.nodes, rows, numbered_names(name_of(learned.options.method), width));
}

}  // namespace lase
