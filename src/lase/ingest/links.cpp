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

struct Payload {
  std::vector<float> numbers;                // [rows, numeric columns]
  std::vector<std::string_view> categories;  // [rows, categorical columns]
};

// Positions of the numeric and the categorical columns.
struct Chosen {
  std::vector<int64_t> numbers;
  std::vector<int64_t> categories;
};

Chosen choose(const Table& table, const std::vector<std::string>& columns,
              const std::vector<std::string>& categorical, int64_t source, int64_t target) {
  Chosen chosen;
  for (const auto& name : categorical) {
    chosen.categories.push_back(table.column(name, "categorical"));
  }
  const auto add = [&](int64_t column) {
    const auto& known = chosen.categories;
    if (std::find(known.begin(), known.end(), column) == known.end()) {
      chosen.numbers.push_back(column);
    }
  };
  if (columns.empty()) {
    for (int64_t column = 0; column < table.column_count(); ++column) {
      if (column != source && column != target) add(column);
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

// Combines numbers and category codes into one matrix; sparse if there are many categories.
RawAttributes expand(const Buffer<float>& numbers, const Buffer<int32_t>& codes, int64_t links,
                     const ColumnEncoder& encoder) {
  RawAttributes result;
  result.columns = encoder.width();
  const int64_t stored = encoder.numbers() + encoder.categories();
  constexpr int64_t kSparser = 4;
  result.layout = result.columns > kSparser * stored ? Layout::kSparse : Layout::kDense;
  for (int64_t link = 0; link < links; ++link) {
    const float* number = numbers.data() + link * encoder.numbers();
    if (result.layout == Layout::kDense) {
      const int64_t first = result.values.size();
      result.values.resize(first + result.columns);
      float* row = result.values.data() + first;
      std::fill_n(row, result.columns, 0.0F);
      std::copy_n(number, encoder.numbers(), row);
      for (int64_t c = 0; c < encoder.categories(); ++c) {
        const int32_t code = codes[link * encoder.categories() + c];
        if (code >= 0) row[encoder.column_of(c, code)] = 1;
      }
    } else {
      for (int64_t j = 0; j < encoder.numbers(); ++j) {
        if (number[j] == 0) continue;
        result.column.push_back(static_cast<int32_t>(j));
        result.values.push_back(number[j]);
      }
      for (int64_t c = 0; c < encoder.categories(); ++c) {
        const int32_t code = codes[link * encoder.categories() + c];
        if (code < 0) continue;
        result.column.push_back(static_cast<int32_t>(encoder.column_of(c, code)));
        result.values.push_back(1);
      }
      result.row_end.push_back(result.values.size());
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
            "Attribute columns, or none (default: all columns except source and target)");
    all.add("categorical", &O::categorical, any(),
            "Attribute columns with categories, which are one-hot encoded");
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
  ColumnRoles roles(table, {{"source", options.source}, {"target", options.target}});
  const int64_t source = roles.source(options);
  const int64_t target = roles.target(options);
  const Chosen chosen = choose(table, options.columns, options.categorical, source, target);
  ColumnEncoder encoder(names_of(table, chosen.numbers), names_of(table, chosen.categories),
                        schema != nullptr ? &schema->attribute_names : nullptr);
  Buffer<float> numbers;
  Buffer<int32_t> codes;
  const auto parse = [&](Payload& payload, const Row& row) {
    for (const int64_t column : chosen.numbers) payload.numbers.push_back(row.attribute(column));
    for (const int64_t column : chosen.categories) payload.categories.push_back(row.text(column));
  };
  const auto add = [&](const Payload& payload, size_t i) {
    const auto width = static_cast<size_t>(encoder.numbers());
    numbers.append(std::span(payload.numbers).subspan(i * width, width));
    for (int64_t c = 0; c < encoder.categories(); ++c) {
      const size_t at = i * static_cast<size_t>(encoder.categories()) + static_cast<size_t>(c);
      codes.push_back(encoder.code(c, payload.categories[at]));
    }
  };
  read_link_rows<Payload>(table, source, target, nodes, graph, parse, add);
  if (encoder.categories() == 0) {
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
  nodes.finish(graph);
  return graph;
}

}  // namespace lase
