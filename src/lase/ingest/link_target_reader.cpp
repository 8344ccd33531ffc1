#include "lase/ingest/link_target_reader.h"

#include <algorithm>
#include <array>
#include <limits>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/graph/encode_labels.h"
#include "lase/graph/schema.h"
#include "lase/graph/split.h"
#include "lase/ingest/label_fields.h"

namespace lase {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
constexpr const char* kLabelColumn = "link_label_column";  // in the preprocessing

Task task_of(const LinkTargetOptions& options) {
  if (!options.label.empty()) return Task::kSingleLabel;
  if (!options.multi_label.empty()) return Task::kMultiLabel;
  return options.regress.empty() ? Task::kNone : Task::kRegression;
}

// The columns of labels of the earlier graph, if the table has them.
void add_earlier_labels(LinkTargetOptions& options, const Schema& schema, const Table& table) {
  const std::string column = schema.text(kLabelColumn);
  switch (schema.link_task) {
    case Task::kNone:
      break;
    case Task::kSingleLabel:
      if (table.find(column)) options.label = column;
      break;
    case Task::kMultiLabel:
      if (table.find(column)) options.multi_label = column;
      break;
    case Task::kRegression:
      for (int64_t i = 0; i < schema.link_label_names.size(); ++i) {
        options.regress.emplace_back(schema.link_label_names[i]);
      }
      if (std::any_of(options.regress.begin(), options.regress.end(),
                      [&](const std::string& name) { return !table.find(name); })) {
        options.regress.clear();
      }
      break;
  }
}

void check(const LinkTargetOptions& options) {
  require_one_of({{"link_label", !options.label.empty()},
                  {"link_multi_label", !options.multi_label.empty()},
                  {"link_regress", !options.regress.empty()}});
  const bool by_time = options.split_by != LinkSplitBy::kRandom;
  require_option(!by_time || is_proportions(options.split), OptionName{"link_split_by"}, " ",
                 name_of(options.split_by), ": requires proportions in ", OptionName{"link_split"},
                 ", such as 80/10/10");
  if (is_proportions(options.split)) parse_proportions(options.split, "link_split");
  require_option(by_time || options.time.empty(), OptionName{"link_time"}, " ", quote(options.time),
                 ": requires ", OptionName{"link_split_by"}, " time or first_time");
}

// [distinct, width] → [codes, width]
template <class T>
Array<T> by_code(const Array<T>& distinct, const Buffer<int32_t>& code, int64_t width = 1) {
  Buffer<T> all;
  for (const int32_t c : code) all.append(distinct.slice(c * width, (c + 1) * width));
  return all.freeze();
}

}  // namespace

const OptionTable<LinkTargetOptions>& link_target_option_table() {
  static const auto table = [] {
    using O = LinkTargetOptions;
    OptionTable<O> all;
    all.add(
        "link_label", &O::label, any(),
        "Column with the class of each row, to be predicted; an empty field means unknown. Like "
        "the columns of the next options, it is not an attribute unless it is listed as one");
    all.add("link_multi_label", &O::multi_label, any(), "Column with several classes per row");
    all.add("link_regress", &O::regress, any(), "Columns with regression targets of each row");
    all.add("link_split", &O::split, any(),
            "Column with train, val or test for each row; or percentages such as 80/10/10. Rows "
            "between the same nodes are merged within each split only");
    all.add("link_split_by", &O::split_by, one_of<LinkSplitBy>(),
            "How percentages split rows: at random, all rows between two nodes together; by time, "
            "the earliest for training; or by the first time of two nodes, where only rows between "
            "nodes that no earlier split links are predicted");
    all.add("link_time", &O::time, any(),
            "Column with times or numbers, for splits by time (default: the column of times of the "
            "links, if any)");
    return all;
  }();
  return table;
}

LinkTargetReader::LinkTargetReader(const LinkTableOptions& options, const Table& table,
                                   const Schema* schema)
    : options_(options.targets),
      separator_(options.nodes.label_separator),
      seed_(options.nodes.seed),
      schema_(schema),
      column_names_(table.columns()) {
  check(options_);
  require_split("link_split", options_.split, table);
  const bool earlier = schema != nullptr && schema->has_targets;
  if (earlier && task_of(options_) == Task::kNone) add_earlier_labels(options_, *schema, table);
  task_ = task_of(options_);
  has_targets_ = task_ != Task::kNone || !options_.split.empty() || earlier;
  if (!earlier || schema->link_task == Task::kNone) return;
  require_option(task_ == Task::kNone || task_ == schema->link_task, "the link labels are ",
                 task_name(task_), ", but those of the earlier graph are ",
                 task_name(schema->link_task));
  task_ = schema->link_task;
}

std::vector<ColumnRole> LinkTargetReader::roles() const {
  std::vector<ColumnRole> wanted;
  const auto add = [&](std::string_view option, const std::string& named, bool shared) {
    if (named.empty()) return;
    wanted.push_back({.option = option, .named = named, .required = false, .shared = shared});
  };
  add("link_label", options_.label, true);
  add("link_multi_label", options_.multi_label, true);
  for (const auto& name : options_.regress) add("link_regress", name, true);
  if (!is_proportions(options_.split)) add("link_split", options_.split, false);
  add("link_time", options_.time, true);
  return wanted;
}

void LinkTargetReader::assign(const ColumnRoles& roles) {
  for (const auto* option : {"link_label", "link_multi_label", "link_regress"}) {
    const auto columns = roles.all(option);
    label_columns_.insert(label_columns_.end(), columns.begin(), columns.end());
  }
  split_column_ = roles.at("link_split");
  if (!by_time()) return;
  time_column_ = roles.at("link_time");
  if (time_column_ < 0) time_column_ = roles.at("time");
  require_option(time_column_ >= 0, OptionName{"link_split_by"}, " ", name_of(options_.split_by),
                 ": requires ", OptionName{"link_time"}, ", the column with the time of each row");
}

bool LinkTargetReader::is_label(int64_t column) const {
  return std::find(label_columns_.begin(), label_columns_.end(), column) != label_columns_.end();
}

void LinkTargetReader::parse(Fields& fields, const Row& row) const {
  for (const int64_t column : label_columns_) {
    if (task_ == Task::kRegression) {
      fields.numbers.push_back(target_in(row, column));
    } else {
      fields.label.push_back(row.text(column));
    }
  }
  if (split_column_ >= 0) fields.split.push_back(split_in(row, split_column_));
  if (time_column_ >= 0) fields.time.push_back(row.time(time_column_));
}

void LinkTargetReader::add(const Fields& fields, size_t i) {
  const size_t width = label_columns_.size();
  if (!fields.label.empty()) code_.push_back(texts_.add(fields.label[i]));
  if (!fields.numbers.empty()) numbers_.append(std::span(fields.numbers).subspan(i * width, width));
  if (!fields.split.empty()) split_.push_back(fields.split[i]);
  if (!fields.time.empty()) times_.push_back(fields.time[i]);
}

std::vector<std::string> LinkTargetReader::label_column_names() const {
  std::vector<std::string> names;
  for (const int64_t column : label_columns_) {
    names.push_back(column_names_[static_cast<size_t>(column)]);
  }
  return names;
}

// Without a column of labels, all are unknown.
Labels LinkTargetReader::labels(int64_t links) {
  const StringTable known = schema_ != nullptr ? schema_->link_label_names : StringTable{};
  const bool given = !label_columns_.empty();
  const auto unknown = [&] {
    return std::vector(static_cast<size_t>(links * known.size()), kUnknown);
  };
  switch (task_) {
    case Task::kNone:
      return {};
    case Task::kSingleLabel: {
      Labels labels = encode_labels(texts_.finish(), known);
      labels.label = given ? by_code(labels.label, code_)
                           : std::vector<int32_t>(static_cast<size_t>(links), -1);
      return labels;
    }
    case Task::kMultiLabel: {
      Labels labels = encode_multi_labels(texts_.finish(), separator_, known);
      labels.target =
          given ? by_code(labels.target, code_, labels.classes()) : Array<float>(unknown());
      return labels;
    }
    case Task::kRegression:
      return {.task = task_,
              .label = {},
              .target = given ? numbers_.freeze() : Array<float>(unknown()),
              .names = given ? make_string_table(label_column_names()) : known};
  }
  return {};
}

void LinkTargetReader::split_links(const RawGraph& graph, RawTargets& targets) const {
  if (split_column_ >= 0) {
    targets.split = std::vector<uint8_t>(split_.begin(), split_.end());
    std::vector<uint8_t> stage(split_.begin(), split_.end());
    for (uint8_t& part : stage) {
      if (part == static_cast<uint8_t>(Split::kNone)) part = static_cast<uint8_t>(Split::kTrain);
    }
    targets.stage = std::move(stage);
    return;
  }
  const Proportions proportions = parse_proportions(options_.split, "link_split");
  switch (options_.split_by) {
    case LinkSplitBy::kRandom:
      targets.stage =
          random_link_split(graph.source, graph.target, graph.nodes.names, proportions, seed_);
      targets.split = targets.stage;
      break;
    case LinkSplitBy::kTime:
      targets.stage = time_split(times_, proportions);
      targets.split = targets.stage;
      break;
    case LinkSplitBy::kFirstTime: {
      auto [stage, split] = first_time_split(graph.source, graph.target, times_, proportions);
      targets.stage = std::move(stage);
      targets.split = std::move(split);
      break;
    }
  }
}

void LinkTargetReader::add_split(RawGraph& graph, RawTargets& targets) const {
  if (options_.split.empty()) return;
  split_links(graph, targets);
  std::array<int64_t, 4> count{};  // by Split
  for (const uint8_t part : targets.split) ++count.at(part);
  const int64_t repeated = count[static_cast<size_t>(Split::kNone)];
  if (repeated > 0 && options_.split_by == LinkSplitBy::kFirstTime) {
    graph.notes.push_back(join(grouped(repeated),
                               " rows between nodes that an earlier split links pass messages, but "
                               "are not predicted"));
  }
  if (split_column_ >= 0 || graph.source.empty()) return;
  const auto [train, val, test] = parse_proportions(options_.split, "link_split");
  for (const auto& [split, proportion] :
       {std::pair{Split::kTrain, train}, {Split::kVal, val}, {Split::kTest, test}}) {
    if (proportion == 0 || count.at(static_cast<size_t>(split)) > 0) continue;
    const std::string message =
        join(OptionName{"link_split"}, " ", options_.split, " by ", name_of(options_.split_by),
             ": no row is left for the split ", split_name(split),
             by_time() ? ", because rows with equal times stay together" : "");
    require_option(split != Split::kTrain, message);
    graph.warnings.push_back(message);
  }
}

void LinkTargetReader::finish(RawGraph& graph) {
  if (!has_targets_) return;
  RawTargets targets;
  targets.labels = labels(graph.source.size());
  const auto warnings = label_warnings(targets.labels);
  graph.warnings.insert(graph.warnings.end(), warnings.begin(), warnings.end());
  const auto columns = label_column_names();
  if (!columns.empty() && task_ != Task::kRegression) {
    graph.preprocessing[kLabelColumn] = columns[0];
  }
  add_split(graph, targets);
  graph.targets = std::move(targets);
}

}  // namespace lase
