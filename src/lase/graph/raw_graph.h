#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lase/base/array.h"
#include "lase/base/layout.h"
#include "lase/base/string_table.h"
#include "lase/graph/nodes.h"

namespace lase {

// Attributes of the raw links, dense or sparse, appended row by row.
struct RawAttributes {
  Layout layout = Layout::kDense;
  int64_t columns = 0;
  Buffer<float> values;
  Buffer<int64_t> row_end;  // sparse: end of each row in values
  Buffer<int32_t> column;   // sparse

  // Appends to the current sparse row; columns must ascend.
  void add_value(int32_t at, float value) {
    column.push_back(at);
    values.push_back(value);
  }
  void end_row() { row_end.push_back(values.size()); }

  // Appends a sparse row with one value, or an empty row.
  void add_single(int32_t at, float value) {
    add_value(at, value);
    end_row();
  }
  void add_empty() { end_row(); }
};

enum class Parallel : uint8_t { kMerge, kKeep, kError };
enum class SelfLoops : uint8_t { kDrop, kKeep, kError };
enum class Merge : uint8_t { kSum, kMean, kMax, kFirst, kMin };
enum class Transform : uint8_t { kNone, kLog1p, kBinary };

// How raw links become links.
struct LinkRules {
  bool directed = false;             // arcs from source to target only
  bool separate_directions = false;  // an arc u→v carries [attributes of u→v, attributes of v→u]
  Parallel parallel = Parallel::kMerge;
  SelfLoops self_loops = SelfLoops::kDrop;
  Merge merge = Merge::kSum;               // how the attributes of merged links combine
  Transform transform = Transform::kNone;  // applied after merging
};

// How one column of attributes is merged and transformed.
struct ColumnRule {
  Merge merge = Merge::kSum;
  Transform transform = Transform::kNone;
};

// Layout of the link attributes of the graph.
enum class LayoutRule : uint8_t {
  kAsRead,     // dense or sparse, as the format provides them
  kEncodeFew,  // dictionary-encoded if there are few distinct rows
  kSmaller,    // the smaller of sparse and dense
  kDense,      // always this layout, as for the next two
  kSparse,
  kDictionary,
};

// How a table was read, for the import summary.
struct TableReport {
  std::string file;
  std::string delimiter;  // "comma"
  bool header = false;
  std::vector<std::pair<std::string, std::vector<std::string>>> roles;  // and their columns
  std::vector<std::string> ignored;                                     // columns
};

// Raw links as prediction targets.
struct RawTargets {
  Labels labels;  // [raw links]; Task::kNone: none
  // [raw links], or both empty: the split of each link in the graph, not kNone, and as a target.
  Array<uint8_t> stage;
  Array<uint8_t> split;
  std::vector<int64_t> label_columns;  // attribute columns that the label determines, ascending
  bool relations = false;              // see LinkTargets
};

// A graph as read from files: nodes, and raw links in file order, repeated as in the file.
// build_graph() merges and sorts them.
struct RawGraph {
  Nodes nodes;
  Buffer<int32_t> source;  // [raw links]
  Buffer<int32_t> target;
  RawAttributes attributes;
  StringTable attribute_names;  // empty or [attributes.columns]
  LinkRules rules;
  std::vector<ColumnRule> column_rules;  // [attributes.columns]; empty: those of `rules` for all
  LayoutRule layout_rule = LayoutRule::kAsRead;
  std::optional<RawTargets> targets;
  // Fitted values that must be applied to new data unchanged (boundaries of time slices, IDF
  // weights); stored in the graph file for `import --like`.
  nlohmann::json preprocessing = nlohmann::json::object();
  std::vector<TableReport> tables;    // that were read
  std::vector<std::string> notes;     // for the import summary, with option names as in Error
  std::vector<std::string> warnings;  // about data that was probably read differently than meant
};

}  // namespace lase
