#include "lase/graph/build.h"

#include "lase/base/error.h"
#include "lase/graph/merge.h"

namespace lase {
namespace {

constexpr std::string_view kOut = "out ";
constexpr std::string_view kIn = "in ";

// "out slice 3", "in slice 3": what u sent over the link, and what it received.
StringTable directional_names(const StringTable& names) {
  StringTableBuilder both;
  for (const auto direction : {kOut, kIn}) {
    for (int64_t i = 0; i < names.size(); ++i) both.add(join(direction, names[i]));
  }
  return both.finish();
}

}  // namespace

StringTable undirectional_names(const StringTable& names) {
  StringTableBuilder half;
  for (int64_t i = 0; i < names.size() / 2; ++i) {
    half.add(names[i].starts_with(kOut) ? names[i].substr(kOut.size()) : names[i]);
  }
  return half.finish();
}

BuiltGraph build_graph(RawGraph raw) {
  BuiltGraph built;
  Graph& graph = built.graph;
  BuildReport& report = built.report;
  report.raw_links = raw.source.size();
  const int64_t nodes = raw.nodes.names.size();

  if (raw.attribute_names.size() == 0) {
    raw.attribute_names = numbered_names("attribute ", raw.attributes.columns);
  }
  if (raw.nodes.feature_names.size() == 0) {
    raw.nodes.feature_names = numbered_names("feature ", raw.nodes.features.columns);
  }

  LinkGroups groups = group_links(raw);
  report.self_loops = groups.self_loops;
  report.merged = groups.merged;
  graph.links = groups.source.size();
  graph.directed = raw.rules.directed;
  graph.directional = raw.rules.directional;
  graph.link_attributes = choose_layout(merge_attributes(raw, groups), raw.layout_rule);
  graph.attribute_names =
      graph.directional ? directional_names(raw.attribute_names) : raw.attribute_names;
  groups.row = {};

  graph.adjacency() =
      build_adjacency(groups.source, groups.target, nodes, graph.directed, graph.directional);
  for (int64_t u = 0; u < nodes; ++u) report.isolated += graph.degree(u) == 0 ? 1 : 0;
  graph.nodes = std::move(raw.nodes);
  graph.recipe = std::move(raw.recipe);
  return built;
}

}  // namespace lase
