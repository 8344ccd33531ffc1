#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/names.h"

namespace lase {

// Numbers; true and false, yes and no; dates and times; words of which some recur (categories); or
// other text. Columns to ignore are named by the user.
enum class ColumnType : uint8_t { kNumber, kBoolean, kDate, kCategory, kText, kIgnore };

template <>
inline constexpr std::array<std::string_view, 6> kEnumNames<ColumnType> = {
    "number", "boolean", "date", "category", "text", "ignore"};

// Whether a column of this type is a column of numbers in the graph.
inline bool is_numeric(ColumnType type) {
  return type == ColumnType::kNumber || type == ColumnType::kBoolean || type == ColumnType::kDate;
}

// Parses times: seconds since 1970 and ISO 8601, or only a given format of strptime.
class TimeFormat {
 public:
  // Throws Error if the format has no conversion.
  explicit TimeFormat(std::string format) : format_(std::move(format)) {}
  // Seconds since 1970.
  std::optional<double> parse(std::string_view text) const;
  std::string example() const;

 private:
  std::string format_;
};

// Detects the type of a column from its first values, of which the majority decides, so that bad
// numbers are reported.
ColumnType detect_type(const std::vector<std::string_view>& values, const TimeFormat& times);

}  // namespace lase
