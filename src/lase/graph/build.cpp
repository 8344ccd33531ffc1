#include "lase/graph/build.h"

#include "lase/base/error.h"
#include "lase/graph/arcs.h"
#include "lase/graph/make_targets.h"
#include "lase/graph/merge.h"

namespace lase {
namespace {

constexpr std::string_view kOut = "out ";
constexpr std::string_view kIn = "in ";

// "out slice 3" is what u sent over the link, "in slice 3" what it received.
StringTable separate_names(const StringTable& names) {
  StringTableBuilder both;
  for (const auto direction : {kOut, kIn}) {
    for (int64_t i = 0; i < names.size(); ++i) both.add(join(direction, names[i]));
  }
  return both.finish();
}

}  // namespace

StringTable shared_names(const StringTable& names) {
  StringTableBuilder half;
  for (int64_t i = 0; i < names.size() / 2; ++i) {
    half.add(names[i].starts_with(kOut) ? names[i].substr(kOut.size()) : names[i]);
  }
  return half.finish();
}

BuiltGraph build_graph(RawGraph raw, int64_t largest_narrow) {
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

  const LinkRules rules = raw.rules;
  LinkGroups groups;
  {
    const SortedArcs arcs({.source = raw.source,
                           .target = raw.target,
                           .nodes = nodes,
                           .directed = rules.directed,
                           .keep_self_loops = rules.self_loops == SelfLoops::kKeep});
    groups = group_links(raw, arcs);
    graph.adjacency() = make_adjacency(arcs, {.merge_parallel = rules.parallel != Parallel::kKeep,
                                              .separate_directions = rules.separate_directions,
                                              .rows = groups.rows(rules.separate_directions),
                                              .row = groups.row,
                                              .stage = merge_stages(raw),
                                              .largest_narrow = largest_narrow});
  }
  report.self_loops = groups.self_loops;
  report.merged = groups.merged;
  graph.links = groups.links;
  graph.directed = rules.directed;
  graph.separate_directions = rules.separate_directions;
  if (raw.targets) {
    graph.link_split = split_of_links(raw, groups);
    graph.targets = make_targets(raw, groups);
  }
  graph.link_attributes = choose_layout(merge_attributes(raw, groups), raw.layout_rule);
  graph.attribute_names =
      graph.separate_directions ? separate_names(raw.attribute_names) : raw.attribute_names;
  for (int64_t u = 0; u < nodes; ++u) report.isolated += graph.degree(u) == 0 ? 1 : 0;
  graph.nodes = std::move(raw.nodes);
  graph.preprocessing = std::move(raw.preprocessing);
  return built;
}

}  // namespace lase
