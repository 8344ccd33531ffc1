#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/interner.h"
#include "lase/graph/raw_graph.h"
#include "lase/ingest/column_roles.h"
#include "lase/ingest/import.h"
#include "lase/ingest/link_target_reader.h"
#include "lase/ingest/nodes.h"
#include "lase/ingest/table.h"

namespace lase {

// Options of tables with one link per row; formats that always merge parallel links omit the
// merging options.
enum class Merging : uint8_t { kAlways, kChosen };
OptionTable<LinkTableOptions> link_table_option_table(Merging merging);
OptionTable<LinkRules> link_rule_option_table(Merging merging);
const OptionTable<NodeOptions>& node_option_table();
inline constexpr const char* kLayoutHelp =
    "Storage layout of the link attributes: dense, sparse, or each distinct row stored once "
    "(dictionary); auto = default of the input format";

// The options, completed by what an earlier graph was imported with: separate directions, the
// format of dates and the decimal separator.
template <class Options>
Options like_earlier(Options options, const Schema* schema) {
  if (schema == nullptr) return options;
  options.rules.separate_directions =
      options.rules.separate_directions || schema->separate_directions;
  if (options.table.date_format.empty()) options.table.date_format = schema->text("date_format");
  if (schema->text("decimal") == ",") options.table.decimal = ",";
  return options;
}

// Throws Error if the rules are inconsistent.
void check(const LinkRules& rules);
LayoutRule layout_rule(LayoutChoice choice, LayoutRule automatic);
// An empty graph with the rules of a table of links, after checking them. `automatic`: the layout
// by default.
RawGraph empty_graph(const LinkTableOptions& options, LayoutRule automatic);

// All columns of the table of links that the options name, given those of the format.
std::vector<std::string> named_columns(const LinkTableOptions& options,
                                       std::vector<std::string> of_format);
// The roles of the columns of any table of links.
std::vector<ColumnRole> link_roles(const LinkTableOptions& options,
                                   const LinkTargetReader& targets);
// 0, 1, …: all columns of the attributes.
std::vector<int64_t> all_columns(const RawAttributes& attributes);

// What is read from the rows of a table of links.
struct LinkReaders {
  const ColumnRoles& roles;
  NodeReader& nodes;
  LinkTargetReader& targets;
  RawGraph& graph;
};

// Reads one raw link per row. `parse(payload, row)` collects the fields besides the endpoints (in
// parallel); `add(payload, i)` stores row i of the payload with the link, in file order.
template <class Payload, class Parse, class Add>
void read_link_rows(Table& table, const LinkReaders& readers, const Parse& parse, const Add& add) {
  const ColumnRoles& roles = readers.roles;
  NodeReader& nodes = readers.nodes;
  LinkTargetReader& targets = readers.targets;
  RawGraph& graph = readers.graph;
  const int64_t source = roles.at("source");
  const int64_t target = roles.at("target");
  const int64_t label = roles.at("label");
  struct End {
    std::string_view name;
    uint64_t hash = 0;
  };
  struct Chunk {
    std::vector<End> ends;  // source, target, source, target, …
    std::vector<int64_t> line;
    std::vector<std::string_view> label;
    LinkTargetReader::Fields targets;
    Payload payload;
  };
  const auto parse_row = [&](Chunk& chunk, const Row& row) {
    for (const int64_t column : {source, target}) {
      const auto name = row.text(column);
      if (name.empty()) row.fail(column, "a node id");
      chunk.ends.push_back({name, Interner::hash(name)});
    }
    chunk.line.push_back(row.line());
    if (label >= 0) chunk.label.push_back(row.text(label));
    targets.parse(chunk.targets, row);
    parse(chunk.payload, row);
  };
  size_t rows = 0;
  const auto merge = [&](const Chunk& chunk) {
    constexpr size_t kAhead = 16;
    rows += chunk.line.size();
    for (size_t i = 0; i < chunk.line.size(); ++i) {
      if (2 * (i + kAhead) + 1 < chunk.ends.size()) {
        nodes.prefetch(chunk.ends[2 * (i + kAhead)].hash);
        nodes.prefetch(chunk.ends[2 * (i + kAhead) + 1].hash);
      }
      const End& from = chunk.ends[2 * i];
      const End& to = chunk.ends[2 * i + 1];
      const auto u = nodes.node(from.name, from.hash, table.path(), chunk.line[i]);
      const auto v = nodes.node(to.name, to.hash, table.path(), chunk.line[i]);
      if (!u || !v) {
        nodes.count_dropped_link();
        continue;
      }
      if (label >= 0) nodes.set_label(*u, *v, chunk.label[i], table.path(), chunk.line[i]);
      graph.source.push_back(*u);
      graph.target.push_back(*v);
      targets.add(chunk.targets, i);
      add(chunk.payload, i);
    }
  };
  const std::string guesses = roles.guesses();
  if (!guesses.empty()) graph.warnings.push_back(join(table.path(), ": ", guesses));
  try {
    table.read<Chunk>(parse_row, merge);
  } catch (const Error& error) {
    if (guesses.empty()) throw;
    throw Error(join(error.marked(), "; ", guesses));
  }
  require(rows > 0 || nodes.size() > 0, table.path(), ": has no rows below its header");
}

}  // namespace lase
