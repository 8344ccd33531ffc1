#include "lase/ingest/export.h"

#include <cmath>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/npy.h"

namespace lase {
namespace {

constexpr std::string_view kOut = "out ";  // prefix of names of sent attributes, see build_graph

std::string column_name(const StringTable& names, int64_t j, bool separate_directions) {
  auto name = names[j];
  if (separate_directions && name.starts_with(kOut)) name.remove_prefix(kOut.size());
  return std::string(name);
}

void write_names(const std::string& path, const StringTable& names, int64_t count,
                 bool separate_directions) {
  TextWriter out(path);
  for (int64_t j = 0; j < count; ++j) out << column_name(names, j, separate_directions) << '\n';
  out.commit();
}

class Exporter {
 public:
  Exporter(const Graph& graph, std::string folder) : graph_(graph), folder_(std::move(folder)) {}

  ExportedTables run() {
    const bool sparse = graph_.link_attributes.layout == Layout::kSparse;
    import_.file = path("links.csv");
    import_.source = "source";  // an attribute may be named "from"
    import_.target = "target";
    import_.table = {.delimiter = ",", .header = Header::kYes};
    import_.nodes.file = path("nodes.csv");
    import_.nodes.delimiter = ",";
    import_.nodes.header = Header::kYes;
    import_.nodes.columns = {"none"};
    import_.rules.directed = graph_.directed;
    import_.rules.separate_directions = graph_.separate_directions;
    write_nodes();
    write_features();
    write_links(sparse);
    LinksOptions links;
    TypedOptions typed;
    typed.relations = path("relations.txt");
    static_cast<LinkTableOptions&>(links) = import_;
    static_cast<LinkTableOptions&>(typed) = import_;
    return sparse ? ExportedTables(typed) : ExportedTables(links);
  }

 private:
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void write_nodes();
  void write_labels_of(TextWriter& out, int64_t node) const;
  void write_features();
  void write_links(bool sparse);
  bool is_parallel(int64_t u, int64_t i) const;
  void write_link(TextWriter& out, int64_t u, int64_t v, int64_t row, bool sparse,
                  bool last_resort);

  const Graph& graph_;
  std::string folder_;
  LinkTableOptions import_;  // options that read the tables back
  int64_t columns_ = 0;      // attribute columns in the file
};

void Exporter::write_nodes() {
  const Labels& labels = graph_.nodes.labels;
  TextWriter out(path("nodes.csv"));
  out << "id";
  switch (labels.task) {
    case Task::kNone:
      break;
    case Task::kSingleLabel:
      out << ",label";
      import_.nodes.label = std::string("label");
      break;
    case Task::kMultiLabel:
      out << ",labels";
      import_.nodes.multi_label = std::string("labels");
      import_.nodes.label_separator = std::string(1, '|');
      break;
    case Task::kRegression:
      for (int64_t c = 0; c < labels.classes(); ++c) {
        (out << ',').field(labels.names[c]);
        import_.nodes.target.emplace_back(labels.names[c]);
      }
      break;
  }
  if (!graph_.nodes.split.empty()) {
    out << ",split";
    import_.nodes.split = std::string("split");
  }
  out << '\n';
  for (int64_t node = 0; node < graph_.node_count(); ++node) {
    out.field(graph_.nodes.names[node]);
    write_labels_of(out, node);
    if (!graph_.nodes.split.empty()) {
      out << ',' << split_name(static_cast<Split>(graph_.nodes.split[node]));
    }
    out << '\n';
  }
  out.commit();
}

void Exporter::write_labels_of(TextWriter& out, int64_t node) const {
  const Labels& labels = graph_.nodes.labels;
  const bool known = labels.known(node);
  if (labels.task == Task::kSingleLabel) {
    out << ',';
    if (known) out.field(labels.names[labels.label[node]]);
  } else if (labels.task == Task::kMultiLabel) {
    // A lone separator marks a node known to have no class, unlike one with unknown classes.
    std::string all;
    for (int64_t c = 0; c < labels.classes(); ++c) {
      if (known && labels.target[node * labels.classes() + c] == 1) {
        all += join(all.empty() ? "" : "|", labels.names[c]);
      }
    }
    (out << ',').field(known && all.empty() ? "|" : all);
  } else if (labels.task == Task::kRegression) {
    for (int64_t c = 0; c < labels.classes(); ++c) {
      out << ',';
      const float value = labels.target[node * labels.classes() + c];
      if (!std::isnan(value)) out << value;
    }
  }
}

void Exporter::write_features() {
  const Attributes& features = graph_.nodes.features;
  if (features.columns == 0) return;
  if (features.layout == Layout::kDense) {
    write_npy(path("features.npy"), features.values.span(), features.rows, features.columns);
    import_.nodes.features = path("features.npy");
  } else {
    TextWriter out(path("features.csv"));
    out << "node,feature,value\n";
    for (int64_t node = 0; node < features.rows; ++node) {
      features.for_each(node, [&](int64_t j, float value) {
        out.field(graph_.nodes.names[node]) << ',';
        out.field(column_name(graph_.nodes.feature_names, j, false)) << ',' << value << '\n';
      });
    }
    out.commit();
    import_.nodes.features = path("features.csv");
  }
  write_names(path("features.txt"), graph_.nodes.feature_names, features.columns, false);
  import_.nodes.feature_names = path("features.txt");
}

// Writes one line, or one per stored value if sparse. A sparse row without values is written only
// as a last resort, if nothing else would mention the link.
void Exporter::write_link(TextWriter& out, int64_t u, int64_t v, int64_t row, bool sparse,
                          bool last_resort) {
  const Attributes& attributes = graph_.link_attributes;
  const auto ends = [&] {
    out.field(graph_.nodes.names[u]) << ',';
    out.field(graph_.nodes.names[v]);
    if (!graph_.link_split.empty()) {
      out << ',' << split_name(static_cast<Split>(graph_.link_split[graph_.link_of_row(row)]));
    }
  };
  if (!sparse) {
    ends();
    if (columns_ > 0) {
      attributes.for_each(row, [&](int64_t j, float value) {
        if (j < columns_) out << ',' << value;
      });
    }
    out << '\n';
    return;
  }
  bool written = false;
  attributes.for_each(row, [&](int64_t j, float value) {
    if (j >= columns_) return;
    ends();
    (out << ',').field(column_name(graph_.attribute_names, j, graph_.separate_directions))
        << ',' << value << '\n';
    written = true;
  });
  if (written || !last_resort) return;
  ends();
  out << ",,\n";
}

// Whether arc i of u has the same neighbor as an earlier one, in the same split of links.
bool Exporter::is_parallel(int64_t u, int64_t i) const {
  const auto& split = graph_.link_split;
  const auto split_of = [&](int64_t arc) {
    return split.empty() ? uint8_t{0} : split[graph_.link_of_row(graph_.link[arc])];
  };
  for (int64_t j = i - 1; j >= graph_.row_ptr[u] && graph_.neighbor[j] == graph_.neighbor[i]; --j) {
    if (split_of(j) == split_of(i)) return true;
  }
  return false;
}

void Exporter::write_links(bool sparse) {
  const Attributes& attributes = graph_.link_attributes;
  columns_ = graph_.separate_directions ? attributes.columns / 2 : attributes.columns;
  // First arc of each link.
  struct Arc {
    int32_t u = -1;
    int32_t v = -1;
    int64_t row = -1;
  };
  std::vector<Arc> first(static_cast<size_t>(graph_.links));
  bool loops = false;
  bool parallel = false;
  for (int64_t u = 0; u < graph_.node_count(); ++u) {
    for (int64_t i = graph_.row_ptr[u]; i < graph_.row_ptr[u + 1]; ++i) {
      const int32_t v = graph_.neighbor[i];
      loops = loops || u == v;
      parallel = parallel || is_parallel(u, i);
      if (!graph_.directed && v < u) continue;
      first[static_cast<size_t>(graph_.link_of_row(graph_.link[i]))] = {static_cast<int32_t>(u), v,
                                                                        graph_.link[i]};
    }
  }
  if (loops) import_.rules.self_loops = SelfLoops::kKeep;
  if (parallel && !sparse) import_.rules.parallel = Parallel::kKeep;
  require(!parallel || !sparse, "cannot export parallel links with sparse attributes as a table");

  TextWriter out(path("links.csv"));
  out << "source,target";
  if (!graph_.link_split.empty()) {
    out << ",link_split";
    import_.targets.split = "link_split";
  }
  if (sparse) {
    out << ",relation,weight";
    write_names(path("relations.txt"), graph_.attribute_names, columns_,
                graph_.separate_directions);
  } else {
    for (int64_t j = 0; j < columns_; ++j) {
      (out << ',').field(column_name(graph_.attribute_names, j, graph_.separate_directions));
    }
    import_.layout =
        attributes.layout == Layout::kDictionary ? LayoutChoice::kDictionary : LayoutChoice::kDense;
  }
  out << '\n';
  for (const auto& [u, v, row] : first) {
    require(u >= 0, "the graph is damaged: a link has no arc from its lower node");
    write_link(out, u, v, row, sparse, true);
    if (graph_.separate_directions && u != v) write_link(out, v, u, row ^ 1, sparse, false);
  }
  out.commit();
}

}  // namespace

ExportedTables export_graph(const Graph& graph, const std::string& folder) {
  make_folder(folder);
  return Exporter(graph, folder).run();
}

}  // namespace lase
