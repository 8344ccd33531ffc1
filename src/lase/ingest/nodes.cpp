#include "lase/ingest/nodes.h"

#include <algorithm>
#include <limits>
#include <map>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/npy.h"
#include "lase/graph/encode_labels.h"
#include "lase/graph/split.h"
#include "lase/ingest/categories.h"
#include "lase/ingest/label_fields.h"
#include "lase/ingest/link_file.h"
#include "lase/ingest/text_features.h"

namespace lase {

const OptionTable<NodeOptions>& node_option_table() {
  static const auto table = [] {
    using O = NodeOptions;
    OptionTable<O> all;
    all.add(
        "nodes", &O::file, any(),
        "Table of nodes with a column for the id and, optionally, for label, split and features "
        "(default: the nodes are the endpoints of the links)");
    all.add("nodes_header", &O::header, one_of<Header>(),
            "Whether the first line of the table of nodes is a header");
    all.add("nodes_delimiter", &O::delimiter, any(),
            "Field delimiter of the table of nodes (default: detected)");
    all.add("id", &O::id, any(),
            "Column with the node id (default: 'id', or the first; for sets, the row number)");
    all.add(
        "unknown_nodes", &O::unknown, one_of<UnknownNodes>(),
        "Links to nodes that are not in the table of nodes: stop with an error, add the nodes, or "
        "drop the links");
    all.add("label", &O::label, any(),
            "Column with the class of a node; an empty field means unknown. Without a table of "
            "nodes, a column of the table of links");
    all.add("label_of", &O::label_of, one_of<LabelOf>(),
            "The node whose class is in a column of the table of links");
    all.add("multi_label", &O::multi_label, any(), "Column with several classes per node");
    all.add("label_separator", &O::label_separator, any(),
            "Separator between the classes of a node or link");
    all.add("regress", &O::target, any(), "Columns with regression targets");
    all.add(
        "split", &O::split, any(),
        "Column with train, val or test; or percentages of a random split, stratified by label: "
        "65/15/20, or 80/20 for train and test, with a tenth of train as validation");
    all.add("validation", &O::validation, below(0, 100),
            "Percentage of the training nodes to use for validation, if the split column has no "
            "validation nodes (0 = none)");
    all.add("text", &O::text, any(), "Column with text, which is encoded as tf-idf features");
    all.add("text_min_count", &O::text_min_count, at_least(0),
            "Ignore words that occur in fewer training texts than this");
    all.add("features", &O::features, any(),
            "File with node features: .npy with rows in node order, or a table with the columns "
            "node, feature, value");
    all.add("feature_names", &O::feature_names, any(),
            "File with the names of these features in order, one per line");
    all.add("node_columns", &O::columns, any(),
            "Feature columns, or none (default: every column of numbers, dates and categories "
            "without another role, unless a file of features or a text column is given)");
    all.add("node_categorical", &O::categorical, any(),
            "Feature columns with categories, which are one-hot encoded (default: detected)");
    all.add("seed", &O::seed, any(), "Random seed for splits");
    return all;
  }();
  return table;
}

std::vector<std::string> NodeOptions::wanted_columns() const {
  std::vector<std::string> wanted = {id, label, multi_label, split, text};
  wanted.insert(wanted.end(), target.begin(), target.end());
  wanted.insert(wanted.end(), columns.begin(), columns.end());
  wanted.insert(wanted.end(), categorical.begin(), categorical.end());
  return wanted;
}

NodeReader::NodeReader(const NodeOptions& options, const TableOptions& table_options,
                       const Schema* schema)
    : NodeReader(options, schema) {
  const bool has_table = !options_.file.empty();
  for (const auto& [option, value] :
       {std::pair{"id", options_.id},
        {"multi_label", options_.multi_label},
        {"text", options_.text},
        {"features", options_.features},
        {"regress", options_.target.empty() ? "" : options_.target[0]},
        {"node_columns", options_.columns.empty() ? "" : options_.columns[0]},
        {"node_categorical", options_.categorical.empty() ? "" : options_.categorical[0]}}) {
    require_option(has_table || value.empty(), OptionName{option}, " ", quote(value), ": requires ",
                   OptionName{"nodes"}, ", a table of nodes");
  }
  require_option(has_table || options_.split.empty() || is_proportions(options_.split),
                 OptionName{"split"}, " ", quote(options_.split),
                 ": must be percentages such as 65/15/20, or a column of the table given by ",
                 OptionName{"nodes"});
  require_option(
      options_.validation == 0 || (!options_.split.empty() && !is_proportions(options_.split)),
      OptionName{"validation"}, ": requires ", OptionName{"split"}, " with the name of a column");
  require_option(!has_table || options_.label_of == LabelOf::kSource, OptionName{"label_of"},
                 " target: requires labels in the table of links, without ", OptionName{"nodes"});
  if (has_table) {
    TableOptions own = table_options;
    own.header = options_.header;
    own.delimiter = options_.delimiter;
    read_table(Table(options_.file, own, options_.wanted_columns()), false, "");
  }
}

NodeReader::NodeReader(const SetsOptions& options, const Schema* schema)
    : NodeReader(options.nodes, schema) {
  auto wanted = options_.wanted_columns();
  wanted.push_back(options.members);
  Table table(options.file, options.table, wanted);
  require_typed_columns(options.table, table);
  read_table(std::move(table), options_.id.empty(), options.members);
}

namespace {

// Fields of the rows of a chunk, as views of the text.
struct NodeChunk {
  std::vector<int64_t> line;
  std::vector<std::string_view> id, label, text, members, categories;
  std::vector<float> numbers, targets;
  std::vector<uint8_t> split;
};

// Columns by role; −1 if there is none.
struct Roles {
  int64_t id = -1, label = -1, text = -1, members = -1, split = -1;
  std::vector<int64_t> targets, numbers, categories;
};

std::vector<int64_t> columns_of(const Table& table, const std::vector<std::string>& names,
                                std::string_view option) {
  std::vector<int64_t> columns;
  columns.reserve(names.size());
  for (const auto& name : names) columns.push_back(table.column(name, option));
  return columns;
}

}  // namespace

void NodeReader::read_table(Table table, bool numbered, const std::string& members_column) {
  // By default, labels are in the same column as in the earlier graph.
  const bool labeled =
      !options_.label.empty() || !options_.multi_label.empty() || !options_.target.empty();
  const std::string earlier = schema_ != nullptr ? schema_->text("label_column") : "";
  if (!labeled && table.find(earlier)) options_.label = earlier;
  const auto& options = options_;
  require_split("split", options_.split, table);
  table_path_ = table.path();
  typed_ = table.typed_columns();
  require_one_of({{"label", !options.label.empty()},
                  {"multi_label", !options.multi_label.empty()},
                  {"regress", !options.target.empty()}});
  const auto role = [](std::string_view option, const std::string& named) {
    return ColumnRole{.option = option, .named = named, .required = false};
  };
  std::vector<ColumnRole> wanted;
  if (!numbered) {
    wanted.push_back({.option = "id", .named = options.id, .usual = {"id"}});
  }
  wanted.push_back(role("label", options.label));
  wanted.push_back(role("multi_label", options.multi_label));
  wanted.push_back(role("text", options.text));
  wanted.push_back(role("split", is_proportions(options.split) ? "" : options.split));
  wanted.push_back(role("members", members_column));
  ColumnRoles given(table, wanted);
  Roles roles{.id = given.at("id"),
              .label = std::max(given.at("label"), given.at("multi_label")),
              .text = given.at("text"),
              .members = given.at("members"),
              .split = given.at("split"),
              .targets = columns_of(table, options.target, "regress"),
              .numbers = {},
              .categories = columns_of(table, options.categorical, "node_categorical")};
  given.claim("regress", roles.targets);
  const StringTable* fixed_names = schema_ != nullptr ? &schema_->feature_names : nullptr;
  const auto add_feature = [&](int64_t column) {
    const auto& known = roles.categories;
    if (std::find(known.begin(), known.end(), column) != known.end()) return;
    const bool category = encoded_type(table, column, fixed_names) == ColumnType::kCategory;
    (category ? roles.categories : roles.numbers).push_back(column);
  };
  for (const auto& name : options.columns) {
    if (name != "none") add_feature(table.column(name, "node_columns"));
  }
  if (options.columns.empty() && options.features.empty() && options.text.empty()) {
    for (const int64_t column : given.rest()) {
      const ColumnType type = encoded_type(table, column, fixed_names);
      if (is_numeric(type) || type == ColumnType::kCategory) add_feature(column);
    }
  }
  given.claim("features", roles.numbers);
  given.claim("categories", roles.categories);
  tables_.push_back(given.report());
  const auto names_of = [&](const std::vector<int64_t>& columns) {
    std::vector<std::string> names;
    names.reserve(columns.size());
    for (const int64_t column : columns) {
      names.push_back(table.columns()[static_cast<size_t>(column)]);
    }
    return names;
  };
  encoder_.emplace(names_of(roles.numbers), names_of(roles.categories), fixed_names);
  StringTableBuilder labels;
  StringTableBuilder texts;
  StringTableBuilder members;
  const auto parse = [&](NodeChunk& chunk, const Row& row) {
    chunk.line.push_back(row.line());
    if (roles.id >= 0) {
      if (row.text(roles.id).empty()) row.fail(roles.id, "a node id");
      chunk.id.push_back(row.text(roles.id));
    }
    if (roles.label >= 0) chunk.label.push_back(row.text(roles.label));
    if (roles.text >= 0) chunk.text.push_back(row.text(roles.text));
    if (roles.members >= 0) chunk.members.push_back(row.text(roles.members));
    for (const int64_t column : roles.numbers) chunk.numbers.push_back(row.attribute(column));
    for (const int64_t column : roles.categories) chunk.categories.push_back(row.text(column));
    for (const int64_t column : roles.targets) chunk.targets.push_back(target_in(row, column));
    if (roles.split >= 0) chunk.split.push_back(split_in(row, roles.split));
  };
  const auto merge = [&](const NodeChunk& chunk) {
    for (size_t i = 0; i < chunk.line.size(); ++i) {
      const int64_t expected = names_.size();
      const int32_t id = names_.add(numbered ? std::to_string(expected) : chunk.id[i]);
      require(id == expected, table.path(), ": line ", chunk.line[i], ": node ", quote(names_[id]),
              " is listed twice");
    }
    for (const auto text : chunk.label) labels.add(text);
    for (const auto text : chunk.text) texts.add(text);
    for (const auto text : chunk.members) members.add(text);
    for (size_t i = 0; i < chunk.categories.size(); ++i) {
      const auto c = static_cast<int64_t>(i) % encoder_->categories();
      codes_.push_back(encoder_->code(c, chunk.categories[i]));
    }
    numbers_.insert(numbers_.end(), chunk.numbers.begin(), chunk.numbers.end());
    targets_.insert(targets_.end(), chunk.targets.begin(), chunk.targets.end());
    split_.insert(split_.end(), chunk.split.begin(), chunk.split.end());
  };
  table.read<NodeChunk>(parse, merge);
  listed_ = names_.size();
  require(listed_ > 0, table.path(), ": has no rows below its header, expected one per node");
  labels_ = labels.finish();
  texts_ = texts.finish();
  members_ = members.finish();
  if (encoder_->unseen() > 0) {
    notes_.push_back(
        join(grouped(encoder_->unseen()),
             " category values of nodes are not in the earlier graph and were ignored, "
             "such as ",
             encoder_->first_unseen()));
  }
}

namespace {

Attributes to_attributes(RawAttributes raw, int64_t rows) {
  if (raw.layout == Layout::kDense) {
    return Attributes::dense(raw.values.freeze(), rows, raw.columns);
  }
  std::vector<int64_t> row_ptr = {0};
  row_ptr.insert(row_ptr.end(), raw.row_end.begin(), raw.row_end.end());
  return {.layout = Layout::kSparse,
          .rows = rows,
          .columns = raw.columns,
          .values = raw.values.freeze(),
          .row_ptr = std::move(row_ptr),
          .column = raw.column.freeze(),
          .code = {}};
}

}  // namespace

// The columns of the table as features, with missing numbers replaced.
std::optional<Attributes> NodeReader::table_features(RawGraph& graph) {
  if (!encoder_ || encoder_->numbers() + encoder_->categories() == 0) return std::nullopt;
  const auto& split = graph.nodes.split;
  graph.preprocessing["node_means"] = encoder_->fill_missing(
      numbers_, schema_ != nullptr ? schema_->numbers("node_means") : std::vector<double>(),
      [&](int64_t node) {
        return split.empty() || split[node] == static_cast<uint8_t>(Split::kTrain);
      });
  // Dense columns are standardized in training, so they are preferred unless they are huge.
  constexpr int64_t kLargest = int64_t{1} << 28;
  const bool dense = listed_ * encoder_->width() <= kLargest;
  return to_attributes(
      encode_rows(*encoder_, numbers_, codes_, listed_, dense ? Layout::kDense : Layout::kSparse),
      listed_);
}

void NodeReader::set_label(int32_t u, int32_t v, std::string_view label, const std::string& path,
                           int64_t line) {
  if (label.empty()) return;
  const int32_t node = options_.label_of == LabelOf::kSource ? u : v;
  const auto at = static_cast<size_t>(node);
  if (at >= node_label_.size()) node_label_.resize(at + 1, -1);
  const int32_t code = link_labels_.add(label);
  const int32_t earlier = node_label_[at];
  if (earlier >= 0 && earlier != code) {
    fail(path, ": line ", line, ": node ", quote(names_[node]), " has the label ", quote(label),
         ", but ", quote(link_labels_[earlier]),
         " in an earlier row; a node has one label. If labels differ by row, they describe links; "
         "set ",
         OptionName{"link_label"}, " for these");
  }
  node_label_[at] = code;
}

std::optional<int32_t> NodeReader::node(std::string_view name, uint64_t hash,
                                        const std::string& path, int64_t line) {
  if (listed_ == 0) return names_.add(name, hash);
  const auto known = names_.find(name, hash);
  if (known) return known;
  require(options_.unknown != UnknownNodes::kError, path, ": line ", line, ": node ", quote(name),
          " is not in ", options_.file, "; set ", OptionName{"unknown_nodes"},
          " to add or drop to accept it");
  ++unknown_;
  if (options_.unknown == UnknownNodes::kDrop) return std::nullopt;
  return names_.add(name, hash);
}

namespace {

// Appends rows of zeros for nodes that are not in the table.
Attributes padded(const Attributes& matrix, int64_t rows) {
  if (matrix.rows == rows) return matrix;
  Attributes result = matrix;
  result.rows = rows;
  if (matrix.layout == Layout::kSparse) {
    std::vector<int64_t> row_ptr(matrix.row_ptr.begin(), matrix.row_ptr.end());
    row_ptr.resize(static_cast<size_t>(rows) + 1, row_ptr.back());
    result.row_ptr = std::move(row_ptr);
  } else {
    std::vector<float> values(matrix.values.begin(), matrix.values.end());
    values.resize(static_cast<size_t>(rows * matrix.columns));
    result.values = std::move(values);
  }
  return result;
}

}  // namespace

// Reads sparse features from a table of node, feature, value. Columns are in the order of
// `features`, then of appearance.
Attributes NodeReader::read_feature_table(Interner& features) const {
  Table table(options_.features, {.missing = "fail"}, {"node", "feature", "value"});
  require(table.column_count() == 3, table.path(), ": has ", table.column_count(),
          " columns, expected 3: node, feature, value");
  struct Entry {
    std::string_view node;
    std::string_view feature;
    float value;
    int64_t line;
  };
  std::vector<std::map<int32_t, float>> rows(static_cast<size_t>(listed_));
  using Chunk = std::vector<Entry>;
  const auto parse = [](Chunk& chunk, const Row& row) {
    chunk.push_back({row.text(0), row.text(1), row.attribute(2), row.line()});
  };
  const auto merge = [&](const Chunk& chunk) {
    for (const auto& [name, feature, value, line] : chunk) {
      const auto node = names_.find(name);
      require(node.has_value(), table.path(), ": line ", line, ": node ", quote(name),
              " is not in ", table_path_);
      rows[static_cast<size_t>(*node)][features.add(feature)] += value;
    }
  };
  table.read<Chunk>(parse, merge);
  Buffer<int64_t> row_ptr;
  Buffer<int32_t> column;
  Buffer<float> values;
  row_ptr.push_back(0);
  for (const auto& row : rows) {
    for (const auto& [feature, value] : row) {
      column.push_back(feature);
      values.push_back(value);
    }
    row_ptr.push_back(values.size());
  }
  return {.layout = Layout::kSparse,
          .rows = listed_,
          .columns = features.size(),
          .values = values.freeze(),
          .row_ptr = row_ptr.freeze(),
          .column = column.freeze(),
          .code = {}};
}

Attributes NodeReader::read_features(StringTableBuilder& names) const {
  Interner given;
  if (!options_.feature_names.empty()) {
    for (const auto& name : read_lines(options_.feature_names)) given.add(name);
  }
  Attributes matrix;
  if (options_.features.ends_with(".npy")) {
    auto file = read_npy(options_.features);
    require(file.rows == listed_, options_.features, ": has ", file.rows, " rows, expected ",
            listed_, ", one per node of ", table_path_);
    matrix = Attributes::dense(std::move(file.values), file.rows, file.columns);
    require(given.size() == 0 || given.size() == matrix.columns, options_.feature_names, ": has ",
            given.size(), " feature names, expected ", matrix.columns);
    for (int64_t j = given.size(); j < matrix.columns; ++j) given.add(join("feature ", j));
  } else {
    matrix = read_feature_table(given);
  }
  for (int64_t j = 0; j < given.size(); ++j) names.add(given[j]);
  return matrix;
}

void NodeReader::add_features(RawGraph& graph) {
  std::vector<Attributes> parts;
  StringTableBuilder names;
  if (const auto columns = table_features(graph)) {
    parts.push_back(*columns);
    for (const auto& name : encoder_->names()) names.add(name);
  }
  if (!options_.features.empty()) {
    parts.push_back(read_features(names));
  }
  if (!options_.text.empty()) {
    auto text = tf_idf(texts_, graph.nodes.split, options_.text, options_.text_min_count, schema_);
    for (int64_t j = 0; j < text.names.size(); ++j) names.add(text.names[j]);
    parts.push_back(std::move(text.features));
    graph.preprocessing["idf"] = std::move(text.idf);
  }
  if (parts.empty()) {
    graph.nodes.features.rows = size();
    return;
  }
  graph.nodes.features = padded(concat_columns(parts), size());
  graph.nodes.feature_names = names.finish();
}

void NodeReader::add_labels(RawGraph& graph) {
  // Nodes that appear only in links have no label.
  const auto text_of = [&](int64_t node) -> std::string_view {
    if (node < labels_.size()) return labels_[node];
    const auto at = static_cast<size_t>(node);
    if (at >= node_label_.size() || node_label_[at] < 0) return {};
    return link_labels_[node_label_[at]];
  };
  const auto texts = [&] {
    StringTableBuilder all;
    for (int64_t i = 0; i < size(); ++i) all.add(text_of(i));
    return all.finish();
  };
  const StringTable known = schema_ != nullptr ? schema_->label_names : StringTable{};
  if (!options_.label.empty()) {
    graph.preprocessing["label_column"] = options_.label;
    graph.nodes.labels = encode_labels(texts(), known);
  } else if (!options_.multi_label.empty()) {
    graph.nodes.labels = encode_multi_labels(texts(), options_.label_separator, known);
  } else if (!options_.target.empty()) {
    targets_.resize(static_cast<size_t>(size()) * options_.target.size(),
                    std::numeric_limits<float>::quiet_NaN());
    graph.nodes.labels = {.task = Task::kRegression,
                          .label = {},
                          .target = std::move(targets_),
                          .names = make_string_table(options_.target)};
  }
}

void NodeReader::add_split(RawGraph& graph) {
  if (options_.split.empty()) return;
  if (is_proportions(options_.split)) {
    auto [split, rare] = stratified_split(graph.nodes.labels, size(),
                                          parse_proportions(options_.split), options_.seed);
    graph.nodes.split = std::move(split);
    if (rare > 0) {
      notes_.push_back(join(grouped(rare), rare == 1 ? " node" : " nodes",
                            " of classes with fewer than three nodes ", rare == 1 ? "is" : "are",
                            " used for training"));
    }
    return;
  }
  split_.resize(static_cast<size_t>(size()), static_cast<uint8_t>(Split::kNone));
  graph.nodes.split = std::move(split_);
  if (options_.validation == 0) return;
  require_option(proportions_of(graph.nodes.split).val == 0, OptionName{"validation"},
                 ": the column ", quote(options_.split), " of ", options_.file,
                 " has validation nodes already");
  constexpr double kPercent = 100;
  graph.nodes.split = redraw_validation(graph.nodes.labels, graph.nodes.split,
                                        options_.validation / kPercent, options_.seed);
}

void NodeReader::finish(RawGraph& graph) {
  add_labels(graph);
  const auto warnings = label_warnings(graph.nodes.labels);
  graph.warnings.insert(graph.warnings.end(), warnings.begin(), warnings.end());
  add_split(graph);
  add_features(graph);
  if (unknown_ > 0) {
    const bool dropped = options_.unknown == UnknownNodes::kDrop;
    notes_.push_back(join(
        grouped(unknown_), " link endpoints missing from ", options_.file, "; ",
        dropped ? join(grouped(dropped_links_), " links dropped") : std::string("added as nodes")));
  }
  graph.tables.insert(graph.tables.end(), tables_.begin(), tables_.end());
  graph.notes.insert(graph.notes.end(), notes_.begin(), notes_.end());
  graph.nodes.names = names_.finish();
}

}  // namespace lase
