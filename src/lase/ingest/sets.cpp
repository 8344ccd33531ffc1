// Items with members (papers and their authors, baskets and products): items that share members are
// linked, and the shared members are the link attributes.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/interner.h"
#include "lase/graph/encode_labels.h"
#include "lase/ingest/link_file.h"
#include "lase/ingest/nodes.h"

namespace lase {
namespace {

// Bins of members by the number of items that have them.
constexpr std::array<std::string_view, 8> kCountNames = {
    "members of 2 items",  "members of 3 to 4",   "members of 5 to 8",    "members of 9 to 16",
    "members of 17 to 32", "members of 33 to 64", "members of 65 to 128", "members of more"};

int32_t count_column(int64_t count) {
  const auto doubling = std::bit_width(static_cast<uint64_t>(count - 1)) - 1;
  return std::min<int32_t>(static_cast<int32_t>(doubling), std::ssize(kCountNames) - 1);
}

// items[m]: the items that have member m, ascending.
std::vector<std::vector<int32_t>> split_members(const StringTable& texts,
                                                const SetsOptions& options, Interner& members) {
  std::vector<std::vector<int32_t>> items;
  for (int32_t item = 0; item < texts.size(); ++item) {
    for (const auto part : split_text(texts[item], options.separator)) {
      const auto name = trimmed(part);
      if (name.empty()) continue;
      const auto member = static_cast<size_t>(options.fold_case ? members.add(lower_case(name))
                                                                : members.add(name));
      if (member == items.size()) items.emplace_back();
      if (items[member].empty() || items[member].back() != item) items[member].push_back(item);
    }
  }
  return items;
}

}  // namespace

const OptionTable<SetsOptions>& sets_option_table() {
  static const auto table = [] {
    using O = SetsOptions;
    OptionTable<O> all;
    all.add("file", &O::file, any(),
            "Table of items: plain text or gzip, in a file or a pipe such as /dev/stdin")
        .required()
        .positional();
    all.add("members", &O::members, any(), "Column with the members of an item").required();
    all.add("separator", &O::separator, any(), "Separator between the members of an item");
    all.add("fold_case", &O::fold_case, any(), "Ignore case when comparing members");
    all.add("max_members", &O::max_members, at_least(0),
            "Ignore members of more items than this (0 = no limit)");
    all.add(
        "attributes", &O::attributes, one_of<SetAttributes>(),
        "Link attributes: which members are shared (members), how many, binned by the number of "
        "their items (counts), or both");
    all.include(table_option_table(), &O::table);
    all.include(
        node_option_table(), &O::nodes,
        {.skip = {"nodes", "nodes_header", "nodes_delimiter", "unknown_nodes", "label_of"}});
    return all;
  }();
  return table;
}

RawGraph read_sets(const SetsOptions& options, const Schema* schema) {
  sets_option_table().check(options);
  require_option(!options.separator.empty(), OptionName{"separator"},
                 " '': must have at least one character");
  RawGraph graph;
  NodeReader nodes(options, schema);
  Interner members;
  const auto items = split_members(nodes.members(), options, members);

  const bool by_member = options.attributes != SetAttributes::kCounts;
  const bool by_count = options.attributes != SetAttributes::kMembers;
  const int32_t first_member = by_count ? std::ssize(kCountNames) : 0;
  if (schema != nullptr && schema->attribute_names.size() > 0) {
    const auto& earlier = schema->attribute_names;
    const bool had_counts = earlier[0] == kCountNames[0];
    const bool had_members = earlier.size() > std::ssize(kCountNames) || !had_counts;
    require(had_counts == by_count && had_members == by_member, OptionName{"attributes"}, " ",
            name_of(options.attributes), ": the earlier graph was imported with ",
            OptionName{"attributes"}, " ",
            had_counts ? had_members ? "both" : "counts" : "members");
  }
  int64_t shared = 0;
  Interner known;
  for (int64_t i = 0; schema != nullptr && i < schema->attribute_names.size(); ++i) {
    known.add(schema->attribute_names[i]);
  }
  int64_t pairs = 0;
  int64_t too_common = 0;
  int64_t unseen = 0;
  StringTableBuilder names;
  for (int32_t i = 0; i < first_member; ++i) names.add(kCountNames[static_cast<size_t>(i)]);
  graph.attributes.layout = Layout::kSparse;
  for (size_t m = 0; m < items.size(); ++m) {
    const auto& having = items[m];
    const auto count = static_cast<int64_t>(having.size());
    if (count < 2) continue;
    if (options.max_members > 0 && count > options.max_members) {
      ++too_common;
      continue;
    }
    ++shared;
    pairs += count * (count - 1) / 2;
    require(pairs <= std::numeric_limits<int32_t>::max(), options.file, ": member ",
            quote(members[static_cast<int64_t>(m)]), " of ", count,
            " items brings the number of linked pairs above 2147483647; lower ",
            OptionName{"max_members"}, " to ignore it");
    auto column = static_cast<int32_t>(names.size());
    bool has_column = by_member;
    if (schema != nullptr && by_member) {
      const auto found = known.find(members[static_cast<int64_t>(m)]);
      has_column = found.has_value();
      unseen += has_column ? 0 : 1;
      column = found.value_or(0);
    } else if (by_member) {
      names.add(members[static_cast<int64_t>(m)]);
    }
    for (size_t i = 0; i < having.size(); ++i) {
      for (size_t j = i + 1; j < having.size(); ++j) {
        graph.source.push_back(having[i]);
        graph.target.push_back(having[j]);
        if (by_count) graph.attributes.add_value(count_column(count), 1);
        if (has_column) graph.attributes.add_value(column, 1);
        graph.attributes.end_row();
      }
    }
  }
  graph.attribute_names = schema != nullptr ? schema->attribute_names : names.finish();
  graph.attributes.columns = graph.attribute_names.size();
  graph.notes.push_back(join(grouped(members.size()), " members, ", grouped(shared),
                             " shared by at least two items"));
  if (too_common > 0) {
    graph.notes.push_back(join(grouped(too_common), " members of more than ",
                               grouped(options.max_members), " items were ignored"));
  }
  if (unseen > 0) {
    graph.notes.push_back(join(grouped(unseen),
                               " shared members are not in the earlier graph; they link "
                               "items but have no attribute"));
  }
  nodes.finish(graph);
  return graph;
}

}  // namespace lase
