#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/json.h"
#include "lase/base/lase_file.h"
#include "lase/base/memory.h"
#include "lase/base/parallel.h"
#include "lase/graph/array_writer.h"
#include "lase/graph/check_arrays.h"
#include "lase/graph/graph_parts.h"
#include "lase/graph/part_files.h"
#include "lase/graph/stored_arrays.h"

namespace lase {
namespace {

using nlohmann::json;

// Counts the nodes of each part, and checks that nodes have the rows of their part in order.
std::vector<int64_t> count_rows(const GraphParts& parts, int64_t count, const std::string& path) {
  std::vector<int64_t> sizes(static_cast<size_t>(count));
  for (int64_t u = 0; u < parts.node_count(); ++u) {
    const uint16_t p = parts.part[u];
    require(p < count, path, ": part[", u, "] is ", p, ", expected 0 to ", count - 1);
    require(parts.row[u] == sizes[p], path, ": row[", u, "] is ", parts.row[u], ", expected ",
            sizes[p]);
    ++sizes[p];
  }
  const auto empty = std::find(sizes.begin(), sizes.end(), 0);
  require(empty == sizes.end(), path, ": part ", empty - sizes.begin(), " has no nodes");
  return sizes;
}

void check_nodes(const Graph& graph, const std::string& path) {
  check_ascending(graph.row_ptr, "row_ptr", path);
  check_labels(graph.nodes.labels, path);
  check_strings(graph.nodes.names, "names", path);
  check_split(graph.nodes.split, Split::kNone, "split", path);
}

GraphParts read_nodes(const SafetensorsFile& file, const std::string& folder) try {
  const std::string& path = file.path();
  const json about = file_description(file, kPartitionFile);
  GraphParts parts;
  parts.folder = folder;
  parts.id = about.value("id", "");
  parts.arcs = non_negative_at(about, "arcs");
  const int64_t count = non_negative_at(about, "parts");
  require(count >= 1 && count <= kMostParts, path, ": the number of parts is ", count,
          ", expected 1 to ", kMostParts);
  parts.part = file.get<uint16_t>("part", {-1});
  const int64_t n = parts.part.size();
  parts.row = file.get<int32_t>("row", {n});
  parts.sizes = count_rows(parts, count, path);
  parts.node_features = attributes_form(about.value("node_features", json::object()), path);
  parts.link_attributes = attributes_form(about.value("link_attributes", json::object()), path);
  Graph& graph = parts.graph;
  graph.row_ptr = file.get<int64_t>("row_ptr", {n + 1});
  require(graph.row_ptr[0] == 0 && graph.row_ptr[n] == parts.arcs, path,
          ": the array 'row_ptr' does not cover the arcs");
  graph.links = non_negative_at(about, "links");
  require(parts.arcs >= 0 && graph.links >= 0 && graph.links <= parts.arcs, path, ": has ",
          graph.links, " links and ", parts.arcs, " arcs, which is impossible");
  graph.directed = about.value("directed", false);
  graph.separate_directions = about.value("separate_directions", false);
  graph.preprocessing = about.value("preprocessing", json::object());
  graph.fingerprint = about.value("fingerprint", "");
  graph.attribute_names =
      get_column_names(file, "link_attribute_names", parts.link_attributes.columns);
  Nodes& nodes = graph.nodes;
  nodes.feature_names = get_column_names(file, "node_feature_names", parts.node_features.columns);
  nodes.names = get_unchecked_strings(file, "names");
  require(nodes.names.size() == n, path, ": has ", nodes.names.size(), " node names, expected ", n);
  nodes.labels = get_labels(file, kNodeLabels, about, n);
  if (file.has("split")) nodes.split = file.get<uint8_t>("split", {n});
  graph.node_reduction = get_reduction(file, "node_reduction", parts.node_features.columns);
  graph.link_reduction = get_reduction(file, "link_reduction", parts.link_attributes.columns);
  return parts;
} catch (const json::exception&) {
  fail(file.path(), ": the partition metadata has entries of the wrong type");
}

// The nodes of part p, in order.
void check_members(const GraphParts& parts, int64_t p, const GraphPart& part,
                   const std::string& path) {
  constexpr int64_t kRowsAtOnce = 1 << 16;
  check_range(part.node, 0, parts.node_count(), "node", path);
  parallel_for(part.node.size(), kRowsAtOnce, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int32_t u = part.node[i];
      require(parts.part[u] == p && parts.row[u] == i, path, ": row ", i, " is node ", u,
              ", which is row ", parts.row[u], " of part ", parts.part[u]);
      require(part.arcs.degree(i) == parts.graph.degree(u), path, ": node ", u, " has ",
              part.arcs.degree(i), " arcs, expected ", parts.graph.degree(u));
    }
  });
}

void check_part(const GraphParts& parts, const GraphPart& part, const std::string& path) {
  check_ascending(part.arcs.row_ptr, "row_ptr", path);
  check_range(part.arcs.neighbor, 0, parts.node_count(), "neighbor", path);
  part.arcs.link.visit(
      [&](const auto& link) { check_range(link, 0, part.link_attributes.rows, "link", path); });
  check_attributes(part.features, "node_features", path);
  check_attributes(part.link_attributes, "link_attributes", path);
}

bool same_form(const Attributes& a, const Attributes& b) {
  return a.layout == b.layout && a.columns == b.columns;
}

GraphPart read_part(const GraphParts& parts, int64_t p, const SafetensorsFile& file) try {
  const std::string& path = file.path();
  const json about = file_description(file, kPartFile);
  require(about.value("partition", "") == parts.id && non_negative_at(about, "part") == p, path,
          ": is not part ", p, " of the partition that ", nodes_path(parts.folder), " describes");
  const int64_t rows = parts.sizes[static_cast<size_t>(p)];
  const int64_t link_rows = non_negative_at(about, "link_rows");
  GraphPart part;
  part.node = file.get<int32_t>("node", {rows});
  part.arcs.row_ptr = file.get<int64_t>("row_ptr", {rows + 1});
  part.arcs.neighbor = file.get<int32_t>("neighbor", {-1});
  const int64_t arcs = part.arcs.arc_count();
  part.arcs.link = get_indices(file, "link", arcs);
  require(part.arcs.row_ptr[0] == 0 && part.arcs.row_ptr[rows] == arcs, path,
          ": the array 'row_ptr' does not cover the arcs");
  require(link_rows >= 0 && link_rows <= arcs, path, ": the number of rows of link attributes is ",
          link_rows, ", expected 0 to ", arcs, ", the number of arcs");
  part.features =
      get_attributes(file, "node_features", rows, about.value("node_features", json::object()));
  part.link_attributes = get_attributes(file, "link_attributes", link_rows,
                                        about.value("link_attributes", json::object()));
  require(same_form(part.features, parts.node_features) &&
              same_form(part.link_attributes, parts.link_attributes),
          path, ": the layouts or columns of its attributes differ from those of the partition");
  return part;
} catch (const json::exception&) {
  fail(file.path(), ": the part metadata has entries of the wrong type");
}

GraphPart load_part(const GraphParts& parts, int64_t p) {
  const std::string path = part_path(parts.folder, parts.id, p);
  const SafetensorsFile file = open_lase_file(path, kPartFile);
  GraphPart part = read_part(parts, p, file);
  file.verify();
  check_members(parts, p, part, path);
  check_part(parts, part, path);
  return part;
}

Adjacency concat_arcs(const std::vector<GraphPart>& all) {
  int64_t arcs = 0;
  int64_t link_rows = 0;
  for (const GraphPart& part : all) {
    arcs += part.arcs.arc_count();
    link_rows += part.link_attributes.rows;
  }
  Buffer<int64_t> row_ptr;
  Buffer<int32_t> neighbor;
  neighbor.resize(arcs);
  IndexBuffer link(arcs, link_rows - 1);
  row_ptr.push_back(0);
  int64_t first_arc = 0;
  int64_t first_link = 0;
  for (const GraphPart& part : all) {
    for (int64_t i = 0; i < part.node.size(); ++i) {
      row_ptr.push_back(first_arc + part.arcs.row_ptr[i + 1]);
    }
    std::copy(part.arcs.neighbor.begin(), part.arcs.neighbor.end(), neighbor.data() + first_arc);
    part.arcs.link.visit([&](const auto& from) {
      for (int64_t i = 0; i < from.size(); ++i) link.set(first_arc + i, first_link + from[i]);
    });
    first_arc += part.arcs.arc_count();
    first_link += part.link_attributes.rows;
  }
  return {row_ptr.freeze(), neighbor.freeze(), link.freeze()};
}

double bytes_of(const GraphPart& part) {
  return static_cast<double>(part.node.size()) * 12 +
         static_cast<double>(part.arcs.arc_count()) * (part.arcs.link.is_wide() ? 12 : 8) +
         static_cast<double>(part.features.bytes() + part.link_attributes.bytes());
}

GraphPart concat_parts(const std::vector<GraphPart>& all) {
  double bytes = 0;
  for (const GraphPart& part : all) bytes += bytes_of(part);
  require_memory(
      bytes, "the parts of this process",
      "use as many processes as parts, so that each part is memory-mapped instead of copied");
  Buffer<int32_t> node;
  std::vector<Attributes> features;
  std::vector<Attributes> link_attributes;
  for (const GraphPart& part : all) {
    node.append(part.node.span());
    features.push_back(part.features);
    link_attributes.push_back(part.link_attributes);
  }
  return {.node = node.freeze(),
          .arcs = concat_arcs(all),
          .features = concat_rows(features),
          .link_attributes = concat_rows(link_attributes)};
}

// Neighbors ascend within a row; arcs to the same neighbor ascend by attribute row.
void check_part_order(const GraphPart& part, const std::string& path) {
  const Adjacency& arcs = part.arcs;
  for (int64_t row = 0; row < arcs.node_count(); ++row) {
    for (int64_t i = arcs.row_ptr[row] + 1; i < arcs.row_ptr[row + 1]; ++i) {
      const bool ascends = std::pair(arcs.neighbor[i - 1], arcs.link[i - 1]) <
                           std::pair(arcs.neighbor[i], arcs.link[i]);
      require(ascends, path, ": the neighbors of node ", part.node[row],
              " are not in ascending order");
    }
  }
}

}  // namespace

GraphParts open_parts(const std::string& folder) {
  const std::string path = nodes_path(folder);
  const SafetensorsFile file = open_lase_file(path, kPartitionFile);
  file.verify();
  GraphParts parts = read_nodes(file, folder);
  check_nodes(parts.graph, path);
  return parts;
}

GraphPart load_parts(const GraphParts& parts, Part range) {
  require(range.first >= 0 && range.first < range.last && range.last <= parts.parts(), parts.folder,
          ": has ", parts.parts(), " parts, but parts ", range.first, " to ", range.last - 1,
          " are needed");
  std::vector<GraphPart> all;
  for (int64_t p = range.first; p < range.last; ++p) all.push_back(load_part(parts, p));
  return all.size() == 1 ? std::move(all.front()) : concat_parts(all);
}

void check_parts(const GraphParts& parts) {
  int64_t arcs = 0;
  for (int64_t p = 0; p < parts.parts(); ++p) {
    const GraphPart part = load_part(parts, p);
    check_part_order(part, part_path(parts.folder, parts.id, p));
    arcs += part.arcs.arc_count();
  }
  require(arcs == parts.arcs, parts.folder, ": the parts have ", arcs, " arcs, expected ",
          parts.arcs);
}

}  // namespace lase
