#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/embed/embed.h"
#include "lase/graph/build.h"
#include "lase/graph/describe.h"
#include "lase/graph/generate.h"
#include "lase/graph/graph.h"
#include "lase/graph/graph_parts.h"
#include "lase/graph/split.h"
#include "lase/ingest/export.h"
#include "lase/ingest/import_graph.h"
#include "lase/ingest/link_file.h"
#include "lase/version.h"

#include "binding.h"

// The extension module lase._graph: graphs, import and export, node embeddings. Does not depend on
// torch.
namespace lase::python {
namespace {

using nlohmann::json;

constexpr int64_t kGrain = 1 << 16;

// ---- From Python

// A matrix given as a NumPy array [rows, columns] or as the arrays of a SciPy CSR matrix, whose
// memory it shares.
Attributes to_attributes(const py::dict& parts) {
  Attributes matrix;
  matrix.rows = parts["rows"].cast<int64_t>();
  matrix.columns = parts["columns"].cast<int64_t>();
  matrix.values = share(parts["values"].cast<PlainArray<float>>());
  if (parts.contains("row_ptr")) {
    matrix.layout = Layout::kSparse;
    matrix.row_ptr = share(parts["row_ptr"].cast<PlainArray<int64_t>>());
    matrix.column = share(parts["column"].cast<PlainArray<int32_t>>());
  }
  return matrix;
}

void require_finite(const Attributes& matrix, const char* name) {
  parallel_for(matrix.rows, kGrain, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      matrix.for_each(row, [&](int64_t column, float value) {
        require(std::isfinite(value), name, ": row ", row, ", column ", column, " is ", value,
                ", expected a finite number");
      });
    }
  });
}

RawAttributes to_raw(const Attributes& matrix) {
  RawAttributes raw;
  raw.layout = matrix.layout;
  raw.columns = matrix.columns;
  raw.values.append(matrix.values.span());
  if (matrix.layout == Layout::kSparse) {
    raw.row_end.append(matrix.row_ptr.slice(1, matrix.row_ptr.size()));
    raw.column.append(matrix.column.span());
  }
  return raw;
}

// Node numbers as int32, checked.
Buffer<int32_t> to_nodes(const Array<int64_t>& ends, int64_t nodes) {
  Buffer<int32_t> result;
  result.resize(ends.size());
  parallel_for(ends.size(), kGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      require(ends[i] >= 0 && ends[i] < nodes, "edge_index: link ", i, " has node ", ends[i],
              ", expected 0 to ", nodes - 1, ", because the graph has ", nodes, " nodes");
      result[i] = static_cast<int32_t>(ends[i]);
    }
  });
  return result;
}

// Whether every link also occurs in the other direction with the same attributes, as undirected
// links do in PyTorch Geometric.
bool both_directions(const RawGraph& raw) {
  const int64_t links = raw.source.size();
  int64_t up = 0;
  int64_t down = 0;
  for (int64_t i = 0; i < links; ++i) {
    up += raw.source[i] < raw.target[i] ? 1 : 0;
    down += raw.source[i] > raw.target[i] ? 1 : 0;
  }
  if (up == 0 || up != down) return false;
  std::vector<int64_t> order;
  order.reserve(static_cast<size_t>(up));
  std::vector<int64_t> reversed;
  reversed.reserve(static_cast<size_t>(up));
  for (int64_t i = 0; i < links; ++i) {
    if (raw.source[i] < raw.target[i]) order.push_back(i);
    if (raw.source[i] > raw.target[i]) reversed.push_back(i);
  }
  const auto ends = [&](int64_t i) { return std::minmax(raw.source[i], raw.target[i]); };
  const RawAttributes& f = raw.attributes;
  const bool sparse = f.layout == Layout::kSparse;
  // The stored values of a link, as a range.
  const auto row = [&](int64_t i) {
    if (!sparse) return std::pair(i * f.columns, (i + 1) * f.columns);
    return std::pair(i == 0 ? int64_t{0} : f.row_end[i - 1], f.row_end[i]);
  };
  // By nodes, then by attributes, so that parallel links are in the same order in both directions.
  const auto compare = [&](int64_t a, int64_t b) {
    const auto nodes = ends(a) <=> ends(b);
    if (nodes != 0) return nodes < 0 ? -1 : 1;
    const auto [a0, a1] = row(a);
    const auto [b0, b1] = row(b);
    if (a1 - a0 != b1 - b0) return a1 - a0 < b1 - b0 ? -1 : 1;
    for (int64_t j = 0; j < a1 - a0; ++j) {
      if (sparse && f.column[a0 + j] != f.column[b0 + j]) {
        return f.column[a0 + j] < f.column[b0 + j] ? -1 : 1;
      }
      if (f.values[a0 + j] != f.values[b0 + j]) {
        return f.values[a0 + j] < f.values[b0 + j] ? -1 : 1;
      }
    }
    return 0;
  };
  const auto before = [&](int64_t a, int64_t b) { return compare(a, b) < 0; };
  std::sort(order.begin(), order.end(), before);
  std::sort(reversed.begin(), reversed.end(), before);
  return std::equal(order.begin(), order.end(), reversed.begin(),
                    [&](int64_t a, int64_t b) { return compare(a, b) == 0; });
}

// Keeps the links from the lower to the higher node, and self-loops.
void keep_one_direction(RawGraph& raw) {
  RawAttributes& f = raw.attributes;
  int64_t kept = 0;
  int64_t stored = 0;  // values kept
  int64_t begin = 0;
  for (int64_t i = 0; i < raw.source.size(); ++i) {
    const bool sparse = f.layout == Layout::kSparse;
    const int64_t end = sparse ? f.row_end[i] : (i + 1) * f.columns;
    if (raw.source[i] <= raw.target[i]) {
      std::copy(f.values.begin() + begin, f.values.begin() + end, f.values.begin() + stored);
      if (sparse) {
        std::copy(f.column.begin() + begin, f.column.begin() + end, f.column.begin() + stored);
      }
      stored += end - begin;
      if (sparse) f.row_end[kept] = stored;
      raw.source[kept] = raw.source[i];
      raw.target[kept] = raw.target[i];
      ++kept;
    }
    begin = end;
  }
  raw.source.resize(kept);
  raw.target.resize(kept);
  f.values.resize(stored);
  if (f.layout == Layout::kSparse) {
    f.column.resize(stored);
    f.row_end.resize(kept);
  }
}

Labels to_labels(const py::dict& parts) {
  Labels labels;
  labels.task = task_from(parts["task"].cast<std::string>());
  labels.names = to_table(parts["names"]);
  if (labels.task == Task::kSingleLabel) {
    labels.label = share(parts["values"].cast<PlainArray<int32_t>>());
  } else {
    labels.target = share(parts["values"].cast<PlainArray<float>>());
  }
  return labels;
}

// A graph from arrays. `parts`: source, target, nodes; edge_attr, x, y, split and names if any.
Graph build(const py::dict& parts, const py::dict& rules, int64_t threads) {
  RawGraph raw;
  raw.rules = link_rule_option_table(Merging::kChosen).from_json(to_json(rules));
  check(raw.rules);
  const auto nodes = parts["nodes"].cast<int64_t>();
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  require(nodes >= 0 && nodes <= kMost, "the graph would have ", nodes, " nodes, expected 0 to ",
          kMost,
          "; nodes in edge_index are numbered from 0, and tables with other ids are read by ",
          "Graph.from_pandas");
  const auto source = share(parts["source"].cast<PlainArray<int64_t>>());
  const auto target = share(parts["target"].cast<PlainArray<int64_t>>());
  const auto matrix = [&](const char* name) {
    return parts.contains(name) ? to_attributes(parts[name]) : Attributes();
  };
  const auto texts = [&](const char* name) {
    return parts.contains(name) ? to_table(parts[name]) : StringTable();
  };
  const Attributes edge_attr = matrix("edge_attr");
  raw.nodes.features = matrix("x");
  raw.nodes.names = texts("names");
  raw.nodes.feature_names = texts("feature_names");
  raw.attribute_names = texts("attribute_names");
  if (parts.contains("y")) raw.nodes.labels = to_labels(parts["y"]);
  if (parts.contains("split")) raw.nodes.split = share(parts["split"].cast<PlainArray<uint8_t>>());
  return run(threads, [&] {
    if (raw.nodes.names.size() == 0) raw.nodes.names = numbered_names("", nodes);
    require_finite(edge_attr, "edge_attr");
    require_finite(raw.nodes.features, "x");
    raw.source = to_nodes(source, nodes);
    raw.target = to_nodes(target, nodes);
    raw.attributes = to_raw(edge_attr);
    const LinkRules& rule = raw.rules;
    if (!rule.directed && !rule.separate_directions && both_directions(raw)) {
      keep_one_direction(raw);
    }
    return build_graph(std::move(raw)).graph;
  });
}

// The same graph with other labels and another split, which may be None.
Graph with_labels(const Graph& graph, const py::object& labels, const py::object& split) {
  Graph changed = graph;
  changed.fingerprint.clear();
  changed.nodes.labels = labels.is_none() ? Labels() : to_labels(labels);
  changed.nodes.split =
      split.is_none() ? Array<uint8_t>() : share(split.cast<PlainArray<uint8_t>>());
  return changed;
}

py::array stratified(const Graph& graph, const std::string& proportions, uint64_t seed) {
  return view(
      stratified_split(graph.nodes.labels, graph.node_count(), parse_proportions(proportions), seed)
          .split);
}

py::array hold_out(const Graph& graph, double validation, uint64_t seed) {
  return view(redraw_validation(graph.nodes.labels, graph.nodes.split, validation, seed));
}

// ---- To Python

py::object matrix_to_python(const Attributes& matrix) {
  py::dict parts;
  parts["layout"] = std::string(layout_name(matrix.layout));
  parts["shape"] = py::make_tuple(matrix.rows, matrix.columns);
  switch (matrix.layout) {
    case Layout::kDense:
      parts["values"] = view(matrix.values, {matrix.rows, matrix.columns});
      break;
    case Layout::kDictionary:
      parts["values"] = view(matrix.values, {matrix.codes(), matrix.columns});
      parts["code"] = view(matrix.code);
      break;
    case Layout::kSparse:
      parts["values"] = view(matrix.values);
      parts["row_ptr"] = view(matrix.row_ptr);
      parts["column"] = view(matrix.column);
      break;
  }
  return parts;
}

py::dict labels_to_python(const Graph& graph) {
  const Labels& labels = graph.nodes.labels;
  py::dict parts;
  parts["task"] = std::string(task_name(labels.task));
  parts["names"] = to_list(labels.names);
  if (labels.task == Task::kSingleLabel) parts["values"] = view(labels.label);
  if (labels.task == Task::kMultiLabel || labels.task == Task::kRegression) {
    parts["values"] = view(labels.target, {graph.node_count(), labels.classes()});
  }
  return parts;
}

py::object link_rows(const Graph& graph) {
  return graph.link.visit([](const auto& rows) { return py::object(view(rows)); });
}

// Whether the names of the nodes are their numbers.
bool numbered(const Graph& graph) {
  const StringTable& names = graph.nodes.names;
  for (int64_t u = 0; u < names.size(); ++u) {
    if (names[u] != std::to_string(u)) return false;
  }
  return true;
}

// ---- Files

BoundOptions import_options(Import& import, ImportOptions& options) {
  BoundOptions all = import.options();
  for (auto& option : import_option_table().bind(options)) all.push_back(std::move(option));
  return all;
}

// Reads files of a format of `lase import`; returns the graph with notes and warnings.
py::tuple import_files(const std::string& format, const py::dict& values, int64_t threads) {
  const auto import = format_named(format).make();
  ImportOptions options;
  set_options(import_options(*import, options), to_json(values));
  ImportedGraph imported = run(threads, [&] { return import_graph(*import, options); });
  const auto texts = [](const std::vector<std::string>& messages) {
    py::list list;
    for (const auto& message : messages) list.append(to_python(Error(message).what()));
    return list;
  };
  py::list tables;
  for (const auto& table : imported.tables) {
    py::dict roles;
    for (const auto& [role, columns] : table.roles) roles[py::str(role)] = columns;
    py::dict about;
    about["file"] = table.file;
    about["columns"] = roles;
    about["ignored"] = texts(table.ignored);
    tables.append(about);
  }
  py::dict about;
  about["rows"] = imported.report.raw_links;
  about["merged"] = imported.report.merged;
  about["self_loops"] = imported.report.self_loops;
  about["tables"] = tables;
  about["notes"] = texts(imported.notes);
  about["warnings"] = texts(imported.warnings);
  return py::make_tuple(std::move(imported.graph), about);
}

void generate(const std::string& kind, const py::dict& values, const std::string& path) {
  const json options = to_json(values);
  run({.run = [&](const std::atomic<bool>&) {
    if (kind == "mail") {
      generate_mail(mail_option_table().from_json(options), path);
    } else if (kind == "payments") {
      generate_payments(payments_option_table().from_json(options), path);
    } else if (kind == "planted") {
      generate_graph(planted_option_table().from_json(options), path);
    } else {
      fail("unknown kind of data ", quote(kind), ", expected mail, payments or planted");
    }
  }});
}

// ---- Embeddings

// The rows of all nodes [nodes, width]. `show`: called with the fraction done, or None.
py::array embed_nodes(const Graph& graph, const py::dict& values, const py::object& show,
                      int64_t threads) {
  EmbedOptions options = embed_option_table().from_json(to_json(values));
  std::atomic<double> done = 0;
  options.progress = [&](double fraction, double) { done = fraction; };
  Embedding embedding;
  run({.threads = threads,
       .run =
           [&](const std::atomic<bool>& stop) {
             options.stop = &stop;
             embedding = embed(graph, graph, options);
           },
       .poll =
           [&] {
             if (!show.is_none()) show(done.load());
           },
       .cancel = false});
  return view(Array<float>(embedding.rows()), {graph.node_count(), embedding.width()});
}

}  // namespace

void define(py::module_& module) {
  register_errors();
  stop_at_exit();
  module.attr("__version__") = kVersion;
  py::class_<Graph, std::shared_ptr<Graph>>(module, "Graph")
      .def_property_readonly("nodes", &Graph::node_count)
      .def_readonly("links", &Graph::links)
      .def_property_readonly("arcs", &Graph::arc_count)
      .def_readonly("directed", &Graph::directed)
      .def_readonly("separate_directions", &Graph::separate_directions)
      .def_property_readonly("row_ptr", [](const Graph& graph) { return view(graph.row_ptr); })
      .def_property_readonly("neighbor", [](const Graph& graph) { return view(graph.neighbor); })
      .def_property_readonly("link", link_rows)
      .def_property_readonly(
          "link_attributes",
          [](const Graph& graph) { return matrix_to_python(graph.link_attributes); })
      .def_property_readonly(
          "features", [](const Graph& graph) { return matrix_to_python(graph.nodes.features); })
      .def_property_readonly("names", [](const Graph& graph) { return to_list(graph.nodes.names); })
      .def_property_readonly("feature_names",
                             [](const Graph& graph) { return to_list(graph.nodes.feature_names); })
      .def_property_readonly("attribute_names",
                             [](const Graph& graph) { return to_list(graph.attribute_names); })
      .def_property_readonly("labels", labels_to_python)
      .def_property_readonly("split", [](const Graph& graph) { return view(graph.nodes.split); })
      .def_property_readonly("numbered", numbered)
      .def("with_labels", with_labels)
      .def("stratified_split", stratified)
      .def("hold_out", hold_out)
      .def("describe", [](const Graph& graph) { return to_python(describe_json(graph)); })
      .def("text", [](const Graph& graph) { return to_python(describe_text(graph)); })
      .def("fingerprint",
           [](const Graph& graph) { return run(0, [&] { return fingerprint(graph); }); })
      .def("save",
           [](const Graph& graph, const std::string& path) {
             run({.run = [&](const std::atomic<bool>&) { save_graph(graph, path); }});
           })
      .def("export", [](const Graph& graph, const std::string& folder) {
        run({.run = [&](const std::atomic<bool>&) { export_graph(graph, folder); }});
      });
  module.def("open", [](const std::string& path, bool check) {
    return run(0, [&] { return check ? load_graph(path) : open_graph(path); });
  });
  module.def("is_partitioned", &is_partitioned);
  module.def("task_of_parts", [](const std::string& folder) {
    return run(0,
               [&] { return std::string(task_name(open_parts(folder).graph.nodes.labels.task)); });
  });
  module.def("build", build);
  module.def("formats", [] {
    json all = json::array();
    for (const auto& format : formats()) {
      const auto import = format.make();
      ImportOptions options;
      all.push_back({{"name", format.name},
                     {"summary", format.summary},
                     {"options", describe_options(import_options(*import, options))}});
    }
    return to_python(all);
  });
  module.def("import_files", import_files);
  module.def("generate", generate);
  module.def("embed", embed_nodes);
  module.def("embed_options", [] {
    EmbedOptions options;
    return to_python(describe_options(embed_option_table().bind(options)));
  });
}

}  // namespace lase::python

PYBIND11_MODULE(_graph, module) { lase::python::define(module); }
