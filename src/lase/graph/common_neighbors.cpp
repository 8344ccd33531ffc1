#include "lase/graph/common_neighbors.h"

#include <array>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

#include "lase/base/interner.h"
#include "lase/base/memory.h"
#include "lase/base/parallel.h"
#include "lase/graph/merge.h"
#include "lase/graph/partition_methods.h"

namespace lase {
namespace {

// N(u), ascending.
struct NeighborList {
  NeighborList(const WeightedGraph& graph, int64_t u)
      : begin(graph.neighbor.data() + graph.row_ptr[u]),
        end(graph.neighbor.data() + graph.row_ptr[u + 1]) {}
  int64_t size() const { return end - begin; }
  static bool is_hidden(const int32_t*) { return false; }

  const int32_t* begin;
  const int32_t* end;
};

// The dictionary with another column; nullopt if there are too many distinct rows.
std::optional<Attributes> with_column(const Attributes& dictionary, const Array<float>& column) {
  constexpr int64_t kMostCodes = 1 << 16;
  constexpr int64_t kRepeats = 8;
  const int64_t limit = std::min(kMostCodes, dictionary.rows / kRepeats);
  struct Row {
    int32_t code;  // in the dictionary
    float value;
  };
  Interner distinct;
  Buffer<int32_t> code;
  code.resize(dictionary.rows);
  for (int64_t i = 0; i < dictionary.rows; ++i) {
    const Row row{dictionary.code[i], column[i]};
    code[i] = distinct.add({reinterpret_cast<const char*>(&row), sizeof row});
    if (distinct.size() > limit) return std::nullopt;
  }
  Attributes all = dictionary;
  ++all.columns;
  Buffer<float> values;
  for (int64_t c = 0; c < distinct.size(); ++c) {
    Row row{};
    std::memcpy(&row, distinct[c].data(), sizeof row);
    const int64_t first = row.code * dictionary.columns;
    for (int64_t j = 0; j < dictionary.columns; ++j) values.push_back(dictionary.values[first + j]);
    values.push_back(row.value);
  }
  all.values = values.freeze();
  all.code = code.freeze();
  return all;
}

}  // namespace

Array<float> common_neighbors(const Graph& graph) {
  const WeightedGraph neighborhoods =
      without_directions(graph, join("train with ", OptionName{"common_neighbors"}, " off"));
  const int64_t rows_per_link = graph.separate_directions ? 2 : 1;
  Buffer<float> logs;
  logs.resize(graph.links * rows_per_link);
  std::fill(logs.begin(), logs.end(), 0.0F);
  constexpr int64_t kNodes = 64;
  parallel_for(graph.node_count(), kNodes, [&](int64_t first, int64_t last) {
    for (int64_t u = first; u < last; ++u) {
      const NeighborList of_u(neighborhoods, u);
      for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
        const int64_t v = graph.neighbor[i];
        if (!graph.directed && v < u) continue;  // the other arc of the link, from v to u
        int64_t common = 0;
        for_each_common(of_u, NeighborList(neighborhoods, v), [&](int32_t) { ++common; });
        const int64_t row = graph.link_of_row(graph.link[i]) * rows_per_link;
        const auto log = static_cast<float>(std::log1p(static_cast<double>(common)));
        std::fill_n(logs.data() + row, rows_per_link, log);
      }
    }
  });
  return logs.freeze();
}

void add_common_neighbors(Graph& graph) {
  Attributes& attributes = graph.link_attributes;
  Array<float> column = common_neighbors(graph);
  const int64_t rows = column.size();
  const auto columns = static_cast<double>(attributes.columns + 1);
  const double bytes = attributes.layout == Layout::kSparse
                           ? static_cast<double>(attributes.bytes())
                           : static_cast<double>(rows) * columns * sizeof(float);
  require_memory(bytes, "link attributes with common neighbors", "train with ",
                 OptionName{"common_neighbors"}, " off");
  std::optional<Attributes> encoded;
  if (attributes.layout == Layout::kDictionary) encoded = with_column(attributes, column);
  if (!encoded) {
    const std::array parts{attributes, Attributes::dense(std::move(column), rows, 1)};
    const bool was_dictionary = attributes.layout == Layout::kDictionary;
    encoded = choose_layout(concat_columns(parts),
                            was_dictionary ? LayoutRule::kSmaller : LayoutRule::kAsRead);
  }
  attributes = *std::move(encoded);
  StringTableBuilder names;
  for (int64_t j = 0; j < graph.attribute_names.size(); ++j) names.add(graph.attribute_names[j]);
  names.add(kCommonNeighbors);
  graph.attribute_names = names.finish();
}

}  // namespace lase
