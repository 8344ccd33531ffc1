#include "lase/graph/make_targets.h"

#include <algorithm>
#include <vector>

#include "lase/base/memory.h"

namespace lase {
namespace {

// Rows of raw links that were not dropped, and the columns that the label does not determine.
struct Selection {
  std::vector<int64_t> rows;
  std::vector<int64_t> columns;
  std::vector<int32_t> column_at;  // [raw columns]: new position, or −1
};

Selection select(const RawGraph& raw, const LinkGroups& groups) {
  Selection selection;
  for (int64_t i = 0; i < groups.row.size(); ++i) {
    if (groups.row[i] >= 0) selection.rows.push_back(i);
  }
  const auto& left_out = raw.targets->label_columns;
  for (int64_t j = 0; j < raw.attributes.columns; ++j) {
    const bool kept = !std::binary_search(left_out.begin(), left_out.end(), j);
    selection.column_at.push_back(kept ? static_cast<int32_t>(selection.columns.size()) : -1);
    if (kept) selection.columns.push_back(j);
  }
  return selection;
}

// [raw, width] → [rows, width]: copies the selected rows.
template <class T>
Array<T> select_rows(const Array<T>& values, const Selection& selection, int64_t width = 1) {
  Buffer<T> selected;
  if (values.empty()) return selected.freeze();
  for (const int64_t row : selection.rows) {
    selected.append(values.slice(row * width, (row + 1) * width));
  }
  return selected.freeze();
}

Attributes select_dense(const RawAttributes& raw, const Selection& selection) {
  const auto rows = std::ssize(selection.rows);
  const auto columns = std::ssize(selection.columns);
  require_memory(static_cast<double>(rows * columns) * sizeof(float), "attributes of link targets",
                 "import fewer columns");
  Buffer<float> values;
  values.resize(rows * columns);
  float* to = values.data();
  for (const int64_t row : selection.rows) {
    const float* from = raw.values.data() + row * raw.columns;
    for (const int64_t column : selection.columns) *to++ = from[column];
  }
  return Attributes::dense(values.freeze(), rows, columns);
}

Attributes select_sparse(const RawAttributes& raw, const Selection& selection) {
  Buffer<int64_t> row_ptr;
  Buffer<int32_t> column;
  Buffer<float> values;
  row_ptr.push_back(0);
  for (const int64_t row : selection.rows) {
    for (int64_t i = row == 0 ? 0 : raw.row_end[row - 1]; i < raw.row_end[row]; ++i) {
      const int32_t to = selection.column_at[static_cast<size_t>(raw.column[i])];
      if (to < 0 || raw.values[i] == 0) continue;
      column.push_back(to);
      values.push_back(raw.values[i]);
    }
    row_ptr.push_back(values.size());
  }
  return {.layout = Layout::kSparse,
          .rows = std::ssize(selection.rows),
          .columns = std::ssize(selection.columns),
          .values = values.freeze(),
          .row_ptr = row_ptr.freeze(),
          .column = column.freeze(),
          .code = {}};
}

Attributes select_attributes(const RawGraph& raw, const Selection& selection) {
  Attributes selected = raw.attributes.layout == Layout::kSparse
                            ? select_sparse(raw.attributes, selection)
                            : select_dense(raw.attributes, selection);
  const auto all_rules = column_rules(raw);
  std::vector<ColumnRule> rules;
  for (const int64_t column : selection.columns) {
    rules.push_back(all_rules[static_cast<size_t>(column)]);
  }
  transform(selected, rules);
  return choose_layout(std::move(selected), raw.layout_rule);
}

}  // namespace

Array<uint8_t> split_of_links(const RawGraph& raw, const LinkGroups& groups) {
  const auto& stage = raw.targets->stage;
  if (stage.empty()) return {};
  std::vector<uint8_t> split(static_cast<size_t>(groups.links));
  for (int64_t i = 0; i < groups.row.size(); ++i) {
    if (groups.row[i] < 0) continue;
    const int64_t link = raw.rules.separate_directions ? groups.row[i] / 2 : groups.row[i];
    split[static_cast<size_t>(link)] = stage[i];
  }
  return split;
}

LinkTargets make_targets(const RawGraph& raw, const LinkGroups& groups) {
  const RawTargets& from = *raw.targets;
  const Selection selection = select(raw, groups);
  LinkTargets targets;
  Buffer<int32_t> source;
  Buffer<int32_t> target;
  for (const int64_t row : selection.rows) {
    source.push_back(raw.source[row]);
    target.push_back(raw.target[row]);
  }
  targets.source = source.freeze();
  targets.target = target.freeze();
  targets.attributes = select_attributes(raw, selection);
  StringTableBuilder names;
  for (const int64_t column : selection.columns) names.add(raw.attribute_names[column]);
  targets.attribute_names = names.finish();
  targets.labels = {.task = from.labels.task,
                    .label = select_rows(from.labels.label, selection),
                    .target = select_rows(from.labels.target, selection, from.labels.classes()),
                    .names = from.labels.names};
  targets.split = select_rows(from.split, selection);
  targets.relations = from.relations;
  return targets;
}

}  // namespace lase
