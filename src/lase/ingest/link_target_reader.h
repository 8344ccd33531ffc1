#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/interner.h"
#include "lase/graph/raw_graph.h"
#include "lase/ingest/column_roles.h"
#include "lase/ingest/import.h"
#include "lase/ingest/table.h"

namespace lase {

const OptionTable<LinkTargetOptions>& link_target_option_table();

// Collects labels, splits and times of the rows of a table of links.
class LinkTargetReader {
 public:
  // Fields of rows, as views of the text.
  struct Fields {
    std::vector<std::string_view> label;
    std::vector<float> numbers;  // [rows, regression targets]
    std::vector<uint8_t> split;
    std::vector<double> time;
  };

  // Without options for labels, these are in the same columns as in the earlier graph.
  LinkTargetReader(const LinkTableOptions& options, const Table& table, const Schema* schema);

  std::vector<ColumnRole> roles() const;
  // Takes the columns of its roles. The time is by default that of the format, named "time".
  void assign(const ColumnRoles& roles);
  // Whether a column, or none if it is −1, holds labels.
  bool is_label(int64_t column) const;

  void parse(Fields& fields, const Row& row) const;
  // Stores row i of the fields, which is the next raw link.
  void add(const Fields& fields, size_t i);

  // Sets the targets of the graph, if links are targets, and adds notes and the column of labels to
  // its preprocessing. Needs the raw links and the names of nodes.
  void finish(RawGraph& graph);

 private:
  bool by_time() const { return options_.split_by != LinkSplitBy::kRandom; }
  std::vector<std::string> label_column_names() const;
  Labels labels(int64_t links);
  void add_split(RawGraph& graph, RawTargets& targets) const;
  void split_links(const RawGraph& graph, RawTargets& targets) const;

  LinkTargetOptions options_;
  std::string separator_;
  uint64_t seed_;
  const Schema* schema_;
  bool has_targets_ = false;
  Task task_ = Task::kNone;
  std::vector<std::string> column_names_;  // of the table
  std::vector<int64_t> label_columns_;
  int64_t split_column_ = -1;
  int64_t time_column_ = -1;
  Interner texts_;         // distinct labels
  Buffer<int32_t> code_;   // [raw links] of texts_
  Buffer<float> numbers_;  // [raw links, regression targets]
  Buffer<uint8_t> split_;  // [raw links]
  Buffer<double> times_;   // [raw links]
};

}  // namespace lase
