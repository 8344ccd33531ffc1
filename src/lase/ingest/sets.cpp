// Items with members (papers and their authors, baskets and products): two items are linked when
// they share a member, and the link says which.

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/interner.h"
#include "lase/graph/encode_labels.h"
#include "lase/ingest/format.h"
#include "lase/ingest/link_file.h"
#include "lase/ingest/nodes.h"

namespace lase {
namespace {

// Members by the number of items that have them.
constexpr std::array<std::string_view, 8> kCountNames = {
    "members of 2 items",  "members of 3 to 4",   "members of 5 to 8",    "members of 9 to 16",
    "members of 17 to 32", "members of 33 to 64", "members of 65 to 128", "members of more"};

int32_t count_column(int64_t count) {
  const auto doubling = std::bit_width(static_cast<uint64_t>(count - 1)) - 1;
  return std::min<int32_t>(static_cast<int32_t>(doubling), std::ssize(kCountNames) - 1);
}

class SetsFormat : public Format {
 public:
  std::string name() const override { return "sets"; }
  std::string summary() const override { return "items linked by the members they share"; }

  void declare(Flags& flags) override {
    flags.required("file", path_, "table of items, plain or gzip");
    flags.required("--members", members_, "column with the members of an item");
    flags.text("--separator", separator_, "between members");
    flags.flag("--fold-case", fold_case_, "members that differ in case only are the same");
    flags.number("--max-members", max_items_,
                 "members of more items than this link none of them (0: no limit)");
    flags.choice(
        "--attributes", {"members", "counts", "both"}, attributes_,
        "of a link: which members are shared; how many, by how many items they have; both");
    flags.text("--id", nodes_.id, "column with the id of an item (default: its row, from 0)");
    declare_table(flags, table_);
    nodes_.declare_columns(flags);
  }

  RawGraph read(const Like* like) const override;

 private:
  // items[m]: the items that have member m, ascending.
  std::vector<std::vector<int32_t>> read_members(Interner& members) const;

  std::string path_;
  std::string members_;
  std::string separator_ = ";";
  bool fold_case_ = false;
  std::string attributes_ = "members";
  int64_t max_items_ = 1000;
  TableOptions table_;
  NodeOptions nodes_;
};

std::vector<std::vector<int32_t>> SetsFormat::read_members(Interner& members) const {
  require(!separator_.empty(), "--separator: expected at least one character");
  auto wanted = nodes_.wanted_columns();
  wanted.push_back(members_);
  const Table table(path_, table_, wanted);
  const int64_t column = table.column(members_, "--members");
  std::vector<std::vector<int32_t>> items;
  int32_t item = 0;
  using Texts = std::vector<std::string_view>;
  const auto parse = [&](Texts& texts, const Row& row) { texts.push_back(row.text(column)); };
  const auto merge = [&](const Texts& texts) {
    for (const auto text : texts) {
      for (const auto part : split_text(text, separator_)) {
        const auto name = trimmed(part);
        if (name.empty()) continue;
        const auto member =
            static_cast<size_t>(fold_case_ ? members.add(lower_case(name)) : members.add(name));
        if (member == items.size()) items.emplace_back();
        if (items[member].empty() || items[member].back() != item) items[member].push_back(item);
      }
      ++item;
    }
  };
  table.read<Texts>(parse, merge);
  return items;
}

RawGraph SetsFormat::read(const Like* like) const {
  RawGraph graph;
  NodeReader nodes = NodeReader::from_items(nodes_, path_, table_, like, members_);
  Interner members;
  const auto items = read_members(members);

  const bool by_member = attributes_ != "counts";
  const bool by_count = attributes_ != "members";
  const int32_t first_member = by_count ? std::ssize(kCountNames) : 0;
  if (like != nullptr && like->attribute_names.size() > 0) {
    const auto& earlier = like->attribute_names;
    const bool had_counts = earlier[0] == kCountNames[0];
    const bool had_members = earlier.size() > std::ssize(kCountNames) || !had_counts;
    require(had_counts == by_count && had_members == by_member, "--attributes ", attributes_,
            ": the links of the graph of --like have ",
            had_counts ? had_members ? "both" : "counts" : "members");
  }
  require(max_items_ >= 0, "--max-members ", max_items_, ": expected 0 or more");
  int64_t shared = 0;
  Interner known;
  for (int64_t i = 0; like != nullptr && i < like->attribute_names.size(); ++i) {
    known.add(like->attribute_names[i]);
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
    if (max_items_ > 0 && count > max_items_) {
      ++too_common;
      continue;
    }
    ++shared;
    pairs += count * (count - 1) / 2;
    require(
        pairs <= std::numeric_limits<int32_t>::max(), path_, ": member ",
        quote(members[static_cast<int64_t>(m)]), " of ", count,
        " items brings the pairs of items above 2147483647; a lower --max-members leaves it out");
    auto column = static_cast<int32_t>(names.size());
    bool has_column = by_member;
    if (like != nullptr && by_member) {
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
  graph.attribute_names = like != nullptr ? like->attribute_names : names.finish();
  graph.attributes.columns = graph.attribute_names.size();
  graph.notes.push_back(
      join(members.size(), " members, ", shared, " of them shared by two items or more"));
  if (too_common > 0) {
    graph.notes.push_back(join(too_common, " members of more than ", max_items_,
                               " items link none of them (--max-members)"));
  }
  if (unseen > 0) {
    graph.notes.push_back(join(unseen,
                               " shared members are not in the graph of --like; they link "
                               "items but give no attribute"));
  }
  nodes.finish(graph);
  return graph;
}

}  // namespace

std::unique_ptr<Format> make_sets_format() { return std::make_unique<SetsFormat>(); }

}  // namespace lase
