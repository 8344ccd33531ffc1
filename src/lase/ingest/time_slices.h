#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lase/graph/raw_graph.h"
#include "lase/ingest/column_roles.h"
#include "lase/ingest/import.h"

namespace lase {

// Maps times to slices: of the span of the data, of the hour of the day, of the weekday, or of the
// age, which is the time before the latest event in the file. Slices of hours, weekdays and ages
// apply to later data as well.
class TimeSlices {
 public:
  // Fitted to `times`, in seconds since 1970, or as in the earlier graph.
  TimeSlices(const SliceOptions& options, const std::vector<double>& times, const std::string& path,
             const Schema* schema);

  int64_t count() const { return static_cast<int64_t>(boundaries_.size()) - 1; }
  // The slice of a time, or −1 if it is outside all slices.
  int32_t of(double time) const;
  // By span, the time since the first event, otherwise before the latest event of this file, as a
  // fraction of the span. The first event and the span are those of the earlier graph, if there is
  // one.
  float position(double time) const;
  // Whether later times have higher positions.
  bool position_increases() const { return by_ == SlicesBy::kSpan; }
  std::vector<std::string> names() const;  // [count()]

  // Stores the slices for later data.
  void store(nlohmann::json& preprocessing) const;
  // Tells how many events were sliced, and warns if more than 1 % are outside.
  void report(RawGraph& graph, int64_t events, int64_t outside) const;

 private:
  double coordinate(double time) const;

  SlicesBy by_;
  Slicing slicing_;
  double latest_;
  double origin_;  // of position()
  double span_;
  std::vector<double> boundaries_;  // ascending; slice i is [boundary i, boundary i+1)
};

// The column of times: by default one with a usual name, or the first that is left.
ColumnRole time_role(const std::string& named);

}  // namespace lase
