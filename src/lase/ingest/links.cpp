// Links with attribute columns: source, target, then numbers or categories.

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/ingest/categories.h"
#include "lase/ingest/events.h"
#include "lase/ingest/link_file.h"
#include "lase/ingest/time_slices.h"

namespace lase {
namespace {

struct LinkPayload {
  std::vector<double> times;
  std::vector<float> numbers;                // [rows, numeric columns]
  std::vector<std::string_view> categories;  // [rows, categorical columns]
};

// Positions of the numeric and the categorical columns.
struct Chosen {
  std::vector<int64_t> numbers;
  std::vector<int64_t> categories;
};

// `fixed_names`: the encoded columns of an earlier graph, or null.
Chosen choose(const Table& table, const LinksOptions& options, const ColumnRoles& roles,
              const StringTable* fixed_names) {
  const auto& named = options.attributes;
  Chosen chosen;
  for (const auto& name : options.categorical) {
    chosen.categories.push_back(table.column(name, "categorical"));
  }
  const auto add = [&](int64_t column, ColumnType type) {
    const auto& known = chosen.categories;
    if (std::find(known.begin(), known.end(), column) != known.end()) return;
    auto& columns = type == ColumnType::kCategory ? chosen.categories : chosen.numbers;
    columns.push_back(column);
  };
  if (named.empty()) {
    for (const int64_t column : roles.rest()) {
      const ColumnType type = encoded_type(table, column, fixed_names);
      if (is_numeric(type) || type == ColumnType::kCategory) add(column, type);
    }
  } else if (named != std::vector<std::string>{"none"}) {
    for (const auto& name : named) {
      const int64_t column = table.column(name, "attributes");
      add(column, encoded_type(table, column, fixed_names));
    }
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

// The column of times: as given, as in the earlier graph, or none.
std::string time_column(const LinksOptions& options, const Schema* schema) {
  if (!options.time.empty() || schema == nullptr) return options.time;
  const auto earlier = schema->preprocessing.find("time_column");
  const bool known = earlier != schema->preprocessing.end() && earlier->is_string();
  return known ? earlier->get<std::string>() : "";
}

// Throws Error if options that depend on times contradict the others.
void check_time(const LinksOptions& options, bool timed) {
  require_option(timed || options.slices == SliceOptions(), OptionName{"slices"}, ", ",
                 OptionName{"slices_by"}, ", ", OptionName{"slicing"}, " and ",
                 OptionName{"counts"}, " require ", OptionName{"time"});
  if (!timed) return;
  require_option(options.rules.parallel != Parallel::kKeep, OptionName{"duplicate_links"},
                 " keep: cannot be combined with ", OptionName{"time"},
                 ", which merges the rows of a link");
  require_option(options.rules.merge == Merge::kSum, OptionName{"merge"},
                 ": cannot be combined with ", OptionName{"time"},
                 ", which gives sum, mean and maximum");
}

// Dates of merged links are averaged, since their sum has no meaning.
std::vector<ColumnRule> date_rules(const Table& table, const Chosen& chosen, int64_t width,
                                   Merge merge) {
  std::vector<ColumnRule> rules(static_cast<size_t>(width), ColumnRule{.merge = merge});
  bool dates = false;
  for (size_t j = 0; j < chosen.numbers.size(); ++j) {
    if (table.type(chosen.numbers[j]) != ColumnType::kDate || merge != Merge::kSum) continue;
    rules[j].merge = Merge::kMean;
    dates = true;
  }
  return dates ? rules : std::vector<ColumnRule>();
}

}  // namespace

const OptionTable<LinksOptions>& links_option_table() {
  static const auto table = [] {
    using O = LinksOptions;
    OptionTable<O> all;
    all.include(link_table_option_table(Merging::kChosen));
    all.add("attributes", &O::attributes, any(),
            "Attribute columns, or none (default: all columns of numbers, dates and categories); "
            "dates become days since 1970");
    all.add("categorical", &O::categorical, any(),
            "Attribute columns with categories, which are one-hot encoded (default: detected)");
    all.add("time", &O::time, any(),
            "Column with times, if rows are events such as transactions. Links then have the "
            "number of rows, the first and last time, sum, mean and maximum of each number, and "
            "counts and sums per category and per time slice");
    all.include(slice_option_table(), &O::slices);
    all.group("Attributes");
    return all;
  }();
  return table;
}

static RawGraph read_link_table(const LinksOptions& options, const Schema* schema) {
  links_option_table().check(options);
  check(options.rules);
  RawGraph graph;
  if (!options.table.date_format.empty()) {
    graph.preprocessing["date_format"] = options.table.date_format;
  }
  graph.rules = options.rules;
  const std::string named_time = time_column(options, schema);
  const bool timed = !named_time.empty();
  check_time(options, timed);
  graph.layout_rule =
      layout_rule(options.layout, timed ? LayoutRule::kSmaller : LayoutRule::kEncodeFew);
  NodeReader nodes(options.nodes, options.table, schema);
  auto wanted = options.attributes;
  wanted.insert(wanted.end(), options.categorical.begin(), options.categorical.end());
  wanted.insert(wanted.end(), {options.source, options.target, named_time});
  Table table(options.file, options.table, wanted);
  require_typed_columns(options.table, table, nodes.typed_columns());
  std::vector<ColumnRole> wanted_roles = link_roles(options);
  if (timed) wanted_roles.push_back(time_role(named_time, true));
  ColumnRoles roles(table, wanted_roles);
  std::optional<StringTable> fixed;
  if (schema != nullptr) {
    const auto slices = std::ssize(schema->numbers("slice_boundaries")) - 1;
    fixed =
        timed ? encoded_event_columns(schema->attribute_names, slices) : schema->attribute_names;
  }
  const StringTable* fixed_names = fixed ? &*fixed : nullptr;
  const Chosen chosen = choose(table, options, roles, fixed_names);
  roles.claim("attributes", chosen.numbers);
  roles.claim("categories", chosen.categories);
  graph.tables.push_back(roles.report());
  ColumnEncoder encoder(names_of(table, chosen.numbers), names_of(table, chosen.categories),
                        fixed_names);
  std::vector<double> times;
  Buffer<float> numbers;
  Buffer<int32_t> codes;
  const int64_t time = roles.at("time");
  const auto parse = [&](LinkPayload& payload, const Row& row) {
    if (timed) payload.times.push_back(row.time(time));
    for (const int64_t column : chosen.numbers) payload.numbers.push_back(row.attribute(column));
    for (const int64_t column : chosen.categories) payload.categories.push_back(row.text(column));
  };
  const auto add = [&](const LinkPayload& payload, size_t i) {
    if (timed) times.push_back(payload.times[i]);
    const auto width = static_cast<size_t>(encoder.numbers());
    numbers.append(std::span(payload.numbers).subspan(i * width, width));
    for (int64_t c = 0; c < encoder.categories(); ++c) {
      const size_t at = i * static_cast<size_t>(encoder.categories()) + static_cast<size_t>(c);
      codes.push_back(encoder.code(c, payload.categories[at]));
    }
  };
  read_link_rows<LinkPayload>(table, roles, nodes, graph, parse, add);
  nodes.finish(graph);
  const std::span<float> all_numbers(numbers.data(), static_cast<size_t>(numbers.size()));
  const std::span<const int32_t> all_codes(codes.data(), static_cast<size_t>(codes.size()));
  graph.preprocessing["link_means"] = encoder.fill_missing(
      all_numbers, schema != nullptr ? schema->numbers("link_means") : std::vector<double>(),
      [&](int64_t link) { return is_training(graph, link); });
  if (timed) {
    const TimeSlices slices(options.slices, times, options.file, schema);
    const EventColumns columns(slices, encoder, table.columns()[static_cast<size_t>(time)]);
    const auto number_count = static_cast<size_t>(encoder.numbers());
    const auto category_count = static_cast<size_t>(encoder.categories());
    graph.attributes.layout = Layout::kSparse;
    int64_t outside = 0;
    for (size_t i = 0; i < times.size(); ++i) {
      const bool inside = columns.add(graph.attributes, static_cast<int64_t>(i), times[i],
                                      all_numbers.subspan(i * number_count, number_count),
                                      all_codes.subspan(i * category_count, category_count));
      outside += inside ? 0 : 1;
    }
    const auto names = columns.names();
    graph.attributes.columns = std::ssize(names);
    graph.attribute_names = make_string_table(names);
    graph.column_rules = columns.rules(options.slices.counts);
    graph.preprocessing["time_column"] = table.columns()[static_cast<size_t>(time)];
    slices.store(graph.preprocessing);
    slices.report(graph, std::ssize(times), outside);
  } else {
    if (encoder.width() == encoder.numbers()) {
      graph.attributes.columns = encoder.numbers();
      graph.attributes.values = std::move(numbers);
    } else {
      constexpr int64_t kSparser = 4;
      const int64_t stored = encoder.numbers() + encoder.categories();
      const bool sparse = encoder.width() > kSparser * stored;
      graph.attributes = encode_rows(encoder, all_numbers, all_codes, graph.source.size(),
                                     sparse ? Layout::kSparse : Layout::kDense);
    }
    graph.attribute_names = make_string_table(encoder.names());
    graph.column_rules = date_rules(table, chosen, graph.attributes.columns, options.rules.merge);
    if (!graph.column_rules.empty()) {
      graph.notes.push_back(join("dates of several rows between the same nodes are averaged; set ",
                                 OptionName{"time"},
                                 " to the column of dates for counts and sums per time slice"));
    }
  }
  if (encoder.unseen() > 0) {
    graph.notes.push_back(
        join(grouped(encoder.unseen()),
             " category values of links are not in the earlier graph and were ignored, such as ",
             encoder.first_unseen()));
  }
  return graph;
}

RawGraph read_links(const LinksOptions& options, const Schema* schema) {
  return read_link_table(like_earlier(options, schema), schema);
}

}  // namespace lase
