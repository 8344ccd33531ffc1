#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/interner.h"
#include "lase/graph/raw_graph.h"
#include "lase/ingest/import.h"
#include "lase/ingest/table.h"

namespace lase {

// The nodes of a graph while it is read: first those of a table, then the ends of links.
//
// Feature columns are those named by `columns`; without that, every column of numbers that has no
// other role, unless features come from a .npy file or a text.
class NodeReader {
 public:
  // Without a file of nodes every name that links mention is a node.
  NodeReader(const NodeOptions& options, const TableOptions& table_options, const Like* like);
  // Rows of `path` are nodes; where the options name no id column, ids are row numbers from 0.
  static NodeReader from_items(const NodeOptions& options, const std::string& path,
                               const TableOptions& table_options, const Like* like,
                               const std::string& other_column);

  int64_t size() const { return names_.size(); }

  // The node of that name. Nothing where unknown nodes are dropped; throws where they are refused.
  std::optional<int32_t> node(std::string_view name, uint64_t hash, const std::string& path,
                              int64_t line);
  void prefetch(uint64_t hash) const { names_.prefetch(hash); }

  // The nodes, with notes and recipe added to the graph.
  void finish(RawGraph& graph);

 private:
  NodeReader(const NodeOptions& options, const Like* like) : options_(options), like_(like) {}
  void read_table(const Table& table, bool numbered, const std::string& other_column);
  void add_features(RawGraph& graph);
  Attributes read_features(StringTableBuilder& names) const;
  Attributes read_feature_table(Interner& features) const;
  void add_labels(RawGraph& graph);
  void add_split(RawGraph& graph);

  NodeOptions options_;
  const Like* like_;
  std::string table_path_;
  Interner names_;
  int64_t listed_ = 0;  // nodes that the table names
  int64_t unknown_ = 0;
  StringTable labels_;
  StringTable texts_;
  std::vector<float> targets_;
  std::vector<uint8_t> split_;
  std::optional<Attributes> columns_;
  std::vector<std::string> column_names_;
  std::vector<std::string> notes_;
};

}  // namespace lase
