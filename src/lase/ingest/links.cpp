// Links with attribute columns: source, target, then numbers or categories.

#include <algorithm>
#include <functional>
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

// Whether a raw link and both of its ends are in the training splits, as far as the graph has any.
bool is_training(const RawGraph& graph, int64_t link) {
  const auto& split = graph.nodes.split;
  const auto in_training = [&](int64_t node) {
    return split.empty() || split[node] == static_cast<uint8_t>(Split::kTrain);
  };
  const bool in_stage = !graph.targets || graph.targets->stage.empty() ||
                        graph.targets->stage[link] == static_cast<uint8_t>(Split::kTrain);
  return in_stage && in_training(graph.source[link]) && in_training(graph.target[link]);
}

// The column of times: as given, as in the earlier graph, or none.
std::string time_column(const LinksOptions& options, const Schema* schema) {
  if (!options.time.empty() || schema == nullptr) return options.time;
  return schema->text("time_column");
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

namespace {

// Reads a table of links: its rows first, then the attributes of the links.
class LinkTableReader {
 public:
  LinkTableReader(const LinksOptions& options, const Schema* schema)
      : options_(options),
        schema_(schema),
        time_name_(time_column(options, schema)),
        graph_(empty_graph(options, timed() ? LayoutRule::kSmaller : LayoutRule::kEncodeFew)),
        nodes_(options.nodes, options.table, schema),
        table_(options.file, options.table, all_named_columns()),
        targets_(options, table_, schema),
        roles_(table_, wanted_roles()) {
    check_time(options, timed());
    require_typed_columns(options.table, table_, nodes_.typed_columns());
    if (schema != nullptr) {
      const auto slices = std::ssize(schema->numbers("slice_boundaries")) - 1;
      const auto& names = schema->attribute_names;
      fixed_names_ = timed() ? encoded_event_columns(names, slices) : names;
    }
    const StringTable* fixed = fixed_names_ ? &*fixed_names_ : nullptr;
    chosen_ = choose(table_, options, roles_, fixed);
    targets_.assign(roles_);
    roles_.claim("attributes", chosen_.numbers);
    roles_.claim("categories", chosen_.categories);
    graph_.tables.push_back(roles_.report());
    encoder_.emplace(names_of(table_, chosen_.numbers), names_of(table_, chosen_.categories),
                     fixed);
  }

  RawGraph read() {
    read_rows();
    nodes_.finish(graph_);
    targets_.finish(graph_);
    graph_.preprocessing["link_means"] = encoder_->fill_missing(
        all_numbers(), schema_ != nullptr ? schema_->numbers("link_means") : std::vector<double>(),
        [&](int64_t link) { return is_training(graph_, link); });
    if (timed()) {
      add_events();
    } else {
      add_columns();
    }
    if (encoder_->unseen() > 0) {
      graph_.notes.push_back(
          join(grouped(encoder_->unseen()),
               " category values of links are not in the earlier graph and were ignored, such as ",
               encoder_->first_unseen()));
    }
    return std::move(graph_);
  }

 private:
  bool timed() const { return !time_name_.empty(); }
  std::span<float> all_numbers() { return {numbers_.data(), static_cast<size_t>(numbers_.size())}; }
  std::span<const int32_t> all_codes() const {
    return {codes_.data(), static_cast<size_t>(codes_.size())};
  }
  std::vector<std::string> all_named_columns() const {
    auto named = options_.attributes;
    named.insert(named.end(), options_.categorical.begin(), options_.categorical.end());
    named.push_back(time_name_);
    return named_columns(options_, named);
  }
  std::vector<ColumnRole> wanted_roles() const {
    auto wanted = link_roles(options_, targets_);
    if (timed()) wanted.push_back(time_role(time_name_));
    return wanted;
  }

  void read_rows() {
    const int64_t time = roles_.at("time");
    const auto parse = [&](LinkPayload& payload, const Row& row) {
      if (timed()) payload.times.push_back(row.time(time));
      for (const int64_t column : chosen_.numbers) payload.numbers.push_back(row.attribute(column));
      for (const int64_t column : chosen_.categories) {
        payload.categories.push_back(row.text(column));
      }
    };
    const auto width = static_cast<size_t>(encoder_->numbers());
    const auto categories = static_cast<size_t>(encoder_->categories());
    const auto add = [&](const LinkPayload& payload, size_t i) {
      if (timed()) times_.push_back(payload.times[i]);
      numbers_.append(std::span(payload.numbers).subspan(i * width, width));
      for (size_t c = 0; c < categories; ++c) {
        const auto value = payload.categories[i * categories + c];
        codes_.push_back(encoder_->code(static_cast<int64_t>(c), value));
      }
    };
    read_link_rows<LinkPayload>(table_, {roles_, nodes_, targets_, graph_}, parse, add);
  }

  // Tells which attributes the labels of links determine, given those that come from a column.
  void leave_out_labels(
      const std::function<std::vector<int64_t>(const std::string& column)>& attributes_of) {
    if (!graph_.targets) return;
    auto& left_out = graph_.targets->label_columns;
    for (int64_t column = 0; column < table_.column_count(); ++column) {
      if (!targets_.is_label(column)) continue;
      const auto columns = attributes_of(table_.columns()[static_cast<size_t>(column)]);
      left_out.insert(left_out.end(), columns.begin(), columns.end());
    }
    std::sort(left_out.begin(), left_out.end());
  }

  void add_events() {
    const std::string& time = table_.columns()[static_cast<size_t>(roles_.at("time"))];
    const TimeSlices slices(options_.slices, times_, options_.file, schema_);
    const EventColumns columns(slices, *encoder_, time);
    const auto width = static_cast<size_t>(encoder_->numbers());
    const auto categories = static_cast<size_t>(encoder_->categories());
    graph_.attributes.layout = Layout::kSparse;
    int64_t outside = 0;
    for (size_t i = 0; i < times_.size(); ++i) {
      const bool inside = columns.add(graph_.attributes, static_cast<int64_t>(i), times_[i],
                                      all_numbers().subspan(i * width, width),
                                      all_codes().subspan(i * categories, categories));
      outside += inside ? 0 : 1;
    }
    const auto names = columns.names();
    graph_.attributes.columns = std::ssize(names);
    graph_.attribute_names = make_string_table(names);
    graph_.column_rules = columns.rules(options_.slices.counts);
    leave_out_labels([&](const std::string& column) { return columns.of_column(column); });
    graph_.preprocessing["time_column"] = time;
    slices.store(graph_.preprocessing);
    slices.report(graph_, std::ssize(times_), outside);
  }

  void add_columns() {
    const ColumnEncoder& encoder = *encoder_;
    if (encoder.width() == encoder.numbers()) {
      graph_.attributes.columns = encoder.numbers();
      graph_.attributes.values = std::move(numbers_);
    } else {
      constexpr int64_t kSparser = 4;
      const bool sparse = encoder.width() > kSparser * (encoder.numbers() + encoder.categories());
      graph_.attributes = encode_rows(encoder, all_numbers(), all_codes(), graph_.source.size(),
                                      sparse ? Layout::kSparse : Layout::kDense);
    }
    graph_.attribute_names = make_string_table(encoder.names());
    leave_out_labels([&](const std::string& column) { return encoder.columns_of(column); });
    graph_.column_rules =
        date_rules(table_, chosen_, graph_.attributes.columns, options_.rules.merge);
    if (graph_.column_rules.empty()) return;
    graph_.notes.push_back(join("dates of several rows between the same nodes are averaged; set ",
                                OptionName{"time"},
                                " to the column of dates for counts and sums per time slice"));
  }

  const LinksOptions& options_;
  const Schema* schema_;
  std::string time_name_;  // column; empty: none
  RawGraph graph_;
  NodeReader nodes_;
  Table table_;
  LinkTargetReader targets_;
  ColumnRoles roles_;
  std::optional<StringTable> fixed_names_;  // encoded columns of the earlier graph
  Chosen chosen_;
  std::optional<ColumnEncoder> encoder_;
  std::vector<double> times_;  // [rows]
  Buffer<float> numbers_;      // [rows, numeric columns]
  Buffer<int32_t> codes_;      // [rows, categorical columns]
};

}  // namespace

RawGraph read_links(const LinksOptions& options, const Schema* schema) {
  links_option_table().check(options);
  const LinksOptions completed = like_earlier(options, schema);
  return LinkTableReader(completed, schema).read();
}

}  // namespace lase
