#include "lase/ingest/time_slices.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/ingest/column_roles.h"
#include "lase/ingest/link_file.h"

namespace lase {
namespace {

constexpr double kHour = 3600;
constexpr double kDay = 24 * kHour;
constexpr std::array kWeekdays = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                  "Friday", "Saturday", "Sunday"};

// x modulo `period`, in [0, period).
double cyclic(double x, double period) {
  const double rest = std::fmod(x, period);
  return rest < 0 ? std::fmod(rest + period, period) : rest;
}

std::vector<double> whole_numbers(int64_t last) {
  std::vector<double> numbers;
  for (int64_t i = 0; i <= last; ++i) numbers.push_back(static_cast<double>(i));
  return numbers;
}

std::vector<double> of_equal_width(double first, double last, int64_t slices) {
  std::vector<double> boundaries;
  for (int64_t i = 0; i <= slices; ++i) {
    boundaries.push_back(first +
                         (last - first) * static_cast<double>(i) / static_cast<double>(slices));
  }
  boundaries.back() = last;  // rounding must not leave out the last event
  return boundaries;
}

std::vector<double> of_equal_count(std::vector<double> values, int64_t slices) {
  std::sort(values.begin(), values.end());
  std::vector<double> boundaries;
  for (int64_t i = 0; i < slices; ++i) {
    boundaries.push_back(
        values[static_cast<size_t>(i) * values.size() / static_cast<size_t>(slices)]);
  }
  boundaries.push_back(values.back());
  return boundaries;
}

// How the earlier graph was sliced; older graphs do not say, and have slices of the span.
SlicesBy earlier_by(const Schema& schema) {
  const auto by = schema.preprocessing.find("slices_by");
  if (by == schema.preprocessing.end()) return SlicesBy::kSpan;
  const auto known = by->is_string() ? from_name<SlicesBy>(by->get<std::string>()) : std::nullopt;
  require(known.has_value(), "the earlier graph is damaged: slices_by is ", by->dump());
  return *known;
}

}  // namespace

const OptionTable<SliceOptions>& slice_option_table() {
  static const auto table = [] {
    using O = SliceOptions;
    OptionTable<O> all;
    all.add("slices", &O::slices, between(0, 1 << 20),
            "Number of time slices (0 = 32, or as many as there are hours or weekdays)");
    all.add("slices_by", &O::by, one_of<SlicesBy>(),
            "What is sliced: the span from the first to the last time, the hour of the day, the "
            "weekday, or the age, which is the time before the latest row. Use hour, weekday or "
            "age if the model is to be applied to later data");
    all.add("slicing", &O::slicing, one_of<Slicing>(),
            "Use time slices of equal width or with equal numbers of rows (quantile); for span and "
            "age");
    all.add("counts", &O::counts, one_of<Transform>(),
            "Transform of counts and sums: none, ln(1 + x) with the sign of x (log1p), or 1 unless "
            "0 (binary)");
    return all;
  }();
  return table;
}

ColumnRole time_role(const std::string& named) {
  return {.option = "time",
          .named = named,
          .usual = {"time", "timestamp", "date", "datetime", "when", "ts", "t", "seconds"},
          .words = ColumnRole::Words::kAny,
          .shared = true};
}

TimeSlices::TimeSlices(const SliceOptions& options, const std::vector<double>& times,
                       const std::string& path, const Schema* schema)
    : by_(schema != nullptr ? earlier_by(*schema) : options.by), slicing_(options.slicing) {
  require_option(options.by == SlicesBy::kSpan || options.by == by_, OptionName{"slices_by"}, " ",
                 name_of(options.by), ": the earlier graph has slices by ", name_of(by_));
  require(!times.empty(), path, ": has no rows with a time");
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  require(std::isfinite(*last - *first), path, ": has times from ", *first, " to ", *last,
          ", too far apart for time slices");
  latest_ = *last;
  origin_ = *first;
  span_ = *last - *first;
  if (schema != nullptr) {
    boundaries_ = schema->numbers("slice_boundaries");
    require(boundaries_.size() >= 2, "the earlier graph was imported without time slices");
    require_option(options.slices == 0 || options.slices == count(), OptionName{"slices"}, " ",
                   options.slices, ": the earlier graph has ", count(), " slices");
    const auto span = schema->numbers("time_span");
    if (span.size() == 2) {
      origin_ = span[0];
      span_ = span[1] - span[0];
    }
  }
  if (by_ != SlicesBy::kSpan) origin_ = latest_;
  if (schema != nullptr) return;
  const int64_t fixed = by_ == SlicesBy::kHour ? 24 : by_ == SlicesBy::kWeekday ? 7 : 0;
  require_option(fixed == 0 || options.slices == 0 || options.slices == fixed, OptionName{"slices"},
                 " ", options.slices, ": there are ", fixed, " slices by ", name_of(by_));
  require_option(fixed == 0 || slicing_ == Slicing::kWidth, OptionName{"slicing"},
                 " quantile: requires ", OptionName{"slices_by"}, " span or age");
  constexpr int64_t kDefault = 32;
  const int64_t slices = options.slices == 0 ? kDefault : options.slices;
  if (fixed > 0) {
    boundaries_ = whole_numbers(fixed);
  } else if (slicing_ == Slicing::kQuantile) {
    std::vector<double> values;
    values.reserve(times.size());
    for (const double time : times) values.push_back(coordinate(time));
    boundaries_ = of_equal_count(std::move(values), slices);
  } else {
    const bool age = by_ == SlicesBy::kAge;
    boundaries_ = of_equal_width(age ? 0 : *first, age ? coordinate(*first) : *last, slices);
  }
}

double TimeSlices::coordinate(double time) const {
  constexpr double kThursday = 3;  // 1970-01-01
  switch (by_) {
    case SlicesBy::kSpan:
      return time;
    case SlicesBy::kHour:
      return cyclic(time, kDay) / kHour;
    case SlicesBy::kWeekday:
      return cyclic(time / kDay + kThursday, 7);
    case SlicesBy::kAge:
      return latest_ - time;
  }
  return time;
}

int32_t TimeSlices::of(double time) const {
  const double at = coordinate(time);
  if (at < boundaries_.front() || at > boundaries_.back()) return -1;
  const auto above = std::upper_bound(boundaries_.begin() + 1, boundaries_.end() - 1, at);
  return static_cast<int32_t>(above - (boundaries_.begin() + 1));
}

float TimeSlices::position(double time) const {
  const double since = by_ == SlicesBy::kSpan ? time - origin_ : origin_ - time;
  return static_cast<float>(span_ > 0 ? since / span_ : 0);
}

std::vector<std::string> TimeSlices::names() const {
  std::vector<std::string> names;
  for (int64_t i = 0; i < count(); ++i) {
    switch (by_) {
      case SlicesBy::kSpan:
        names.push_back(join("slice ", i));
        break;
      case SlicesBy::kHour:
        names.push_back(join("hour ", i));
        break;
      case SlicesBy::kWeekday:
        names.emplace_back(kWeekdays[static_cast<size_t>(i) % kWeekdays.size()]);
        break;
      case SlicesBy::kAge:
        names.push_back(join("age ", i));
        break;
    }
  }
  return names;
}

void TimeSlices::store(nlohmann::json& preprocessing) const {
  preprocessing["slices_by"] = name_of(by_);
  preprocessing["slice_boundaries"] = boundaries_;
  const double first = by_ == SlicesBy::kSpan ? origin_ : origin_ - span_;
  preprocessing["time_span"] = {first, first + span_};
}

void TimeSlices::report(RawGraph& graph, int64_t events, int64_t outside) const {
  const bool fixed = by_ == SlicesBy::kHour || by_ == SlicesBy::kWeekday;
  graph.notes.push_back(join(grouped(events), " rows in ", grouped(count()),
                             fixed                         ? ""
                             : slicing_ == Slicing::kWidth ? " equal-width"
                                                           : " equal-count",
                             " slices by ", name_of(by_)));
  if (graph.rules.transform == Transform::kLog1p ||
      (!graph.column_rules.empty() && graph.column_rules[0].transform == Transform::kLog1p)) {
    graph.notes.push_back(join("counts and sums are stored as ln(1 + x); ", OptionName{"counts"},
                               " none keeps them as they are"));
  }
  if (outside == 0) return;
  const std::string message =
      join(grouped(outside), " of ", grouped(events),
           " rows lie outside the time slices of the earlier graph: they still link nodes, but are "
           "not counted in any slice");
  if (100 * outside <= events) {
    graph.notes.push_back(message);
  } else {
    graph.warnings.push_back(join(message, ". For later data, import both graphs with ",
                                  OptionName{"slices_by"}, " hour, weekday or age"));
  }
}

}  // namespace lase
