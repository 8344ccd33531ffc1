// Contacts over time: source, target, time; each link counts its contacts per time slice.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/ingest/link_file.h"

namespace lase {
namespace {

struct ContactPayload {
  std::vector<double> time;
  std::vector<float> weight;
};

// slices + 1 ascending times; slice i is [boundary i, boundary i+1), and the last one includes its
// end.
std::vector<double> slice_boundaries(const ContactsOptions& options,
                                     const std::vector<double>& times, const Schema* schema) {
  if (schema != nullptr) {
    auto boundaries = schema->numbers("slice_boundaries");
    require(boundaries.size() >= 2, "the earlier graph was not imported from contacts");
    return boundaries;
  }
  std::vector<double> boundaries;
  if (options.slicing == Slicing::kQuantile) {
    std::vector<double> sorted = times;
    std::sort(sorted.begin(), sorted.end());
    for (int64_t i = 0; i < options.slices; ++i) {
      boundaries.push_back(
          sorted[static_cast<size_t>(i) * sorted.size() / static_cast<size_t>(options.slices)]);
    }
    boundaries.push_back(sorted.back());
    return boundaries;
  }
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  require(std::isfinite(*last - *first), options.file, ": has times from ", *first, " to ", *last,
          ", too far apart for slices of equal width");
  for (int64_t i = 0; i <= options.slices; ++i) {
    boundaries.push_back(*first + (*last - *first) * static_cast<double>(i) /
                                      static_cast<double>(options.slices));
  }
  boundaries.back() = *last;  // rounding must not leave out the last contact
  return boundaries;
}

// The slice of a time, or −1 if it is outside all slices.
int32_t slice_of(double time, const std::vector<double>& boundaries) {
  if (time < boundaries.front() || time > boundaries.back()) return -1;
  const auto above = std::upper_bound(boundaries.begin() + 1, boundaries.end() - 1, time);
  return static_cast<int32_t>(above - (boundaries.begin() + 1));
}

ColumnRole time_role(const std::string& named) {
  return {.option = "time",
          .named = named,
          .usual = {"time", "timestamp", "date", "datetime", "ts", "t", "seconds"},
          .words = ColumnRole::Words::kAny};
}

}  // namespace

const OptionTable<ContactsOptions>& contacts_option_table() {
  static const auto table = [] {
    using O = ContactsOptions;
    OptionTable<O> all;
    all.include(link_table_option_table(Merging::kAlways));
    all.add("time", &O::time, any(),
            "Column with times in seconds or as ISO 8601 dates (default: a column with a usual "
            "name such as time, timestamp or date, else the third)");
    all.add("weight", &O::weight, any(),
            "Column with the weight of each contact; with none, every weight is 1 (default: a "
            "column named "
            "weight, amount or count; without a header, the fourth column if there is one)");
    all.add("slices", &O::slices, between(1, 1 << 20), "Number of time slices");
    all.add("slicing", &O::slicing, one_of<Slicing>(),
            "Use time slices of equal width or with equal numbers of contacts (quantile)");
    all.add("counts", &O::counts, one_of<Transform>(),
            "Transform of the counts per slice: none, ln(1 + count) (log1p), or 1 if positive "
            "(binary)");
    return all;
  }();
  return table;
}

RawGraph read_contacts(const ContactsOptions& options, const Schema* schema) {
  contacts_option_table().check(options);
  check(options.rules);
  RawGraph graph;
  graph.rules = options.rules;
  graph.rules.transform = options.counts;
  graph.layout_rule = layout_rule(options.layout, LayoutRule::kSmaller);
  NodeReader nodes(options.nodes, options.table, schema);
  Table table(options.file, options.table,
              {options.source, options.target, options.time, options.weight});
  const ColumnRoles roles(table, {source_role(options), target_role(options),
                                  time_role(options.time), weight_role(options.weight)});
  graph.tables.push_back(roles.report());
  const int64_t time = roles.at("time");
  const int64_t weight = roles.at("weight");
  std::vector<double> times;
  std::vector<float> weights;
  const auto parse = [&](ContactPayload& payload, const Row& row) {
    payload.time.push_back(row.time(time));
    if (weight < 0) return;
    const float value = row.weight(weight);
    if (value < 0) row.fail(weight, "a non-negative weight");
    payload.weight.push_back(value);
  };
  const auto add = [&](const ContactPayload& payload, size_t i) {
    times.push_back(payload.time[i]);
    weights.push_back(weight < 0 ? 1.0F : payload.weight[i]);
  };
  read_link_rows<ContactPayload>(table, roles.at("source"), roles.at("target"), nodes, graph, parse,
                                 add);
  require(!times.empty(), options.file, ": has no contacts");

  const auto boundaries = slice_boundaries(options, times, schema);
  graph.attributes.layout = Layout::kSparse;
  graph.attributes.columns = static_cast<int64_t>(boundaries.size()) - 1;
  int64_t outside = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    const int32_t slice = slice_of(times[i], boundaries);
    if (slice >= 0) {
      graph.attributes.add_single(slice, weights[i]);
    } else {
      ++outside;
      graph.attributes.add_empty();
    }
  }
  graph.attribute_names = numbered_names("slice ", graph.attributes.columns);
  graph.preprocessing["slice_boundaries"] = boundaries;
  graph.notes.push_back(join(grouped(std::ssize(times)), " contacts in ",
                             grouped(std::ssize(boundaries) - 1), " slices of ",
                             options.slicing == Slicing::kWidth ? "equal width" : "equal count"));
  if (outside > 0) {
    graph.notes.push_back(join(grouped(outside),
                               " contacts lie outside the time slices of the earlier graph; they "
                               "link nodes but are not counted"));
  }
  nodes.finish(graph);
  return graph;
}

}  // namespace lase
