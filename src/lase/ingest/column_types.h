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

// Parses times: in a given format of strptime, if there is one, in ISO 8601, or as seconds since
// 1970.
class TimeFormat {
 public:
  explicit TimeFormat(std::string format) : format_(std::move(format)) {}
  // Seconds since 1970.
  std::optional<double> parse(std::string_view text) const;
  // Only in the given format.
  std::optional<double> parse_formatted(std::string_view text) const;
  std::string example() const;

 private:
  std::string format_;
};

// Detects the type of a column from its first values, of which the majority decides, so that bad
// numbers are reported.
ColumnType detect_type(const std::vector<std::string_view>& values, const TimeFormat& times,
                       char decimal);

// Whether most values look like dates in another format, or like numbers with a decimal comma.
bool look_like_dates(const std::vector<std::string_view>& values);
bool have_decimal_commas(const std::vector<std::string_view>& values);

// A finite number with this decimal separator.
std::optional<double> parse_decimal(std::string_view text, char decimal);

}  // namespace lase
