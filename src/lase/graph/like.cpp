#include "lase/graph/like.h"

#include <algorithm>

#include "lase/base/error.h"
#include "lase/graph/build.h"

namespace lase {
namespace {

const StringTable& attribute_names(const Graph& graph) {
  return graph.link_reduction.present() ? graph.link_reduction.names : graph.attribute_names;
}

const StringTable& feature_names(const Graph& graph) {
  return graph.node_reduction.present() ? graph.node_reduction.names : graph.nodes.feature_names;
}

void require_same(const StringTable& names, const StringTable& earlier, std::string_view what) {
  require(names.size() == earlier.size(), "the earlier graph has ", earlier.size(), " ", what,
          ", the new one ", names.size());
  for (int64_t i = 0; i < names.size(); ++i) {
    require(names[i] == earlier[i], "the earlier graph has ", quote(earlier[i]), " among its ",
            what, " where the new one has ", quote(names[i]));
  }
}

}  // namespace

std::vector<double> Like::numbers(const std::string& key) const {
  std::vector<double> values;
  const auto list = recipe.find(key);
  if (list == recipe.end()) return values;
  require(list->is_array(), "the ", quote(key), " of the earlier graph are not a list");
  for (const auto& item : *list) {
    require(item.is_number(), "the ", quote(key), " of the earlier graph are not numbers");
    values.push_back(item.get<double>());
  }
  return values;
}

Like like_of(const Graph& graph) {
  Like like;
  const auto& names = attribute_names(graph);
  like.attribute_names = graph.directional ? undirectional_names(names) : names;
  like.feature_names = feature_names(graph);
  like.label_names = graph.nodes.labels.names;
  like.recipe = graph.recipe;
  return like;
}

void require_like(const Graph& graph, const Graph& earlier) {
  require(graph.directional == earlier.directional, "the earlier graph was imported with",
          earlier.directional ? " " : "out ", OptionName{"directional"}, ", the new one with",
          graph.directional ? "" : "out");
  require_same(attribute_names(graph), attribute_names(earlier), "link attributes");
  require_same(feature_names(graph), feature_names(earlier), "node features");
}

}  // namespace lase
