#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/json.h"
#include "lase/base/lase_file.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/graph.h"
#include "lase/graph/graph_metadata.h"
#include "lase/graph/graph_parts.h"
#include "lase/graph/stored_arrays.h"

namespace lase {
namespace {

using nlohmann::json;

const LabelArrays kTargetLabels = {"targets.labels", "targets.values", "targets.label_names"};

LinkTargets get_targets(const SafetensorsFile& file, const json& about) {
  LinkTargets targets;
  if (!file.has("targets.source")) return targets;
  targets.source = file.get<int32_t>("targets.source", {-1});
  const int64_t n = targets.size();
  targets.target = file.get<int32_t>("targets.target", {n});
  targets.attributes =
      get_attributes(file, "targets.attributes", n, about.value("attributes", json::object()));
  targets.attribute_names =
      get_column_names(file, "targets.attribute_names", targets.attributes.columns);
  targets.labels = get_labels(file, kTargetLabels, about, n);
  if (file.has("targets.split")) targets.split = file.get<uint8_t>("targets.split", {n});
  targets.relations = about.value("relations", false);
  return targets;
}

void add_targets(ArrayWriter& writer, const LinkTargets& targets) {
  const int64_t n = targets.size();
  if (n == 0) return;
  writer.add("targets.source", targets.source, {n});
  writer.add("targets.target", targets.target, {n});
  writer.add("targets.attributes", targets.attributes);
  writer.add("targets.attribute_names", targets.attribute_names);
  add_labels(writer, kTargetLabels, targets.labels, n);
  if (!targets.split.empty()) writer.add("targets.split", targets.split, {n});
}

}  // namespace

Metadata graph_metadata(const Graph& graph) {
  json about = {{"links", graph.links},
                {"directed", graph.directed},
                {"separate_directions", graph.separate_directions},
                {"task", task_name(graph.nodes.labels.task)},
                {"node_features", attributes_metadata(graph.nodes.features)},
                {"link_attributes", attributes_metadata(graph.link_attributes)},
                {"fingerprint", graph.fingerprint},
                {"preprocessing", graph.preprocessing}};
  if (const LinkTargets& targets = graph.targets; targets.size() > 0) {
    about["link_targets"] = {{"task", task_name(targets.labels.task)},
                             {"attributes", attributes_metadata(targets.attributes)},
                             {"relations", targets.relations}};
  }
  return file_metadata(kGraphFile, about);
}

void save_graph(const Graph& graph, const std::string& path) {
  const int64_t n = graph.node_count();
  const Nodes& nodes = graph.nodes;
  ArrayWriter writer(path);
  writer.add("row_ptr", graph.row_ptr, {n + 1});
  writer.add("neighbor", graph.neighbor, {graph.arc_count()});
  graph.link.visit([&](const auto& link) { writer.add("link", link, {graph.arc_count()}); });
  writer.add("link_attributes", graph.link_attributes);
  writer.add("link_attribute_names", graph.attribute_names);
  writer.add("node_features", nodes.features);
  writer.add("node_feature_names", nodes.feature_names);
  writer.add("names", nodes.names);
  add_labels(writer, kNodeLabels, nodes.labels, n);
  if (!nodes.split.empty()) writer.add("split", nodes.split, {n});
  writer.add("node_reduction", graph.node_reduction);
  writer.add("link_reduction", graph.link_reduction);
  if (!graph.link_split.empty()) writer.add("link_split", graph.link_split, {graph.links});
  add_targets(writer, graph.targets);
  Graph about = graph;
  about.fingerprint.clear();  // the arrays may have changed since the graph was read
  about.fingerprint = fingerprint(about);
  writer.finish(graph_metadata(about));
}

namespace {

Graph read_graph(const SafetensorsFile& file) try {
  const std::string& path = file.path();
  const json about = file_description(file, kGraphFile);
  Graph graph;
  graph.links = non_negative_at(about, "links");
  graph.directed = about.value("directed", false);
  graph.separate_directions = about.value("separate_directions", false);
  graph.preprocessing = about.value("preprocessing", json::object());
  graph.fingerprint = about.value("fingerprint", "");
  graph.row_ptr = file.get<int64_t>("row_ptr", {-1});
  graph.neighbor = file.get<int32_t>("neighbor", {-1});
  graph.link = get_indices(file, "link", graph.neighbor.size());
  const int64_t n = graph.row_ptr.size() - 1;
  require(n >= 0 && graph.row_ptr[0] == 0 && graph.row_ptr[n] == graph.arc_count(), path,
          ": the array 'row_ptr' does not cover the arcs");
  require(graph.links >= 0 && graph.links <= graph.arc_count(), path, ": the number of links is ",
          graph.links, ", expected 0 to ", graph.arc_count(), ", the number of arcs");
  graph.link_attributes =
      get_attributes(file, "link_attributes", graph.links * (graph.separate_directions ? 2 : 1),
                     about.value("link_attributes", json::object()));
  graph.attribute_names =
      get_column_names(file, "link_attribute_names", graph.link_attributes.columns);
  Nodes& nodes = graph.nodes;
  nodes.features =
      get_attributes(file, "node_features", n, about.value("node_features", json::object()));
  nodes.feature_names = get_column_names(file, "node_feature_names", nodes.features.columns);
  nodes.names = get_unchecked_strings(file, "names");
  require(nodes.names.size() == n, path, ": has ", nodes.names.size(), " node names, expected ", n);
  nodes.labels = get_labels(file, kNodeLabels, about, n);
  if (file.has("split")) nodes.split = file.get<uint8_t>("split", {n});
  graph.node_reduction = get_reduction(file, "node_reduction", nodes.features.columns);
  graph.link_reduction = get_reduction(file, "link_reduction", graph.link_attributes.columns);
  if (file.has("link_split")) graph.link_split = file.get<uint8_t>("link_split", {graph.links});
  graph.targets = get_targets(file, about.value("link_targets", json::object()));
  return graph;
} catch (const json::exception&) {
  fail(file.path(), ": the graph metadata has entries of the wrong type");
}

}  // namespace

namespace {

SafetensorsFile open_graph_file(const std::string& path) {
  require(!is_partitioned(path), path,
          ": is a partitioned graph, which is not supported here; expected a graph file");
  return open_lase_file(path, kGraphFile);
}

}  // namespace

Graph open_graph(const std::string& path) { return read_graph(open_graph_file(path)); }

Graph load_graph(const std::string& path) {
  const SafetensorsFile file = open_graph_file(path);
  Graph graph = read_graph(file);
  file.verify();
  check_graph(graph, path);
  return graph;
}

int64_t Graph::split_size(Split split) const {
  return std::count(nodes.split.begin(), nodes.split.end(), static_cast<uint8_t>(split));
}

std::vector<bool> training_nodes(const Graph& graph) {
  std::vector<bool> training(static_cast<size_t>(graph.node_count()), true);
  if (graph.nodes.split.empty()) return training;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    training[static_cast<size_t>(u)] = graph.nodes.split[u] == static_cast<uint8_t>(Split::kTrain);
  }
  return training;
}

}  // namespace lase
