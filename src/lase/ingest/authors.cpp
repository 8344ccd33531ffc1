// The data files published by the paper's authors: PREFIX-G.json (a node-link graph in which the
// state of a node is its split), label and id maps, and features as .npy.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/interner.h"
#include "lase/base/npy.h"
#include "lase/graph/encode_labels.h"
#include "lase/graph/split.h"
#include "lase/ingest/import.h"

namespace lase {
namespace {

using nlohmann::json;

json read_json(const std::string& path) {
  try {
    return json::parse(read_file(path));
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: …"
    const std::string_view reason = error.what();
    fail(path, ": is not valid JSON: ", reason.substr(reason.find(']') + 2));
  }
}

// A JSON id as text, as in the keys of JSON objects. Writing nested lists is recursive, and would
// overflow the stack.
std::string text_of(const json& value, const std::string& path) {
  require(!value.is_structured(), path,
          ": has a list or an object as an id, state or label, expected a string or a number");
  return value.is_string() ? value.get<std::string>() : value.dump();
}

const json& member(const json& object, const char* key, const std::string& path) {
  require(object.is_object() && object.contains(key), path, ": has an entry without the key ",
          quote(key));
  return object[key];
}

// The row of an id in a feature file: from the id map if there is one, else its position.
int64_t row_of(const json& map, const std::string& id, int64_t position, int64_t rows,
               const std::string& path) {
  int64_t row = position;
  if (!map.is_null()) {
    require(map.is_object() && map.contains(id) && map[id].is_number_integer(), path,
            ": has no row for the id ", quote(id));
    row = map[id].get<int64_t>();
  }
  require(row >= 0 && row < rows, path, ": maps the id ", quote(id), " to row ", row,
          ", but there are ", rows, " rows");
  return row;
}

json optional_json(const std::string& path) {
  return std::filesystem::exists(path) ? read_json(path) : json();
}

// Rows of the matrix in the order of the ids.
std::vector<float> ordered(const NpyMatrix& matrix, const json& map,
                           const std::vector<std::string>& ids, const std::string& path) {
  std::vector<int64_t> rows;
  rows.reserve(ids.size());
  for (const std::string& id : ids) {
    rows.push_back(row_of(map, id, std::ssize(rows), matrix.rows, path));
  }
  std::vector<float> values;
  values.reserve(rows.size() * static_cast<size_t>(matrix.columns));
  for (const int64_t row : rows) {
    const auto slice = matrix.values.slice(row * matrix.columns, (row + 1) * matrix.columns);
    values.insert(values.end(), slice.begin(), slice.end());
  }
  return values;
}

}  // namespace

const OptionTable<AuthorsOptions>& authors_option_table() {
  static const auto table = [] {
    OptionTable<AuthorsOptions> all;
    all.add("prefix", &AuthorsOptions::prefix, any(),
            "Common prefix of PREFIX-G.json and the files next to it")
        .required()
        .positional();
    return all;
  }();
  return table;
}

RawGraph read_authors(const AuthorsOptions& options, const Schema* schema) {
  const std::string& prefix = options.prefix;
  const std::string graph_path = prefix + "-G.json";
  const std::string label_path = prefix + "-label-map.json";
  const json file = read_json(graph_path);
  const json& nodes = member(file, "nodes", graph_path);
  const json& links = member(file, "links", graph_path);
  require(nodes.is_array() && links.is_array(), graph_path, ": 'nodes' and 'links' must be lists");
  const json label_map = read_json(label_path);

  RawGraph graph;
  Interner names;
  std::vector<std::string> node_ids;
  StringTableBuilder labels;
  std::vector<uint8_t> split;
  for (const json& node : nodes) {
    const std::string id = text_of(member(node, "id", graph_path), graph_path);
    const bool is_new = names.add(id) == static_cast<int32_t>(node_ids.size());
    require(is_new, graph_path, ": node ", quote(id), " is listed twice");
    node_ids.push_back(id);
    labels.add(label_map.contains(id) ? text_of(label_map[id], label_path) : "");
    const std::string state = text_of(member(node, "state", graph_path), graph_path);
    const auto part = split_from_word(state);
    require(part.has_value(), graph_path, ": node ", quote(id), " has the state ", quote(state),
            ", expected train, val or test");
    split.push_back(static_cast<uint8_t>(*part));
  }
  std::vector<std::string> link_ids;
  for (const json& link : links) {
    for (auto [key, ends] : {std::pair{"source", &graph.source}, {"target", &graph.target}}) {
      const std::string id = text_of(member(link, key, graph_path), graph_path);
      const auto node = names.find(id);
      require(node.has_value(), graph_path, ": a link refers to node ", quote(id),
              ", which is not in the list of nodes");
      ends->push_back(*node);
    }
    link_ids.push_back(link.contains("id") ? text_of(link["id"], graph_path)
                                           : std::to_string(link_ids.size()));
  }

  const std::string node_map_path = prefix + "-node-id-map.json";
  const NpyMatrix features = read_npy(prefix + "-node-feats.npy");
  graph.nodes.features =
      Attributes::dense(ordered(features, optional_json(node_map_path), node_ids, node_map_path),
                        static_cast<int64_t>(node_ids.size()), features.columns);
  const std::string link_map_path = prefix + "-link-id-map.json";
  const NpyMatrix attributes = read_npy(prefix + "-link-feats.npy");
  graph.attributes.columns = attributes.columns;
  graph.attributes.values.append(
      ordered(attributes, optional_json(link_map_path), link_ids, link_map_path));
  graph.nodes.labels =
      encode_labels(labels.finish(), schema != nullptr ? schema->label_names : StringTable{});
  graph.nodes.split = std::move(split);
  graph.nodes.names = names.finish();
  return graph;
}

}  // namespace lase
