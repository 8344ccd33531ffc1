#include "lase/ingest/column_types.h"

#include <algorithm>
#include <ctime>
#include <set>

#include "lase/base/text.h"

namespace lase {

std::optional<double> TimeFormat::parse(std::string_view text) const {
  if (format_.empty()) return parse_time(text);
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

ColumnType detect_type(const std::vector<std::string_view>& values, const TimeFormat& times) {
  size_t count = 0;
  size_t numbers = 0;
  size_t booleans = 0;
  size_t dates = 0;  // and numbers, unless a format is given
  std::set<std::string_view> distinct;
  for (const auto value : values) {
    if (is_missing(value)) continue;
    ++count;
    distinct.insert(value);
    numbers += parse_number(value).has_value() ? 1 : 0;
    booleans += parse_boolean(value).has_value() ? 1 : 0;
    dates += times.parse(value).has_value() ? 1 : 0;
  }
  constexpr size_t kFew = 10;
  if (2 * numbers >= count) return ColumnType::kNumber;
  if (2 * dates >= count) return ColumnType::kDate;
  if (booleans == count) return ColumnType::kBoolean;
  return distinct.size() <= std::max(kFew, count / 2) ? ColumnType::kCategory : ColumnType::kText;
}

}  // namespace lase
