// Links of several relations: source, target, relation; a link has one weight per relation.

#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/interner.h"
#include "lase/ingest/link_file.h"

namespace lase {
namespace {

struct TypedPayload {
  std::vector<std::string_view> relation;
  std::vector<float> weight;
};

ColumnRole relation_role(const std::string& named) {
  return {.option = "relation",
          .named = named,
          .usual = {"relation", "rel", "type", "kind", "predicate"},
          .words = ColumnRole::Words::kAny,
          .shared = true};
}

}  // namespace

const OptionTable<TypedOptions>& typed_option_table() {
  static const auto table = [] {
    using O = TypedOptions;
    OptionTable<O> all;
    all.include(link_table_option_table(Merging::kAlways));
    all.add("relation", &O::relation, any(),
            "Column with the relation; an empty field means none (default: a column with a common "
            "name such as relation, type or kind, else the third)");
    all.add("weight", &O::weight, any(),
            "Column with the weight of each relation; with none, every weight is 1 (default: a "
            "column named "
            "weight, amount or count; without a header, the fourth column if there is one)");
    all.add("relations", &O::relations, any(),
            "File with the relations in attribute order, one per line (default: in order of "
            "appearance)");
    return all;
  }();
  return table;
}

static RawGraph read_typed_table(const TypedOptions& options, const Schema* schema) {
  typed_option_table().check(options);
  RawGraph graph = empty_graph(options, LayoutRule::kAsRead);
  NodeReader nodes(options.nodes, options.table, schema);
  Table table(options.file, options.table,
              named_columns(options, {options.relation, options.weight}));
  require_typed_columns(options.table, table, nodes.typed_columns());
  LinkTargetReader targets(options, table, schema);
  auto wanted = link_roles(options, targets);
  wanted.push_back(relation_role(options.relation));
  wanted.push_back(weight_role(options.weight));
  const ColumnRoles roles(table, wanted);
  targets.assign(roles);
  graph.tables.push_back(roles.report());
  const int64_t relation = roles.at("relation");
  const int64_t weight = roles.at("weight");
  Interner relations;
  if (!options.relations.empty()) {
    for (const auto& line : read_lines(options.relations)) relations.add(line);
  }
  const bool fixed = schema != nullptr;
  if (fixed) {
    for (int64_t i = 0; i < schema->attribute_names.size(); ++i) {
      relations.add(schema->attribute_names[i]);
    }
  }
  int64_t unseen = 0;
  const auto parse = [&](TypedPayload& payload, const Row& row) {
    payload.relation.push_back(row.text(relation));
    if (weight < 0) return;
    payload.weight.push_back(row.text(relation).empty() ? 0 : row.weight(weight));
  };
  const auto add = [&](const TypedPayload& payload, size_t i) {
    const auto name = payload.relation[i];
    const bool known = !fixed || relations.find(name).has_value();
    unseen += known || name.empty() ? 0 : 1;
    if (name.empty() || !known) {
      graph.attributes.add_empty();
    } else {
      graph.attributes.add_single(relations.add(name), weight < 0 ? 1.0F : payload.weight[i]);
    }
  };
  graph.attributes.layout = Layout::kSparse;
  read_link_rows<TypedPayload>(table, {roles, nodes, targets, graph}, parse, add);
  graph.attributes.columns = relations.size();
  graph.attribute_names = relations.finish();
  if (unseen > 0) {
    graph.notes.push_back(join(
        grouped(unseen),
        " rows have relations that are not in the earlier graph; these relations were ignored"));
  }
  nodes.finish(graph);
  targets.finish(graph);
  if (graph.targets) {
    graph.targets->relations = true;
    if (targets.is_label(relation) || targets.is_label(weight)) {
      graph.targets->label_columns = all_columns(graph.attributes);
    }
  }
  return graph;
}

RawGraph read_typed(const TypedOptions& options, const Schema* schema) {
  return read_typed_table(like_earlier(options, schema), schema);
}

}  // namespace lase
