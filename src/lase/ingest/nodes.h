#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/interner.h"
#include "lase/graph/raw_graph.h"
#include "lase/ingest/categories.h"
#include "lase/ingest/import.h"
#include "lase/ingest/table.h"

namespace lase {

// Collects the nodes of a graph: first those in the node table, then the link endpoints.
//
// Feature columns are those named by `columns`; by default every column of numbers, dates or
// categories without another role, unless features come from a file or a text.
class NodeReader {
 public:
  // Without a node table, every name in the links is a node.
  NodeReader(const NodeOptions& options, const TableOptions& table_options, const Schema* schema);
  // Rows of the items' table are nodes; if the options name no id column, ids are row numbers from
  // 0. Also reads the column of members.
  NodeReader(const SetsOptions& options, const Schema* schema);

  int64_t size() const { return names_.size(); }
  const StringTable& members() const { return members_; }  // [rows]: texts of that column

  // The node with this name. An unknown name adds a node, gives nullopt, or throws Error,
  // depending on the options.
  std::optional<int32_t> node(std::string_view name, uint64_t hash, const std::string& path,
                              int64_t line);
  // Sets the label of the source u or the target v, as the options say, from a row of the links.
  // Throws Error if it has another one.
  void set_label(int32_t u, int32_t v, std::string_view label, const std::string& path,
                 int64_t line);
  // Names of the columns of the node table whose types were given.
  const std::vector<std::string>& typed_columns() const { return typed_; }
  void prefetch(uint64_t hash) const { names_.prefetch(hash); }
  void count_dropped_link() { ++dropped_links_; }

  // Moves the nodes into the graph and adds notes and fitted preprocessing.
  void finish(RawGraph& graph);

 private:
  NodeReader(const NodeOptions& options, const Schema* schema)
      : options_(options), schema_(schema) {}
  void read_table(Table table, bool numbered, const std::string& members_column);
  std::optional<Attributes> table_features(RawGraph& graph);
  void add_features(RawGraph& graph);
  Attributes read_features(StringTableBuilder& names) const;
  Attributes read_feature_table(Interner& features) const;
  void add_labels(RawGraph& graph);
  void add_split(RawGraph& graph);

  NodeOptions options_;
  const Schema* schema_;
  std::string table_path_;
  Interner names_;
  int64_t listed_ = 0;   // nodes in the table
  int64_t unknown_ = 0;  // link endpoints missing from the table
  int64_t dropped_links_ = 0;
  StringTable labels_;
  Interner link_labels_;             // labels in the table of links
  std::vector<int32_t> node_label_;  // [nodes] of link_labels_; −1: unknown
  std::vector<std::string> typed_;
  StringTable texts_;
  StringTable members_;
  std::vector<float> targets_;
  std::vector<uint8_t> split_;
  std::optional<ColumnEncoder> encoder_;  // of the feature columns
  std::vector<float> numbers_;            // [nodes in the table, number columns]
  std::vector<int32_t> codes_;            // [nodes in the table, categorical columns]
  std::vector<TableReport> tables_;
  std::vector<std::string> notes_;
};

}  // namespace lase
