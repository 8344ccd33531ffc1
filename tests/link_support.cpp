#include "link_support.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lase/base/random.h"
#include "lase/graph/build.h"

namespace lase {

Graph random_links(const RandomLinks& options) {
  Random random(options.seed, 0x4C494E4B);
  RawGraph raw;
  raw.rules.directed = options.directed;
  raw.rules.merge = Merge::kMean;
  if (options.keep_parallel) raw.rules.parallel = Parallel::kKeep;
  raw.nodes.names = numbered_names("n", options.nodes);
  raw.nodes.features = Attributes::dense({}, options.nodes, 0);
  raw.attributes.columns = options.categories;
  raw.attribute_names = numbered_names("c", options.categories);
  std::vector<int32_t> label;
  std::vector<uint8_t> split;
  const auto add = [&](int64_t u, int64_t v, int64_t category) {
    if (!options.splits.empty()) {
      const auto turn = static_cast<size_t>(raw.source.size()) % options.splits.size();
      split.push_back(static_cast<uint8_t>(options.splits[turn]));
    }
    raw.source.push_back(static_cast<int32_t>(u));
    raw.target.push_back(static_cast<int32_t>(v));
    label.push_back(static_cast<int32_t>(category));
    for (int64_t j = 0; j < options.categories; ++j) {
      raw.attributes.values.push_back(j == category ? 1.0F : 0.0F);
    }
  };
  const auto node = [&] {
    return static_cast<int64_t>(random.below(static_cast<uint64_t>(options.nodes)));
  };
  std::set<std::pair<int64_t, int64_t>> pairs;
  while (std::ssize(pairs) < options.links) {
    const int64_t u = node();
    const int64_t v = node();
    if (u == v || u % options.groups != v % options.groups) continue;
    if (!pairs.insert(std::minmax(u, v)).second) continue;
    const auto categories = static_cast<uint64_t>(std::max<int64_t>(1, options.categories));
    const auto category = static_cast<int64_t>(random.below(categories));
    add(u, v, category);
    if (options.repeated && pairs.size() % 3 == 0) {
      add(v, u, category);
      add(u, v, category);
    }
  }
  using Role = RandomLinks::Role;
  if (options.targets) {
    RawTargets& targets = raw.targets.emplace();
    targets.stage = split;
    targets.split = split;
    targets.relations = options.role == Role::kRelations;
    if (options.role == Role::kLabels || options.role == Role::kLabelsAndAttributes) {
      targets.labels.task = Task::kSingleLabel;
      targets.labels.label = std::move(label);
      targets.labels.names = numbered_names("c", options.categories);
    }
    for (int64_t j = 0; options.role == Role::kLabels && j < options.categories; ++j) {
      targets.label_columns.push_back(j);
    }
  }
  return build_graph(std::move(raw)).graph;
}

std::vector<int64_t> targets_in(const Graph& graph, Split split) {
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < graph.targets.size(); ++i) {
    if (graph.targets.split[i] == static_cast<uint8_t>(split)) targets.push_back(i);
  }
  return targets;
}

std::vector<int64_t> all_targets(const Graph& graph) {
  std::vector<int64_t> targets;
  for (int64_t i = 0; i < graph.targets.size(); ++i) targets.push_back(i);
  return targets;
}

}  // namespace lase
