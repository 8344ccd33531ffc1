#include "lase/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <limits>

#include "lase/base/utf8.h"

namespace lase {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

namespace {

// Lower case of a two-byte UTF-8 character: Latin, Greek and Cyrillic letters.
uint32_t lower_character(uint32_t c) {
  const auto within = [c](uint32_t first, uint32_t last) { return c >= first && c <= last; };
  if (within(0xC0, 0xDE) && c != 0xD7) return c + 32;
  if (within(0x0100, 0x0137) || within(0x014A, 0x0177)) return c | 1;  // even upper, odd lower
  if (within(0x0139, 0x0148) || within(0x0179, 0x017E)) return c + (c & 1);
  if (c == 0x0178) return 0xFF;
  if (within(0x0391, 0x03A9) && c != 0x03A2) return c + 32;
  if (within(0x0400, 0x040F)) return c + 80;
  if (within(0x0410, 0x042F)) return c + 32;
  return c;
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  for_each_character(text, [&](Character character, std::string_view bytes) {
    if (character.code >= 'A' && character.code <= 'Z') {
      lower += static_cast<char>(character.code + 32);
    } else if (character.bytes == 2) {
      const uint32_t c = lower_character(character.code);
      lower += static_cast<char>(0xC0 | c >> 6);
      lower += static_cast<char>(0x80 | (c & 0x3F));
    } else {
      lower += bytes;
    }
  });
  return lower;
}

void append_csv_field(std::string& line, std::string_view text) {
  if (!text.empty() && text.find_first_of(",;\t \"#%\r\n") == text.npos) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c;
  }
  line += '"';
}

namespace {

// Whether `text` is one of these words of lower-case letters, in any case.
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char c, char lower) {
      return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == lower;
    });
  });
}

}  // namespace

bool is_missing(std::string_view text) {
  text = trimmed(text);
  return text.empty() || is_one_of(text, {"-", "na", "n/a", "nan", "null", "none"});
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (is_one_of(text, {"true", "yes", "t", "y"})) return true;
  if (is_one_of(text, {"false", "no", "f", "n"})) return false;
  return std::nullopt;
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ptr != end || text.empty()) return std::nullopt;
  // Underflow gives zero; overflow is rejected.
  if (parsed.ec == std::errc::result_out_of_range) {
    return std::abs(std::strtod(std::string(text).c_str(), nullptr)) < 1 ? std::optional(0.0)
                                                                         : std::nullopt;
  }
  if (parsed.ec != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

namespace {

// Days since 1970-01-01 in the Gregorian calendar.
int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

// Consumes `digits` digits from the front of `text`; nullopt unless the value is in [low, high].
std::optional<int64_t> take_digits(std::string_view& text, size_t digits, int64_t low,
                                   int64_t high) {
  if (text.size() < digits) return std::nullopt;
  int64_t value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value >= low && value <= high ? std::optional(value) : std::nullopt;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

int64_t days_in_month(int64_t year, int64_t month) {
  constexpr std::array<int64_t, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[static_cast<size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

}  // namespace

std::optional<double> parse_time(std::string_view text) {
  if (const auto number = parse_number(text)) return number;
  const auto year = take_digits(text, 4, 0, 9999);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_digits(text, 2, 1, 12);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_digits(text, 2, 1, days_in_month(*year, *month));
  if (!day) return std::nullopt;
  auto seconds = static_cast<double>(days_from_civil(*year, *month, *day)) * 86400;
  if (text.empty()) return seconds;
  if (!take(text, 'T') && !take(text, ' ')) return std::nullopt;
  const auto hour = take_digits(text, 2, 0, 24);
  if (!hour || !take(text, ':')) return std::nullopt;
  const auto minute = take_digits(text, 2, 0, 59);
  if (!minute) return std::nullopt;
  const double midnight = seconds + 86400;  // at the end of the day, which may be written as 24:00
  seconds += static_cast<double>(*hour * 3600 + *minute * 60);
  if (take(text, ':')) {
    const auto second = take_digits(text, 2, 0, 60);
    if (!second) return std::nullopt;
    seconds += static_cast<double>(*second);
    if (take(text, '.') || take(text, ',')) {
      double digit = 0.1;
      const size_t before = text.size();
      for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; digit /= 10) {
        seconds += digit * (text[0] - '0');
        text.remove_prefix(1);
      }
      if (text.size() == before) return std::nullopt;
    }
  }
  if (*hour == 24 && seconds > midnight) return std::nullopt;
  if (text.empty() || text == "Z" || text == "z") return seconds;
  const bool east = take(text, '+');
  if (!east && !take(text, '-')) return std::nullopt;
  const auto zone_hour = take_digits(text, 2, 0, 23);
  take(text, ':');
  const auto zone_minute = take_digits(text, 2, 0, 59);
  if (!zone_hour || !zone_minute || !text.empty()) return std::nullopt;
  return seconds - (east ? 1 : -1) * static_cast<double>(*zone_hour * 3600 + *zone_minute * 60);
}

}  // namespace lase
