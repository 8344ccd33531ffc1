#include "lase/ingest/import_graph.h"

#include <utility>

#include "lase/base/format.h"
#include "lase/graph/leaks.h"
#include "lase/graph/pca.h"
#include "lase/graph/schema.h"

namespace lase {
namespace {

std::string leak_warning(const Leak& leak) {
  const std::string what = leak.of_links ? join("the sum of the link attribute ",
                                                quote(leak.column), " over the links of a node")
                                         : join("the column ", quote(leak.column));
  const std::string remedy = leak.of_links ? std::string()
                                           : join(", or leave it out with ", OptionName{"types"},
                                                  " ", quote(leak.column + "=ignore"));
  return join(what, " alone predicts the label of training nodes (balanced accuracy ",
              significant(leak.accuracy, 3),
              "); make sure that it does not come from the label and is known for new nodes",
              remedy);
}

}  // namespace

const OptionTable<ImportOptions>& import_option_table() {
  static const auto table = [] {
    using O = ImportOptions;
    OptionTable<O> all;
    all.add("like", &O::like, any(),
            "Reuse the columns, classes and fitted preprocessing of this graph, so that its models "
            "apply to the new graph");
    all.add("node_pca", &O::reduce_nodes, at_least(0),
            "Reduce node features to this many principal components (0 = off)");
    all.add("link_pca", &O::reduce_links, at_least(0),
            "Reduce link attributes to this many principal components (0 = off)");
    return all;
  }();
  return table;
}

ImportedGraph import_graph(const Import& import, const ImportOptions& options) {
  Schema schema;
  Graph earlier;
  if (!options.like.empty()) {
    earlier = load_graph(options.like);
    schema = schema_of(earlier);
  }
  RawGraph raw = import.read(options.like.empty() ? nullptr : &schema);
  ImportedGraph imported{.graph = {},
                         .report = {},
                         .rules = raw.rules,
                         .tables = std::move(raw.tables),
                         .notes = std::move(raw.notes),
                         .warnings = std::move(raw.warnings)};
  BuiltGraph built = build_graph(std::move(raw));
  imported.graph = std::move(built.graph);
  imported.report = built.report;
  Graph& graph = imported.graph;
  if (!options.like.empty()) require_schema(graph, earlier);
  // If the earlier graph is reduced, the new one is projected onto the same components.
  if (options.reduce_nodes > 0 || earlier.node_reduction.present()) {
    reduce_nodes(graph, {.components = options.reduce_nodes}, earlier.node_reduction);
  }
  if (options.reduce_links > 0 || earlier.link_reduction.present()) {
    reduce_links(graph, {.components = options.reduce_links}, earlier.link_reduction);
  }
  for (const auto& leak : find_leaks(graph)) imported.warnings.push_back(leak_warning(leak));
  return imported;
}

}  // namespace lase
