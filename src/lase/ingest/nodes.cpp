#include "lase/ingest/nodes.h"

#include <algorithm>
#include <limits>
#include <map>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/npy.h"
#include "lase/graph/encode_labels.h"
#include "lase/ingest/categories.h"
#include "lase/ingest/link_file.h"
#include "lase/ingest/text_features.h"

namespace lase {

const OptionTable<NodeOptions>& node_option_table() {
  static const auto table = [] {
    using O = NodeOptions;
    OptionTable<O> all;
    all.add("nodes", &O::file, any(),
            "Table of nodes with columns for id, label, split and features");
    all.add("id", &O::id, any(),
            "Column with the node id (default: 'id', or the first; for sets, the row number)");
    all.add(
        "unknown_nodes", &O::unknown, one_of<UnknownNodes>(),
        "Links to nodes that are not in the table of nodes: stop with an error, add the nodes, or "
        "drop the links");
    all.add("label", &O::label, any(),
            "Column with the class of a node; an empty field means unknown");
    all.add("multi_label", &O::multi_label, any(), "Column with several classes per node");
    all.add("label_separator", &O::label_separator, any(),
            "Separator between the classes of a node");
    all.add("regress", &O::target, any(), "Columns with regression targets");
    all.add("split", &O::split, any(),
            "Column with train, val or test; or proportions of a random split, such as 65/15/20");
    all.add("text", &O::text, any(), "Column with text, which is encoded as tf-idf features");
    all.add("text_min_count", &O::text_min_count, at_least(0),
            "Ignore words that occur in fewer training texts than this");
    all.add("features", &O::features, any(),
            "File with node features: .npy with rows in node order, or a table with the columns "
            "node, feature, value");
    all.add("feature_names", &O::feature_names, any(),
            "File with the names of these features in order, one per line");
    all.add("node_columns", &O::columns, any(),
            "Feature columns, or none (default: every numeric column without another role, unless "
            "features or text are given)");
    all.add("node_categorical", &O::categorical, any(),
            "Feature columns with categories, which are one-hot encoded");
    all.add("seed", &O::seed, any(), "Random seed for the split");
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
        {"label", options_.label},
        {"multi_label", options_.multi_label},
        {"text", options_.text},
        {"features", options_.features},
        {"regress", options_.target.empty() ? "" : options_.target[0]},
        {"node_columns", options_.columns.empty() ? "" : options_.columns[0]},
        {"node_categorical", options_.categorical.empty() ? "" : options_.categorical[0]}}) {
    require_option(has_table || value.empty(), OptionName{option}, " ", quote(value), ": requires ",
                   OptionName{"nodes"}, ", a table of nodes");
  }
  require_option(has_table || options_.split.empty() || is_shares(options_.split),
                 OptionName{"split"}, " ", quote(options_.split),
                 ": must be proportions such as 65/15/20, or a column of the table given by ",
                 OptionName{"nodes"});
  if (has_table) {
    read_table(Table(options_.file, table_options, options_.wanted_columns()), false, "");
  }
}

NodeReader::NodeReader(const SetsOptions& options, const Schema* schema)
    : NodeReader(options.nodes, schema) {
  auto wanted = options_.wanted_columns();
  wanted.push_back(options.members);
  read_table(Table(options.file, options.table, wanted), options_.id.empty(), options.members);
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

}  // namespace

void NodeReader::read_table(Table table, bool numbered, const std::string& members_column) {
  const auto& options = options_;
  table_path_ = table.path();
  require_option(options.label.empty() || options.multi_label.empty(), OptionName{"label"}, " and ",
                 OptionName{"multi_label"}, " are mutually exclusive");
  require_option(options.target.empty() || (options.label.empty() && options.multi_label.empty()),
                 OptionName{"regress"}, " and ", OptionName{"label"}, " are mutually exclusive");
  Roles roles;
  std::vector<bool> used(static_cast<size_t>(table.column_count()));
  const auto use = [&](const std::string& name, std::string_view role) -> int64_t {
    const int64_t column = table.column(name, role);
    used[static_cast<size_t>(column)] = true;
    return column;
  };
  const auto use_given = [&](const std::string& name, std::string_view role) -> int64_t {
    return name.empty() ? -1 : use(name, role);
  };
  if (!numbered) {
    roles.id = options.id.empty() ? table.find("id").value_or(0) : table.column(options.id, "id");
    used[static_cast<size_t>(roles.id)] = true;
  }
  roles.label = use_given(options.label.empty() ? options.multi_label : options.label, "label");
  roles.text = use_given(options.text, "text");
  if (!is_shares(options.split)) roles.split = use_given(options.split, "split");
  roles.members = use_given(members_column, "members");
  for (const auto& name : options.target) roles.targets.push_back(use(name, "regress"));
  const auto is_category = [&](const std::string& name) {
    const auto& all = options.categorical;
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  std::vector<std::string> numbers;
  for (const auto& name : options.columns) {
    if (name == "none" || is_category(name)) continue;
    roles.numbers.push_back(use(name, "node_columns"));
    numbers.push_back(table.columns()[static_cast<size_t>(roles.numbers.back())]);
  }
  for (const auto& name : options.categorical) {
    roles.categories.push_back(use(name, "node_categorical"));
  }
  const bool find_numbers =
      options.columns.empty() && options.features.empty() && options.text.empty();
  std::string ignored;
  for (int64_t column = 0; column < table.column_count(); ++column) {
    if (used[static_cast<size_t>(column)]) continue;
    const auto& name = table.columns()[static_cast<size_t>(column)];
    if (find_numbers && table.numeric(column)) {
      roles.numbers.push_back(column);
      numbers.push_back(name);
    } else {
      ignored += (ignored.empty() ? "" : ", ") + name;
    }
  }
  if (!ignored.empty()) ignored_ = join("columns ", ignored, " of ", table.path());

  ColumnEncoder encoder(std::move(numbers), options.categorical,
                        schema_ != nullptr ? &schema_->feature_names : nullptr);
  StringTableBuilder labels;
  StringTableBuilder texts;
  StringTableBuilder members;
  std::vector<float> values;   // [nodes, numbers]
  std::vector<int32_t> codes;  // [nodes, categories]
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
    for (const int64_t column : roles.targets) {
      const bool unknown = row.text(column).empty();
      chunk.targets.push_back(unknown ? std::numeric_limits<float>::quiet_NaN()
                                      : row.attribute(column));
    }
    if (roles.split >= 0) {
      const auto split = split_from_word(row.text(roles.split));
      if (!split) row.fail(roles.split, "train, val, test or an empty field");
      chunk.split.push_back(static_cast<uint8_t>(*split));
    }
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
      const auto c = static_cast<int64_t>(i) % encoder.categories();
      codes.push_back(encoder.code(c, chunk.categories[i]));
    }
    values.insert(values.end(), chunk.numbers.begin(), chunk.numbers.end());
    targets_.insert(targets_.end(), chunk.targets.begin(), chunk.targets.end());
    split_.insert(split_.end(), chunk.split.begin(), chunk.split.end());
  };
  table.read<NodeChunk>(parse, merge);
  listed_ = names_.size();
  require(listed_ > 0, table.path(), ": has no rows below its header, expected one per node");
  labels_ = labels.finish();
  texts_ = texts.finish();
  members_ = members.finish();
  if (encoder.numbers() + encoder.categories() == 0) return;

  const int64_t width = encoder.width();
  std::vector<float> matrix(static_cast<size_t>(listed_ * width));
  for (int64_t node = 0; node < listed_; ++node) {
    float* row = matrix.data() + node * width;
    for (int64_t j = 0; j < encoder.numbers(); ++j) {
      row[j] = values[static_cast<size_t>(node * encoder.numbers() + j)];
    }
    for (int64_t c = 0; c < encoder.categories(); ++c) {
      const int32_t code = codes[static_cast<size_t>(node * encoder.categories() + c)];
      if (code >= 0) row[encoder.column_of(c, code)] = 1;
    }
  }
  columns_ = Attributes::dense(std::move(matrix), listed_, width);
  column_names_ = encoder.names();
  if (encoder.unseen() > 0) {
    notes_.push_back(
        join(grouped(encoder.unseen()),
             " category values of nodes are not in the earlier graph and were ignored"));
  }
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
  Table table(options_.features, {}, {"node", "feature", "value"});
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
  if (columns_) {
    parts.push_back(*columns_);
    for (const auto& name : column_names_) names.add(name);
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
  const auto texts = [&] {
    StringTableBuilder all;
    for (int64_t i = 0; i < size(); ++i) {
      all.add(i < labels_.size() ? labels_[i] : std::string_view());
    }
    return all.finish();
  };
  const StringTable known = schema_ != nullptr ? schema_->label_names : StringTable{};
  if (!options_.label.empty()) {
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
  if (is_shares(options_.split)) {
    graph.nodes.split = random_split(size(), options_.split, options_.seed);
    return;
  }
  split_.resize(static_cast<size_t>(size()), static_cast<uint8_t>(Split::kNone));
  graph.nodes.split = std::move(split_);
}

void NodeReader::finish(RawGraph& graph) {
  add_split(graph);
  add_features(graph);
  add_labels(graph);
  if (unknown_ > 0) {
    const bool dropped = options_.unknown == UnknownNodes::kDrop;
    notes_.push_back(join(
        grouped(unknown_), " link endpoints missing from ", options_.file, "; ",
        dropped ? join(grouped(dropped_links_), " links dropped") : std::string("added as nodes")));
  }
  graph.ignored = std::move(ignored_);
  graph.notes.insert(graph.notes.end(), notes_.begin(), notes_.end());
  graph.nodes.names = names_.finish();
}

}  // namespace lase
