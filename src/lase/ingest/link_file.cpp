#include "lase/ingest/link_file.h"

#include <algorithm>

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
    all.add("missing", &O::missing, any(), "Fill value for empty numeric fields (default: fail)");
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
  all.add("parallel", &O::parallel, one_of<Parallel>(),
          "Several links between the same nodes: merge, keep, or stop with an error");
  all.add("merge", &O::merge, one_of<Merge>(), "How to combine the attributes of merged links");
  return all;
}

OptionTable<LinkTableOptions> link_table_option_table(Merging merging) {
  using O = LinkTableOptions;
  OptionTable<O> all;
  all.add("file", &O::file, any(),
          "Table of links: plain text or gzip, in a file or a pipe such as /dev/stdin")
      .required()
      .positional();
  all.add("source", &O::source, any(),
          "Column with the source node, by name or by position from 1 (default: the column "
          "source, src, from or sender, else the first)");
  all.add("target", &O::target, any(),
          "Column with the target node (default: the column target, dst, to or receiver, else the "
          "second)");
  all.include(table_option_table(), &O::table);
  all.include(node_option_table(), &O::nodes);
  all.include(link_rule_option_table(merging), &O::rules);
  all.add("layout", &O::layout, one_of<LayoutChoice>(), kLayoutHelp);
  return all;
}

void check(const LinkRules& rules) {
  require_option(!rules.directed || !rules.separate_directions, OptionName{"directed"}, " and ",
                 OptionName{"separate_directions"},
                 " are mutually exclusive: a directed link has only one direction");
  require_option(!rules.separate_directions || rules.parallel != Parallel::kKeep,
                 OptionName{"separate_directions"}, " requires ", OptionName{"parallel"},
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

ColumnRoles::ColumnRoles(const Table& table, const NamedColumns& named)
    : table_(table), claimed_(static_cast<size_t>(table.column_count())) {
  for (const auto& [option, name] : named) {
    if (!name.empty()) claimed_[static_cast<size_t>(table.column(name, option))] = true;
  }
}

int64_t ColumnRoles::choose(const std::string& named, std::string_view option,
                            const std::vector<std::string>& usual) {
  if (!named.empty()) return table_.column(named, option);
  for (const auto& name : usual) {
    const auto found = table_.find(name);
    if (!found || claimed_[static_cast<size_t>(*found)]) continue;
    claimed_[static_cast<size_t>(*found)] = true;
    return *found;
  }
  const auto free = std::find(claimed_.begin(), claimed_.end(), false);
  require(free != claimed_.end(), table_.path(), ": has ", table_.column_count(),
          table_.column_count() == 1 ? " column" : " columns", ", expected one more for ",
          OptionName{option});
  *free = true;
  return free - claimed_.begin();
}

int64_t ColumnRoles::source(const LinkTableOptions& options) {
  return choose(options.source, "source", {"source", "src", "from", "sender"});
}

int64_t ColumnRoles::target(const LinkTableOptions& options) {
  return choose(options.target, "target", {"target", "dst", "to", "receiver"});
}

int64_t ColumnRoles::weight(const std::string& named) const {
  if (!named.empty()) return table_.column(named, "weight");
  if (const auto found = table_.find("weight")) return *found;
  return !table_.has_header() && table_.column_count() == 4 && !claimed_[3] ? 3 : -1;
}

}  // namespace lase
