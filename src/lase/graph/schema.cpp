#include "lase/graph/schema.h"

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
          ", but the new one has ", names.size());
  for (int64_t i = 0; i < names.size(); ++i) {
    require(names[i] == earlier[i], "the ", what, " differ: the earlier graph has ",
            quote(earlier[i]), " where the new one has ", quote(names[i]));
  }
}

}  // namespace

std::vector<double> Schema::numbers(const std::string& key) const {
  std::vector<double> values;
  const auto list = preprocessing.find(key);
  if (list == preprocessing.end()) return values;
  require(list->is_array(), "the earlier graph is damaged: ", quote(key), " is not a list");
  for (const auto& item : *list) {
    require(item.is_number(), "the earlier graph is damaged: ", quote(key),
            " is not a list of numbers");
    values.push_back(item.get<double>());
  }
  return values;
}

std::string Schema::text(const std::string& key) const {
  const auto found = preprocessing.find(key);
  const bool known = found != preprocessing.end() && found->is_string();
  return known ? found->get<std::string>() : "";
}

Schema schema_of(const Graph& graph) {
  Schema schema;
  const auto& names = attribute_names(graph);
  schema.attribute_names = graph.separate_directions ? shared_names(names) : names;
  schema.feature_names = feature_names(graph);
  schema.label_names = graph.nodes.labels.names;
  schema.has_targets = graph.targets.size() > 0;
  schema.link_task = graph.targets.labels.task;
  schema.link_label_names = graph.targets.labels.names;
  schema.separate_directions = graph.separate_directions;
  schema.preprocessing = graph.preprocessing;
  return schema;
}

void require_schema(const Graph& graph, const Graph& earlier) {
  require(graph.separate_directions == earlier.separate_directions,
          "the earlier graph was imported with", earlier.separate_directions ? " " : "out ",
          OptionName{"separate_directions"}, ", but the new one with",
          graph.separate_directions ? " it" : "out it");
  require_same(attribute_names(graph), attribute_names(earlier), "link attributes");
  require_same(feature_names(graph), feature_names(earlier), "node features");
  if (graph.targets.size() > 0 && earlier.targets.size() > 0) {
    require_same(graph.targets.attribute_names, earlier.targets.attribute_names,
                 "attributes of link targets");
  }
}

}  // namespace lase
