#include "lase/ingest/column_types.h"

#include <algorithm>
#include <ctime>
#include <set>

#include "lase/base/text.h"

namespace lase {

std::optional<double> TimeFormat::parse(std::string_view text) const {
  const auto formatted = parse_formatted(text);
  return formatted ? formatted : parse_time(text);
}

std::optional<double> TimeFormat::parse_formatted(std::string_view text) const {
  if (format_.empty()) return std::nullopt;
  std::tm fields{};
  fields.tm_mday = 1;
  const std::string terminated(text);
  const char* end = ::strptime(terminated.c_str(), format_.c_str(), &fields);
  if (end == nullptr || *end != '\0') return std::nullopt;
  const auto zone = static_cast<double>(fields.tm_gmtoff);  // before timegm resets it
  return static_cast<double>(::timegm(&fields)) - zone;
}

std::string TimeFormat::example() const {
  if (format_.empty()) return "2024-01-31T12:30:00";
  constexpr std::time_t kExample = 1706704200;
  std::tm fields{};
  ::gmtime_r(&kExample, &fields);
  std::array<char, 100> text{};
  const size_t size = std::strftime(text.data(), text.size(), format_.c_str(), &fields);
  return {text.data(), size};
}

std::optional<double> parse_decimal(std::string_view text, char decimal) {
  if (decimal == '.') return parse_number(text);
  std::string point(text);
  std::replace(point.begin(), point.end(), decimal, '.');
  return text.find('.') == text.npos ? parse_number(point) : std::nullopt;
}

namespace {

template <class Holds>
bool most(const std::vector<std::string_view>& values, const Holds& holds) {
  size_t count = 0;
  size_t held = 0;
  for (const auto value : values) {
    if (is_missing(value)) continue;
    ++count;
    held += holds(value) ? 1 : 0;
  }
  return count > 0 && 2 * held >= count;
}

}  // namespace

bool look_like_dates(const std::vector<std::string_view>& values) {
  return most(values, [](std::string_view value) {
    int separators = 0;
    for (const char c : value.substr(0, value.find(' '))) {
      const bool separator = c == '.' || c == '/' || c == '-';
      if (!separator && (c < '0' || c > '9')) return false;
      separators += separator ? 1 : 0;
    }
    return separators == 2;
  });
}

bool have_decimal_commas(const std::vector<std::string_view>& values) {
  return most(values, [](std::string_view value) { return parse_decimal(value, ',').has_value(); });
}

ColumnType detect_type(const std::vector<std::string_view>& values, const TimeFormat& times,
                       char decimal) {
  size_t count = 0;
  size_t formatted = 0;
  size_t numbers = 0;
  size_t booleans = 0;
  size_t dates = 0;  // and numbers
  std::set<std::string_view> distinct;
  for (const auto value : values) {
    if (is_missing(value)) continue;
    ++count;
    distinct.insert(value);
    formatted += times.parse_formatted(value).has_value() ? 1 : 0;
    numbers += parse_decimal(value, decimal).has_value() ? 1 : 0;
    booleans += parse_boolean(value).has_value() ? 1 : 0;
    dates += times.parse(value).has_value() ? 1 : 0;
  }
  constexpr size_t kFew = 10;
  if (formatted > 0 && 2 * formatted >= count) return ColumnType::kDate;
  if (2 * numbers >= count) return ColumnType::kNumber;
  if (2 * dates >= count) return ColumnType::kDate;
  if (booleans == count) return ColumnType::kBoolean;
  return distinct.size() <= std::max(kFew, count / 2) ? ColumnType::kCategory : ColumnType::kText;
}

}  // namespace lase
