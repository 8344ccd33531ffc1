#pragma once

#include <span>
#include <string>
#include <vector>

#include "lase/base/string_table.h"
#include "lase/graph/raw_graph.h"
#include "lase/ingest/categories.h"
#include "lase/ingest/time_slices.h"

namespace lase {

// Attributes of links whose rows are events with a time, numbers and categories; see read_links().
class EventColumns {
 public:
  EventColumns(const TimeSlices& slices, const ColumnEncoder& encoder, std::string time)
      : slices_(slices), encoder_(encoder), time_(std::move(time)) {}

  // Appends the attributes of one event; returns whether its time is in a slice.
  bool add(RawAttributes& attributes, int64_t row, double time, std::span<const float> numbers,
           std::span<const int32_t> codes) const;
  std::vector<std::string> names() const;
  // The attributes that come from a table column.
  std::vector<int64_t> of_column(const std::string& name) const;
  // How the attributes of several events are merged; `transform`: of all but times.
  std::vector<ColumnRule> rules(Transform transform) const;

 private:
  int64_t encoded() const { return encoder_.width() - encoder_.numbers(); }

  const TimeSlices& slices_;
  const ColumnEncoder& encoder_;
  std::string time_;  // column
};

// The columns that were encoded, given the names of the attributes.
StringTable encoded_event_columns(const StringTable& names, int64_t slices);

}  // namespace lase
