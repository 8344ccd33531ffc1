#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/json.h"
#include "lase/base/lase_file.h"
#include "lase/base/parallel.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/graph.h"
#include "lase/graph/graph_metadata.h"

namespace lase {
namespace {

using nlohmann::json;

Layout layout_from_name(const std::string& name, const std::string& path) {
  for (const auto layout : {Layout::kDense, Layout::kSparse, Layout::kDictionary}) {
    if (layout_name(layout) == name) return layout;
  }
  fail(path, ": unknown attribute layout ", quote(name), ", expected dense, sparse or dictionary");
}

Task task_from_name(const std::string& name, const std::string& path) {
  for (const auto task : {Task::kNone, Task::kSingleLabel, Task::kMultiLabel, Task::kRegression}) {
    if (task_name(task) == name) return task;
  }
  fail(path, ": unknown task ", quote(name),
       ", expected none, single-label, multi-label or regression");
}

Attributes get_attributes(const SafetensorsFile& file, const std::string& name, int64_t rows,
                          const json& about) {
  Attributes matrix;
  matrix.rows = rows;
  matrix.columns = non_negative_at(about, "columns");
  matrix.layout = layout_from_name(about.value("layout", "dense"), file.path());
  require(matrix.columns >= 0, file.path(), ": the number of columns of ", name,
          " is missing or invalid");
  if (matrix.columns == 0) {
    matrix.layout = Layout::kDense;  // no arrays, whatever the layout
    return matrix;
  }
  switch (matrix.layout) {
    case Layout::kDense:
      matrix.values = file.get<float>(name, {rows, matrix.columns});
      break;
    case Layout::kSparse:
      matrix.row_ptr = file.get<int64_t>(name + ".row_ptr", {rows + 1});
      matrix.values = file.get<float>(name + ".value", {-1});
      matrix.column = file.get<int32_t>(name + ".column", {matrix.values.size()});
      require(matrix.row_ptr[0] == 0 && matrix.row_ptr[rows] == matrix.values.size(), file.path(),
              ": the array ", quote(name + ".row_ptr"), " does not cover the stored values");
      break;
    case Layout::kDictionary:
      matrix.code = file.get<int32_t>(name + ".code", {rows});
      matrix.values = file.get<float>(name + ".table", {-1, matrix.columns});
      break;
  }
  return matrix;
}

// Indices are stored in 32 or 64 bits.
IndexArray get_indices(const SafetensorsFile& file, const std::string& name, int64_t size) {
  if (file.holds<int64_t>(name)) return file.get<int64_t>(name, {size});
  return file.get<int32_t>(name, {size});
}

}  // namespace

Metadata graph_metadata(const Graph& graph) {
  const auto describe = [](const Attributes& matrix) {
    return json{{"columns", matrix.columns}, {"layout", layout_name(matrix.layout)}};
  };
  const json about = {{"links", graph.links},
                      {"directed", graph.directed},
                      {"separate_directions", graph.separate_directions},
                      {"task", task_name(graph.nodes.labels.task)},
                      {"node_features", describe(graph.nodes.features)},
                      {"link_attributes", describe(graph.link_attributes)},
                      {"fingerprint", graph.fingerprint},
                      {"preprocessing", graph.preprocessing}};
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
  if (nodes.labels.task == Task::kSingleLabel) writer.add("labels", nodes.labels.label, {n});
  if (!nodes.labels.target.empty()) {
    writer.add("targets", nodes.labels.target, {n, nodes.labels.classes()});
  }
  writer.add("label_names", nodes.labels.names);
  if (!nodes.split.empty()) writer.add("split", nodes.split, {n});
  writer.add("node_reduction", graph.node_reduction);
  writer.add("link_reduction", graph.link_reduction);
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
  Labels& labels = nodes.labels;
  labels.task = task_from_name(about.value("task", "none"), path);
  labels.names = get_strings(file, "label_names");
  if (labels.task == Task::kSingleLabel) labels.label = file.get<int32_t>("labels", {n});
  const bool has_targets = labels.task == Task::kMultiLabel || labels.task == Task::kRegression;
  if (has_targets && n > 0 && labels.classes() > 0) {
    labels.target = file.get<float>("targets", {n, labels.classes()});
  }
  if (file.has("split")) nodes.split = file.get<uint8_t>("split", {n});
  graph.node_reduction = get_reduction(file, "node_reduction", nodes.features.columns);
  graph.link_reduction = get_reduction(file, "link_reduction", graph.link_attributes.columns);
  return graph;
} catch (const json::exception&) {
  fail(file.path(), ": the graph metadata has entries of the wrong type");
}

constexpr int64_t kGrain = 1 << 16;

template <class T>
void check_range(const Array<T>& values, int64_t low, int64_t end, const std::string& name,
                 const std::string& path) {
  parallel_for(values.size(), kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      require(values[i] >= low && values[i] < end, path, ": ", name, "[", i, "] is ", values[i],
              ", expected ", low, " to ", end - 1);
    }
  });
}

void check_ascending(const Array<int64_t>& row_ptr, const std::string& name,
                     const std::string& path) {
  parallel_for(row_ptr.size() - 1, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      require(row_ptr[i] >= 0 && row_ptr[i] <= row_ptr[i + 1], path, ": ", name,
              " decreases at index ", i);
    }
  });
}

void check_attributes(const Attributes& matrix, const std::string& name, const std::string& path) {
  if (matrix.columns == 0) return;
  check_finite(matrix.values, name, path);
  if (matrix.layout == Layout::kDictionary) {
    check_range(matrix.code, 0, matrix.codes(), name + ".code", path);
  }
  if (matrix.layout == Layout::kSparse) {
    check_ascending(matrix.row_ptr, name + ".row_ptr", path);
    check_range(matrix.column, 0, matrix.columns, name + ".column", path);
  }
}

}  // namespace

void check_graph(const Graph& graph, const std::string& path) {
  const int64_t n = graph.node_count();
  check_ascending(graph.row_ptr, "row_ptr", path);
  check_range(graph.neighbor, 0, n, "neighbor", path);
  graph.link.visit([&](const auto& link) {
    check_range(link, 0, graph.links * (graph.separate_directions ? 2 : 1), "link", path);
  });
  check_attributes(graph.link_attributes, "link_attributes", path);
  check_attributes(graph.nodes.features, "node_features", path);
  check_range(graph.nodes.labels.label, -1, graph.nodes.labels.classes(), "labels", path);
  check_finite(graph.nodes.labels.target, "targets", path, Unknown::kAllowed);
  check_strings(graph.nodes.names, "names", path);
  check_strings(graph.nodes.feature_names, "node_feature_names", path);
  check_strings(graph.nodes.labels.names, "label_names", path);
  check_strings(graph.attribute_names, "link_attribute_names", path);
  for (const auto& [name, reduction] : {std::pair{"node_reduction", &graph.node_reduction},
                                        {"link_reduction", &graph.link_reduction}}) {
    check_finite(reduction->mean, join(name, ".mean"), path);
    check_finite(reduction->components, join(name, ".components"), path);
    check_strings(reduction->names, join(name, ".names"), path);
  }
  for (int64_t i = 0; i < graph.nodes.split.size(); ++i) {
    require(graph.nodes.split[i] <= static_cast<uint8_t>(Split::kTest), path, ": split[", i,
            "] is ", int{graph.nodes.split[i]}, ", expected 0 to 3");
  }
}

Graph open_graph(const std::string& path) { return read_graph(open_lase_file(path, kGraphFile)); }

Graph load_graph(const std::string& path) {
  const SafetensorsFile file = open_lase_file(path, kGraphFile);
  Graph graph = read_graph(file);
  file.verify();
  check_graph(graph, path);
  return graph;
}

namespace {

// Neighbors ascend within a row; arcs to the same neighbor ascend by attribute row.
void check_order(const Graph& graph, const std::string& path) {
  parallel_for(graph.node_count(), kGrain, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      for (int64_t i = graph.row_ptr[u] + 1; i < graph.row_ptr[u + 1]; ++i) {
        const bool ascends = std::pair(graph.neighbor[i - 1], graph.link[i - 1]) <
                             std::pair(graph.neighbor[i], graph.link[i]);
        require(ascends, path, ": the neighbors of node ", u, " are not in ascending order");
      }
    }
  });
}

// A link of an undirected graph is stored as two arcs in opposite directions, a self-loop as one
// arc; a link of a directed graph is one arc.
void check_symmetry(const Graph& graph, const std::string& path) {
  struct Ends {
    int32_t u = -1;
    int32_t v = -1;
  };
  std::vector<Ends> ends(static_cast<size_t>(graph.links));
  std::vector<uint8_t> arcs(ends.size());
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      const int64_t link = graph.link_of_row(graph.link[i]);
      const int32_t v = graph.neighbor[i];
      Ends& other = ends[static_cast<size_t>(link)];
      uint8_t& count = arcs[static_cast<size_t>(link)];
      const bool fits =
          count == 0 || (count == 1 && !graph.directed && other.u == v && other.v == u && u != v);
      require(fits, path, ": link ", link, " is stored by arcs that do not belong together");
      other = {static_cast<int32_t>(u), v};
      ++count;
    }
  }
  for (size_t link = 0; link < ends.size(); ++link) {
    const int expected = graph.directed || ends[link].u == ends[link].v ? 1 : 2;
    require(arcs[link] == expected, path, ": link ", link, " has ", int{arcs[link]},
            " arcs, expected ", expected);
  }
}

}  // namespace

void check_structure(const Graph& graph, const std::string& path) {
  check_order(graph, path);
  check_symmetry(graph, path);
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
