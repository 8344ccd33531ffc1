#include "lase/ingest/link_file.h"

#include <algorithm>
#include <map>

#include "lase/base/error.h"

namespace lase {

void declare_table(Flags& flags, TableOptions& options) {
  flags.text("--delimiter", options.delimiter,
             "between fields: a character, 'tab' or 'space' (default: found out)");
  flags.text("--header", options.header,
             "yes or no: the first line names the columns (default: found out)");
  flags.optional("--missing", options.missing, "value of empty number fields (default: an error)");
}

void LinkFile::declare(Flags& flags) {
  flags.required("file", path, "table of links, plain or gzip");
  flags.text("--source", source,
             "column by name or position from 1 (default: 'source', or the first)");
  flags.text("--target", target, "likewise (default: 'target', or the second)");
  declare_table(flags, table);
  nodes.declare(flags);
}

ColumnRoles::ColumnRoles(const Table& table, const std::vector<std::string>& named)
    : table_(table), claimed_(static_cast<size_t>(table.column_count())) {
  for (const auto& name : named) {
    if (!name.empty()) claimed_[static_cast<size_t>(table.column(name, "an option"))] = true;
  }
}

int64_t ColumnRoles::choose(const std::string& named, std::string_view flag,
                            const std::vector<std::string>& usual) {
  if (!named.empty()) return table_.column(named, flag);
  for (const auto& name : usual) {
    const auto found = table_.find(name);
    if (!found || claimed_[static_cast<size_t>(*found)]) continue;
    claimed_[static_cast<size_t>(*found)] = true;
    return *found;
  }
  const auto free = std::find(claimed_.begin(), claimed_.end(), false);
  require(free != claimed_.end(), table_.path(), ": has ", table_.column_count(),
          table_.column_count() == 1 ? " column" : " columns", ", expected one more for ", flag);
  *free = true;
  return free - claimed_.begin();
}

int64_t ColumnRoles::source(const LinkFile& file) {
  return choose(file.source, "--source", {"source", "src", "from", "sender"});
}

int64_t ColumnRoles::target(const LinkFile& file) {
  return choose(file.target, "--target", {"target", "dst", "to", "receiver"});
}

int64_t ColumnRoles::weight(const std::string& named) const {
  if (!named.empty()) return table_.column(named, "--weight");
  if (const auto found = table_.find("weight")) return *found;
  return !table_.has_header() && table_.column_count() == 4 && !claimed_[3] ? 3 : -1;
}

void LinkRuleWords::declare(Flags& flags, bool merging_is_free) {
  flags.flag("--directed", directed, "a link leads from source to target only");
  flags.flag(
      "--directional", directional,
      "give each direction of a link its own attributes: what u sent to v, then what it received");
  flags.choice("--self-loops", {"drop", "keep", "refuse"}, self_loops,
               "links from a node to itself");
  flags.choice("--layout", {"auto", "dense", "sparse", "coded"}, layout,
               "how link attributes are stored; auto takes what suits the kind of input");
  if (!merging_is_free) return;
  flags.choice("--parallel", {"merge", "keep", "refuse"}, parallel,
               "several links between the same nodes");
  flags.choice("--merge", {"sum", "mean", "max", "first"}, merge,
               "how the attributes of merged links combine");
}

LinkRules LinkRuleWords::finish() const {
  require(!directed || !directional,
          "--directed and --directional exclude each other: a directed link has one direction");
  const std::map<std::string, Parallel> parallels = {
      {"merge", Parallel::kMerge}, {"keep", Parallel::kKeep}, {"refuse", Parallel::kRefuse}};
  const std::map<std::string, SelfLoops> loops = {
      {"drop", SelfLoops::kDrop}, {"keep", SelfLoops::kKeep}, {"refuse", SelfLoops::kRefuse}};
  const std::map<std::string, Merge> merges = {
      {"sum", Merge::kSum}, {"mean", Merge::kMean}, {"max", Merge::kMax}, {"first", Merge::kFirst}};
  LinkRules rules;
  rules.directed = directed;
  rules.directional = directional;
  rules.parallel = parallels.at(parallel);
  rules.self_loops = loops.at(self_loops);
  rules.merge = merges.at(merge);
  require(
      !directional || rules.parallel != Parallel::kKeep,
      "--directional needs --parallel merge or refuse: the two directions of a link are paired");
  return rules;
}

LayoutRule LinkRuleWords::layout_rule(LayoutRule automatic) const {
  if (layout == "auto") return automatic;
  return layout == "dense"    ? LayoutRule::kDense
         : layout == "sparse" ? LayoutRule::kSparse
                              : LayoutRule::kCoded;
}

}  // namespace lase
