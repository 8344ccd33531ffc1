#include "lase/graph/merge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/interner.h"
#include "lase/base/memory.h"
#include "lase/base/parallel.h"

namespace lase {
namespace {

// leader[i]: the first raw link between the same nodes and in the same stage as raw link i (in the
// same direction if the graph is directed), or i itself if parallel links are kept.
Buffer<int64_t> find_leaders(const RawGraph& raw, const SortedArcs& arcs) {
  Buffer<int64_t> leader;
  leader.resize(raw.source.size());
  std::iota(leader.begin(), leader.end(), int64_t{0});
  if (raw.rules.parallel == Parallel::kKeep) return leader;
  const auto stages = merge_stages(raw);
  constexpr int64_t kRows = 4096;
  parallel_for(arcs.nodes(), kRows, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      std::array<int64_t, 4> current{};  // by stage: leader of the current parallel arcs, or −1
      for (int64_t i = arcs.begin(u); i < arcs.end(u); ++i) {
        const SortedArcs::Arc arc = arcs[i];
        if (!arcs.is_parallel(u, i)) current.fill(-1);
        const size_t stage = stages.empty() ? 0 : stages[static_cast<size_t>(arc.link)];
        if (current.at(stage) < 0) current.at(stage) = arc.link;
        // Both arcs of an undirected link give the same leader; only the lower node writes it.
        if (raw.rules.directed || u <= arc.neighbor) leader[arc.link] = current.at(stage);
      }
    }
  });
  return leader;
}

}  // namespace

std::span<const uint8_t> merge_stages(const RawGraph& raw) {
  if (!raw.targets || raw.rules.parallel == Parallel::kError) return {};
  return raw.targets->stage.span();
}

LinkGroups group_links(const RawGraph& raw, const SortedArcs& arcs) {
  const LinkRules& rules = raw.rules;
  LinkGroups groups;
  groups.row = find_leaders(raw, arcs);
  for (int64_t i = 0; i < groups.row.size(); ++i) {
    const int32_t u = raw.source[i];
    const int32_t v = raw.target[i];
    groups.self_loops += u == v ? 1 : 0;
    if (u == v && rules.self_loops == SelfLoops::kError) {
      fail("a link joins node ", quote(raw.nodes.names[u]), " to itself; set ",
           OptionName{"self_loops"}, " to drop or keep to accept self-loops");
    }
    if (u == v && rules.self_loops == SelfLoops::kDrop) {
      groups.row[i] = -1;
      continue;
    }
    const int64_t leader = groups.row[i];  // ≤ i, so its row is set unless it is i
    const bool repeated = leader != i;
    if (repeated && rules.parallel == Parallel::kError) {
      fail("two links join ", quote(raw.nodes.names[u]), " and ", quote(raw.nodes.names[v]),
           "; set ", OptionName{"duplicate_links"}, " to merge or keep to accept parallel links");
    }
    groups.merged += repeated ? 1 : 0;
    const int64_t link =
        repeated ? groups.row[leader] / (rules.separate_directions ? 2 : 1) : groups.links++;
    groups.row[i] = attribute_row(rules.separate_directions, link, u, v);
  }
  return groups;
}

namespace {

// Combines two values of a column; means are divided by the count later.
float combined(Merge merge, float into, float value) {
  switch (merge) {
    case Merge::kSum:
    case Merge::kMean:
      return into + value;
    case Merge::kMax:
      return std::max(into, value);
    case Merge::kMin:
      return std::min(into, value);
    case Merge::kFirst:
      return into;
  }
  return into;
}

// Merges dense rows: [raw links, k] → [rows, k]. `rules`: [k].
Attributes merge_dense(RawAttributes& raw, std::span<const int64_t> row_of, int64_t rows,
                       const std::vector<ColumnRule>& rules, bool in_place) {
  const int64_t k = raw.columns;
  if (k == 0) return Attributes::dense({}, rows, 0);
  Buffer<float> result;
  if (!in_place) {
    require_memory(static_cast<double>(rows * k) * sizeof(float), "dense link attributes", "set ",
                   OptionName{"layout"}, " to sparse, or import fewer columns");
    result.resize(rows * k);
    std::fill(result.begin(), result.end(), 0.0F);
  }
  float* out = in_place ? raw.values.data() : result.data();
  std::vector<int32_t> merged(static_cast<size_t>(rows));
  for (size_t i = 0; i < row_of.size(); ++i) {
    if (row_of[i] < 0) continue;
    const float* from = raw.values.data() + static_cast<int64_t>(i) * k;
    float* to = out + row_of[i] * k;
    if (merged[static_cast<size_t>(row_of[i])]++ == 0) {
      std::memmove(to, from, static_cast<size_t>(k) * sizeof(float));
    } else {
      for (int64_t j = 0; j < k; ++j) {
        to[j] = combined(rules[static_cast<size_t>(j)].merge, to[j], from[j]);
      }
    }
  }
  for (int64_t j = 0; j < k; ++j) {
    if (rules[static_cast<size_t>(j)].merge != Merge::kMean) continue;
    for (int64_t row = 0; row < rows; ++row) {
      out[row * k + j] /= static_cast<float>(std::max(1, merged[static_cast<size_t>(row)]));
    }
  }
  if (in_place) {
    result = std::move(raw.values);
    result.resize(rows * k);
  }
  return Attributes::dense(result.freeze(), rows, k);
}

// Merges sparse rows to [rows, k]: gathers the stored values of each row, sorts them by column and
// combines those of the same column. A raw link without a stored value there counts as zero.
Attributes merge_sparse(RawAttributes& raw, std::span<const int64_t> row_of, int64_t rows,
                        const std::vector<ColumnRule>& rules) {
  const bool first_only = std::all_of(rules.begin(), rules.end(), [](const ColumnRule& rule) {
    return rule.merge == Merge::kFirst;
  });
  struct Stored {
    int32_t column;
    float value;
  };
  const auto raw_start = [&](size_t i) {
    return i == 0 ? 0 : raw.row_end[static_cast<int64_t>(i) - 1];
  };
  const auto raw_end = [&](size_t i) { return raw.row_end[static_cast<int64_t>(i)]; };
  std::vector<int64_t> start(static_cast<size_t>(rows) + 1);
  std::vector<int32_t> raw_links(static_cast<size_t>(rows));
  // Calls visit(i, row), in order, for the raw links whose values are used.
  const auto for_each_raw = [&](const auto& visit) {
    std::fill(raw_links.begin(), raw_links.end(), 0);
    for (size_t i = 0; i < row_of.size(); ++i) {
      if (row_of[i] < 0) continue;
      const auto row = static_cast<size_t>(row_of[i]);
      if (raw_links[row]++ == 0 || !first_only) visit(i, row);
    }
  };
  for_each_raw([&](size_t i, size_t row) { start[row + 1] += raw_end(i) - raw_start(i); });
  for (size_t row = 0; row < raw_links.size(); ++row) start[row + 1] += start[row];
  std::vector<int64_t> next(start.begin(), start.end() - 1);
  std::vector<Stored> stored(static_cast<size_t>(start.back()));
  for_each_raw([&](size_t i, size_t row) {
    for (int64_t j = raw_start(i); j < raw_end(i); ++j) {
      stored[static_cast<size_t>(next[row]++)] = {raw.column[j], raw.values[j]};
    }
  });
  raw = {};
  // Afterwards the first kept[row] elements of a row's range are its merged values.
  std::vector<int64_t> kept(static_cast<size_t>(rows));
  constexpr int64_t kRows = 4096;
  parallel_for(rows, kRows, [&](int64_t begin, int64_t end) {
    for (auto row = static_cast<size_t>(begin); row < static_cast<size_t>(end); ++row) {
      const auto from = stored.begin() + start[row];
      const auto to = stored.begin() + start[row + 1];
      // Stable: values of the same column stay in the order of the raw links.
      std::stable_sort(from, to,
                       [](const Stored& a, const Stored& b) { return a.column < b.column; });
      auto out = from;
      for (auto at = from; at != to;) {
        Stored merged = *at;
        const Merge merge = rules[static_cast<size_t>(merged.column)].merge;
        int32_t count = 1;
        for (++at; at != to && at->column == merged.column; ++at, ++count) {
          merged.value = combined(merge, merged.value, at->value);
        }
        if ((merge == Merge::kMax || merge == Merge::kMin) && count < raw_links[row]) {
          merged.value = combined(merge, merged.value, 0);
        }
        if (merge == Merge::kMean) merged.value /= static_cast<float>(raw_links[row]);
        if (merged.value != 0) *out++ = merged;
      }
      kept[row] = out - from;
    }
  });
  Attributes result;
  result.layout = Layout::kSparse;
  result.rows = rows;
  Buffer<int64_t> row_ptr;
  Buffer<int32_t> column;
  Buffer<float> values;
  row_ptr.push_back(0);
  for (size_t row = 0; row < kept.size(); ++row) {
    for (int64_t i = start[row]; i < start[row] + kept[row]; ++i) {
      column.push_back(stored[static_cast<size_t>(i)].column);
      values.push_back(stored[static_cast<size_t>(i)].value);
    }
    row_ptr.push_back(values.size());
  }
  result.row_ptr = row_ptr.freeze();
  result.column = column.freeze();
  result.values = values.freeze();
  return result;
}

// Pairs directions, [2 links, k] → [2 links, 2k]: row 2l is [row 2l, row 2l+1], and row 2l+1 is
// [row 2l+1, row 2l].
Attributes pair_directions(const Attributes& base) {
  Attributes result;
  result.layout = base.layout;
  result.rows = base.rows;
  result.columns = 2 * base.columns;
  Buffer<int64_t> row_ptr;
  Buffer<int32_t> column;
  Buffer<float> values;
  row_ptr.push_back(0);
  const bool sparse = base.layout == Layout::kSparse;
  for (int64_t row = 0; row < base.rows; ++row) {
    for (const int64_t half : {int64_t{0}, int64_t{1}}) {
      base.for_each(row ^ half, [&](int64_t j, float value) {
        values.push_back(value);
        if (sparse) column.push_back(static_cast<int32_t>(half * base.columns + j));
      });
    }
    if (sparse) row_ptr.push_back(values.size());
  }
  result.values = values.freeze();
  if (sparse) {
    result.row_ptr = row_ptr.freeze();
    result.column = column.freeze();
  }
  return result;
}

float transformed(Transform transform, float value) {
  switch (transform) {
    case Transform::kNone:
      return value;
    case Transform::kLog1p:
      return std::copysign(std::log1p(std::abs(value)), value);
    case Transform::kBinary:
      return value != 0 ? 1.0F : 0.0F;
  }
  return value;
}

}  // namespace

void transform(Attributes& matrix, const std::vector<ColumnRule>& rules) {
  const bool none = std::all_of(rules.begin(), rules.end(), [](const ColumnRule& rule) {
    return rule.transform == Transform::kNone;
  });
  if (none) return;
  std::vector<float> values(matrix.values.begin(), matrix.values.end());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t column =
        matrix.layout == Layout::kSparse ? int64_t{matrix.column[at]} : at % matrix.columns;
    values[i] = transformed(rules[static_cast<size_t>(column)].transform, values[i]);
  }
  matrix.values = std::move(values);
}

std::vector<ColumnRule> column_rules(const RawGraph& raw) {
  if (!raw.column_rules.empty()) return raw.column_rules;
  return std::vector(static_cast<size_t>(raw.attributes.columns),
                     ColumnRule{raw.rules.merge, raw.rules.transform});
}

namespace {

// Throws Error if merging finite numbers overflowed.
void check_finite(const Attributes& merged, const RawGraph& raw, const LinkGroups& groups) {
  constexpr int64_t kRows = 4096;
  parallel_for(merged.rows, kRows, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      merged.for_each(row, [&](int64_t, float value) {
        if (std::isfinite(value)) return;
        const int64_t i = std::find(groups.row.begin(), groups.row.end(), row) - groups.row.begin();
        fail("the attributes of the links between ", quote(raw.nodes.names[raw.source[i]]), " and ",
             quote(raw.nodes.names[raw.target[i]]),
             " overflow single precision when they are summed");
      });
    }
  });
}

}  // namespace

Attributes merge_attributes(RawGraph& raw, const LinkGroups& groups) {
  const LinkRules& rules = raw.rules;
  const int64_t rows = groups.rows(rules.separate_directions);
  const int64_t columns = raw.attributes.columns;
  const auto by_column = column_rules(raw);
  Attributes merged =
      raw.attributes.layout == Layout::kSparse
          ? merge_sparse(raw.attributes, groups.row, rows, by_column)
          : merge_dense(raw.attributes, groups.row, rows, by_column, !rules.separate_directions);
  merged.columns = columns;
  if (groups.merged > 0) check_finite(merged, raw, groups);
  transform(merged, by_column);
  if (rules.separate_directions) merged = pair_directions(merged);
  return merged;
}

namespace {

// Stores each distinct row once; nullopt if there are more than `limit`.
std::optional<Attributes> dictionary_encoded(const Attributes& matrix, int64_t limit) {
  Interner distinct;
  std::vector<int32_t> code;
  std::vector<float> values(static_cast<size_t>(matrix.columns));
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                               values.size() * sizeof(float));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    matrix.copy_row(row, values.data());
    code.push_back(distinct.add(bytes));
    if (distinct.size() > limit) return std::nullopt;
  }
  std::vector<float> table(static_cast<size_t>(distinct.size() * matrix.columns));
  for (int64_t c = 0; c < distinct.size(); ++c) {
    std::memcpy(table.data() + c * matrix.columns, distinct[c].data(), bytes.size());
  }
  return Attributes{.layout = Layout::kDictionary,
                    .rows = matrix.rows,
                    .columns = matrix.columns,
                    .values = std::move(table),
                    .row_ptr = {},
                    .column = {},
                    .code = std::move(code)};
}

Attributes to_dense(const Attributes& matrix) {
  std::vector<float> values(static_cast<size_t>(matrix.rows * matrix.columns));
  for (int64_t row = 0; row < matrix.rows; ++row) {
    matrix.copy_row(row, values.data() + row * matrix.columns);
  }
  return Attributes::dense(std::move(values), matrix.rows, matrix.columns);
}

}  // namespace

Attributes choose_layout(Attributes matrix, LayoutRule rule) {
  if (matrix.columns == 0) return Attributes::dense({}, matrix.rows, 0);
  const auto dense_bytes =
      static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns) * 4;
  // kEncodeFew: at most one row in eight is distinct, and the table stays small.
  constexpr int64_t kMaxCodes = 1 << 16;
  constexpr int64_t kRepeats = 8;
  switch (rule) {
    case LayoutRule::kAsRead:
      return matrix;
    case LayoutRule::kEncodeFew:
      if (matrix.layout != Layout::kDense) return matrix;
      return dictionary_encoded(matrix, std::min(kMaxCodes, matrix.rows / kRepeats))
          .value_or(matrix);
    case LayoutRule::kSmaller:
      return dense_bytes <= static_cast<double>(matrix.bytes()) ? to_dense(matrix) : matrix;
    case LayoutRule::kDense:
      return matrix.layout == Layout::kDense ? matrix : to_dense(matrix);
    case LayoutRule::kSparse:
      return matrix.layout == Layout::kSparse ? matrix : to_sparse(matrix);
    case LayoutRule::kDictionary:
      return *dictionary_encoded(matrix, matrix.rows);
  }
  return matrix;
}

}  // namespace lase
