// Links with attribute columns: source, target, then numbers or categories.

#include <algorithm>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/ingest/categories.h"
#include "lase/ingest/link_file.h"

namespace lase {
namespace {

struct LinkPayload {
  std::vector<float> numbers;                // [rows, numeric columns]
  std::vector<std::string_view> categories;  // [rows, categorical columns]
};

// Positions of the numeric and the categorical columns.
struct Chosen {
  std::vector<int64_t> numbers;
  std::vector<int64_t> categories;
};

// The type of a column that the options do not name: as in the earlier graph, or as detected.
ColumnType type_of(const Table& table, int64_t column, const Schema* schema) {
  if (schema == nullptr) return table.type(column);
  const auto& name = table.columns()[static_cast<size_t>(column)];
  for (int64_t i = 0; i < schema->attribute_names.size(); ++i) {
    const auto known = schema->attribute_names[i];
    if (known == name) return ColumnType::kNumber;
    if (known.starts_with(name + "=")) return ColumnType::kCategory;
  }
  return ColumnType::kText;
}

Chosen choose(const Table& table, const LinksOptions& options, const ColumnRoles& roles,
              const Schema* schema) {
  const auto& columns = options.columns;
  Chosen chosen;
  for (const auto& name : options.categorical) {
    chosen.categories.push_back(table.column(name, "categorical"));
  }
  const auto add = [&](int64_t column) {
    const auto& known = chosen.categories;
    if (std::find(known.begin(), known.end(), column) == known.end()) {
      chosen.numbers.push_back(column);
    }
  };
  if (columns.empty()) {
    for (const int64_t column : roles.rest()) {
      const ColumnType type = type_of(table, column, schema);
      const auto& known = chosen.categories;
      const bool named = std::find(known.begin(), known.end(), column) != known.end();
      if (type == ColumnType::kCategory && !named) chosen.categories.push_back(column);
      if (type == ColumnType::kNumber || type == ColumnType::kDate) add(column);
    }
  } else if (columns != std::vector<std::string>{"none"}) {
    for (const auto& name : columns) add(table.column(name, "columns"));
  }
  return chosen;
}

std::vector<std::string> names_of(const Table& table, const std::vector<int64_t>& columns) {
  std::vector<std::string> names;
  names.reserve(columns.size());
  for (const int64_t column : columns) {
    names.push_back(table.columns()[static_cast<size_t>(column)]);
  }
  return names;
}

// Whether both ends of a raw link are training nodes, or the graph has no split.
bool is_training(const RawGraph& graph, int64_t link) {
  const auto& split = graph.nodes.split;
  const auto in_training = [&](int64_t node) {
    return split.empty() || split[node] == static_cast<uint8_t>(Split::kTrain);
  };
  return in_training(graph.source[link]) && in_training(graph.target[link]);
}

// Combines numbers and category codes into one matrix; sparse if there are many categories.
RawAttributes expand(const Buffer<float>& numbers, const Buffer<int32_t>& codes, int64_t links,
                     const ColumnEncoder& encoder) {
  RawAttributes result;
  result.columns = encoder.width();
  const int64_t stored = encoder.numbers() + encoder.categories();
  constexpr int64_t kSparser = 4;
  result.layout = result.columns > kSparser * stored ? Layout::kSparse : Layout::kDense;
  const auto numbers_of = [&](int64_t link) {
    const auto width = static_cast<size_t>(encoder.numbers());
    return std::span(numbers.data() + link * encoder.numbers(), width);
  };
  const auto codes_of = [&](int64_t link) {
    const auto width = static_cast<size_t>(encoder.categories());
    return std::span(codes.data() + link * encoder.categories(), width);
  };
  for (int64_t link = 0; link < links; ++link) {
    if (result.layout == Layout::kDense) {
      const int64_t first = result.values.size();
      result.values.resize(first + result.columns);
      float* row = result.values.data() + first;
      std::fill_n(row, result.columns, 0.0F);
      encoder.for_each(link, numbers_of(link), codes_of(link),
                       [&](int64_t column, float value) { row[column] = value; });
    } else {
      encoder.for_each(link, numbers_of(link), codes_of(link), [&](int64_t column, float value) {
        result.add_value(static_cast<int32_t>(column), value);
      });
      result.end_row();
    }
  }
  return result;
}

}  // namespace

const OptionTable<LinksOptions>& links_option_table() {
  static const auto table = [] {
    using O = LinksOptions;
    OptionTable<O> all;
    all.include(link_table_option_table(Merging::kChosen));
    all.add("columns", &O::columns, any(),
            "Attribute columns, or none (default: all columns of numbers, dates and categories); "
            "dates become days since 1970");
    all.add("categorical", &O::categorical, any(),
            "Attribute columns with categories, which are one-hot encoded (default: detected)");
    return all;
  }();
  return table;
}

RawGraph read_links(const LinksOptions& options, const Schema* schema) {
  links_option_table().check(options);
  check(options.rules);
  RawGraph graph;
  graph.rules = options.rules;
  graph.layout_rule = layout_rule(options.layout, LayoutRule::kEncodeFew);
  NodeReader nodes(options.nodes, options.table, schema);
  auto wanted = options.columns;
  wanted.insert(wanted.end(), options.categorical.begin(), options.categorical.end());
  wanted.insert(wanted.end(), {options.source, options.target});
  Table table(options.file, options.table, wanted);
  ColumnRoles roles(table, {source_role(options), target_role(options)});
  const Chosen chosen = choose(table, options, roles, schema);
  roles.claim("attributes", chosen.numbers);
  roles.claim("categories", chosen.categories);
  graph.tables.push_back(roles.report());
  ColumnEncoder encoder(names_of(table, chosen.numbers), names_of(table, chosen.categories),
                        schema != nullptr ? &schema->attribute_names : nullptr);
  Buffer<float> numbers;
  Buffer<int32_t> codes;
  const auto parse = [&](LinkPayload& payload, const Row& row) {
    for (const int64_t column : chosen.numbers) payload.numbers.push_back(row.attribute(column));
    for (const int64_t column : chosen.categories) payload.categories.push_back(row.text(column));
  };
  const auto add = [&](const LinkPayload& payload, size_t i) {
    const auto width = static_cast<size_t>(encoder.numbers());
    numbers.append(std::span(payload.numbers).subspan(i * width, width));
    for (int64_t c = 0; c < encoder.categories(); ++c) {
      const size_t at = i * static_cast<size_t>(encoder.categories()) + static_cast<size_t>(c);
      codes.push_back(encoder.code(c, payload.categories[at]));
    }
  };
  read_link_rows<LinkPayload>(table, roles.at("source"), roles.at("target"), nodes, graph, parse,
                              add);
  nodes.finish(graph);
  graph.preprocessing["link_means"] = encoder.fill_missing(
      {numbers.data(), static_cast<size_t>(numbers.size())},
      schema != nullptr ? schema->numbers("link_means") : std::vector<double>(),
      [&](int64_t link) { return is_training(graph, link); });
  if (encoder.width() == encoder.numbers()) {
    graph.attributes.columns = encoder.numbers();
    graph.attributes.values = std::move(numbers);
  } else {
    graph.attributes = expand(numbers, codes, graph.source.size(), encoder);
  }
  graph.attribute_names = make_string_table(encoder.names());
  if (encoder.unseen() > 0) {
    graph.notes.push_back(
        join(grouped(encoder.unseen()),
             " category values of links are not in the earlier graph and were ignored"));
  }
  return graph;
}

}  // namespace lase
