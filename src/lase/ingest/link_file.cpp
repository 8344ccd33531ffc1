#include "lase/ingest/link_file.h"

#include <numeric>

#include "lase/base/error.h"

namespace lase {

const OptionTable<TableOptions>& table_option_table() {
  static const auto table = [] {
    using O = TableOptions;
    OptionTable<O> all;
    all.add("delimiter", &O::delimiter, any(),
            "Field delimiter: one character, tab or space (default: detected)");
    all.add("header", &O::header, one_of<Header>(),
            "Whether the first line is a header with column names");
    all.add(
        "missing", &O::missing, any(),
        "Missing numbers in attribute and feature columns (empty, NA, NaN, null, -): mean of the "
        "training data (adds a column NAME_missing), fail, or a number");
    all.add("types", &O::types, any(),
            "Types of columns, if not as detected: NAME=TYPE, with the type number, boolean, date, "
            "category or ignore");
    all.add(
        "date_format", &O::date_format, any(),
        "Format of dates and times as for strptime, such as '%d.%m.%Y %H:%M', in addition to ISO "
        "8601 and seconds since 1970");
    all.add("decimal", &O::decimal, one_of({".", ","}), "Decimal separator of numbers");
    return all;
  }();
  return table;
}

OptionTable<LinkRules> link_rule_option_table(Merging merging) {
  using O = LinkRules;
  OptionTable<O> all;
  all.add("directed", &O::directed, any(),
          "Treat links as directed: a source node aggregates from its target nodes, but not "
          "vice versa (the opposite of PyTorch Geometric's source_to_target)");
  all.add("separate_directions", &O::separate_directions, any(),
          "Keep separate attributes for the two directions of an undirected link: each node "
          "sees what it sent (out ...) and what it received (in ...)");
  all.add("self_loops", &O::self_loops, one_of<SelfLoops>(),
          "Links from a node to itself: drop, keep, or stop with an error");
  if (merging == Merging::kAlways) return all;
  all.add("duplicate_links", &O::parallel, one_of<Parallel>(),
          "Several links between the same two nodes: merge, keep, or stop with an error");
  all.add("merge", &O::merge, one_of<Merge>(), "How to combine the attributes of merged links");
  return all;
}

OptionTable<LinkTableOptions> link_table_option_table(Merging merging) {
  using O = LinkTableOptions;
  OptionTable<O> all;
  all.add("file", &O::file, any(),
          "Table of links: plain text or gzip, in a file or a pipe, or - for standard input")
      .required()
      .positional();
  all.add("source", &O::source, any(),
          "Column with the source node, by name or by position from 1 (default: a column with a "
          "common name such as source, from, sender or id1, else the first)");
  all.add("target", &O::target, any(),
          "Column with the target node (default: a column with a common name such as target, to, "
          "receiver or id2, else the second)");
  all.include(table_option_table(), &O::table).group("Tables");
  all.include(node_option_table(), &O::nodes).group("Nodes");
  all.include(link_target_option_table(), &O::targets).group("Links as prediction targets");
  all.include(link_rule_option_table(merging), &O::rules);
  all.add("layout", &O::layout, one_of<LayoutChoice>(), kLayoutHelp);
  all.group("Links");
  return all;
}

void check(const LinkRules& rules) {
  require_option(!rules.directed || !rules.separate_directions, OptionName{"directed"}, " and ",
                 OptionName{"separate_directions"},
                 " are mutually exclusive: a directed link has only one direction");
  require_option(!rules.separate_directions || rules.parallel != Parallel::kKeep,
                 OptionName{"separate_directions"}, " requires ", OptionName{"duplicate_links"},
                 " merge or error: the two directions of a link are paired");
}

LayoutRule layout_rule(LayoutChoice choice, LayoutRule automatic) {
  switch (choice) {
    case LayoutChoice::kAuto:
      return automatic;
    case LayoutChoice::kDense:
      return LayoutRule::kDense;
    case LayoutChoice::kSparse:
      return LayoutRule::kSparse;
    case LayoutChoice::kDictionary:
      return LayoutRule::kDictionary;
  }
  return automatic;
}

RawGraph empty_graph(const LinkTableOptions& options, LayoutRule automatic) {
  check(options.rules);
  RawGraph graph;
  graph.rules = options.rules;
  graph.layout_rule = layout_rule(options.layout, automatic);
  const std::string& date_format = options.table.date_format;
  if (!date_format.empty()) graph.preprocessing["date_format"] = date_format;
  if (options.table.decimal != ".") graph.preprocessing["decimal"] = options.table.decimal;
  return graph;
}

std::vector<std::string> named_columns(const LinkTableOptions& options,
                                       std::vector<std::string> of_format) {
  auto& named = of_format;
  const LinkTargetOptions& targets = options.targets;
  named.insert(named.end(), {options.source, options.target, targets.label, targets.multi_label,
                             targets.split, targets.time});
  named.insert(named.end(), targets.regress.begin(), targets.regress.end());
  return named;
}

std::vector<ColumnRole> link_roles(const LinkTableOptions& options,
                                   const LinkTargetReader& targets) {
  auto roles = link_roles(options);
  for (const auto& role : targets.roles()) roles.push_back(role);
  return roles;
}

std::vector<int64_t> all_columns(const RawAttributes& attributes) {
  std::vector<int64_t> columns(static_cast<size_t>(attributes.columns));
  std::iota(columns.begin(), columns.end(), int64_t{0});
  return columns;
}

}  // namespace lase
