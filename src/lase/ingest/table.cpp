#include "lase/ingest/table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "lase/base/error.h"

namespace lase {
namespace {

bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with('%'); }

// The first lines of a file, without leading comments.
struct Sample {
  std::string block;
  std::vector<std::string_view> lines;
  int64_t first_line = 1;
};

Sample sample_lines(const std::string& path) {
  constexpr size_t kBytes = 1 << 16;
  constexpr size_t kLines = 50;
  Sample sample;
  TextStream stream(path);
  int64_t line = 1;
  while (sample.lines.empty() && stream.next(sample.block, kBytes)) {
    std::string_view rest = sample.block;
    for (; !rest.empty() && sample.lines.size() < kLines; ++line) {
      const auto end = rest.find('\n');
      const auto text = rest.substr(0, end);
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
      const bool skipped = sample.lines.empty() && is_comment(trimmed(text));
      if (trimmed(text).empty() || skipped) continue;
      if (sample.lines.empty()) sample.first_line = line;
      sample.lines.push_back(text);
    }
  }
  return sample;
}

// Fields that a line would have; runs of spaces separate once.
int64_t field_count(std::string_view line, char delimiter) {
  if (delimiter == ' ') line = trimmed(line);
  int64_t count = 1;
  bool in_quotes = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') in_quotes = !in_quotes;
    const bool repeated = delimiter == ' ' && i > 0 && line[i - 1] == ' ';
    if (line[i] == delimiter && !in_quotes && !repeated) ++count;
  }
  return count;
}

// Words that name the columns of link and contact files in the wild.
bool is_usual_name(std::string_view text) {
  static const std::set<std::string, std::less<>> kNames = {
      "source", "target",   "src",  "dst", "from",   "to",       "id",    "node",
      "sender", "receiver", "time", "u",   "v",      "user",     "label", "relation",
      "name",   "type",     "date", "ts",  "weight", "timestamp"};
  return kNames.contains(lower_case(text));
}

}  // namespace

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  TextStream stream(path);
  std::string block;
  while (stream.next(block)) {
    std::string_view rest = block;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      auto line = rest.substr(0, end);
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) lines.emplace_back(line);
    }
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

namespace {

// Lower case of a character of two UTF-8 bytes: Latin, Greek and Cyrillic letters.
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
  std::string lower(text);
  for (size_t i = 0; i < lower.size(); ++i) {
    const auto byte = static_cast<unsigned char>(lower[i]);
    if (byte >= 'A' && byte <= 'Z') lower[i] = static_cast<char>(byte + 32);
    const bool two_bytes =
        (byte & 0xE0) == 0xC0 && i + 1 < lower.size() && (lower[i + 1] & 0xC0) == 0x80;
    if (!two_bytes) continue;
    const uint32_t c =
        lower_character((byte & 0x1Fu) << 6 | (static_cast<unsigned char>(lower[i + 1]) & 0x3Fu));
    lower[i] = static_cast<char>(0xC0 | c >> 6);
    lower[++i] = static_cast<char>(0x80 | (c & 0x3F));
  }
  return lower;
}

Table::Table(std::string path, TableOptions options, const std::vector<std::string>& wanted)
    : path_(std::move(path)), options_(std::move(options)) {
  const Sample sample = sample_lines(path_);
  require(!sample.lines.empty(), path_, ": is empty; expected lines of text");
  find_delimiter(sample.lines);
  header_ = find_header(sample.lines, wanted);
  std::deque<std::string> unescaped;
  Row row(this, &unescaped);
  split(sample.lines[0], row);
  for (size_t i = 0; i < row.fields_.size(); ++i) {
    names_.push_back(header_ ? std::string(row.fields_[i]) : join("column ", i + 1));
  }
  first_row_ = sample.first_line + (header_ ? 1 : 0);
  numeric_.resize(names_.size());
  if (sample.lines.size() > (header_ ? 1 : 0)) {
    split(sample.lines[header_ ? 1 : 0], row);
    for (size_t i = 0; i < std::min(names_.size(), row.fields_.size()); ++i) {
      numeric_[i] = parse_number(row.fields_[i]).has_value();
    }
  }
}

void Table::find_delimiter(const std::vector<std::string_view>& sample) {
  const auto& given = options_.delimiter;
  if (!given.empty()) {
    require(given == "tab" || given == "space" || given == "\\t" || given.size() == 1,
            "--delimiter ", quote(given), ": expected one character, 'tab' or 'space'");
    delimiter_ = given == "tab" || given == "\\t" ? '\t' : given == "space" ? ' ' : given[0];
    require(delimiter_ != '"' && delimiter_ != '\n',
            "--delimiter: a quote or line end cannot be one");
    return;
  }
  // The first candidate that cuts every line into the same number of fields, more than one; else
  // the one that cuts the shortest line most.
  int64_t most = 1;
  for (const char candidate : {'\t', ',', ';', '|', ' '}) {
    int64_t least_fields = std::numeric_limits<int64_t>::max();
    int64_t most_fields = 0;
    for (const auto line : sample) {
      const int64_t fields = field_count(line, candidate);
      least_fields = std::min(least_fields, fields);
      most_fields = std::max(most_fields, fields);
    }
    if (least_fields > 1 && least_fields == most_fields) {
      delimiter_ = candidate;
      return;
    }
    if (least_fields > most) {
      most = least_fields;
      delimiter_ = candidate;
    }
  }
}

bool Table::find_header(const std::vector<std::string_view>& sample,
                        const std::vector<std::string>& wanted) {
  const auto& given = options_.header;
  require(given.empty() || given == "yes" || given == "no", "--header ", quote(given),
          ": expected yes or no");
  if (!given.empty()) return given == "yes";
  std::deque<std::string> unescaped;
  Row first(this, &unescaped);
  split(sample[0], first);
  const auto is_wanted = [&](std::string_view field) {
    return !field.empty() && std::find(wanted.begin(), wanted.end(), field) != wanted.end() &&
           !parse_number(field).has_value();
  };
  const auto& fields = first.fields_;
  if (std::any_of(fields.begin(), fields.end(), is_wanted)) return true;
  const auto is_number = [](std::string_view field) { return parse_number(field).has_value(); };
  if (std::any_of(fields.begin(), fields.end(), is_number)) return false;
  if (sample.size() > 1) {
    Row second(this, &unescaped);
    split(sample[1], second);
    if (std::any_of(second.fields_.begin(), second.fields_.end(), is_number)) return true;
  }
  return std::count_if(fields.begin(), fields.end(), is_usual_name) >= 2 ||
         (fields.size() == 1 && is_usual_name(fields[0]));
}

std::optional<int64_t> Table::find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (!header_ || found == names_.end()) return std::nullopt;
  return found - names_.begin();
}

int64_t Table::column(const std::string& name_or_position, std::string_view role) const {
  if (const auto found = find(name_or_position)) return *found;
  int64_t position = 0;
  const char* end = name_or_position.data() + name_or_position.size();
  const auto parsed = std::from_chars(name_or_position.data(), end, position);
  if (parsed.ec == std::errc() && parsed.ptr == end && position >= 1 &&
      position <= column_count()) {
    return position - 1;
  }
  std::string known;
  for (const auto& name : names_) known += (known.empty() ? "" : ", ") + name;
  fail(path_, ": has no column ", quote(name_or_position), " for ", role, "; it has ",
       column_count(), " columns: ", known);
}

bool Table::numeric(int64_t column) const { return numeric_[static_cast<size_t>(column)]; }

int64_t Table::count_lines(std::string_view block) {
  return std::count(block.begin(), block.end(), '\n');
}

void Table::split(std::string_view line, Row& row) const {
  auto& fields = row.fields_;
  fields.clear();
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (delimiter_ == ' ') line = trimmed(line);
  if (line.empty() || trimmed(line).empty()) return;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (true) {
    while (at < end && *at == ' ') ++at;
    const char* stop = nullptr;
    if (at < end && *at == '"') {
      // A quoted field ends at a quote that a delimiter or the line's end follows. Where there is
      // none, the quote is part of the text.
      const char* from = at + 1;
      bool escaped = false;
      for (const char* quote = from; quote < end; ++quote) {
        if (*quote != '"') continue;
        if (quote + 1 < end && quote[1] == '"') {
          escaped = true;
          ++quote;
          continue;
        }
        const char* next = quote + 1;
        while (next < end && *next == ' ' && delimiter_ != ' ') ++next;
        if (next == end || *next == delimiter_) {
          fields.emplace_back(from, quote - from);
          stop = next;
        }
        break;
      }
      if (stop != nullptr && escaped) {
        std::string& text = row.unescaped_->emplace_back();
        for (size_t i = 0; i < fields.back().size(); ++i) {
          text += fields.back()[i];
          if (fields.back()[i] == '"') ++i;
        }
        fields.back() = text;
      }
    }
    if (stop == nullptr) {
      stop = std::find(at, end, delimiter_);
      const char* last = stop;
      while (last > at && (last[-1] == ' ' || last[-1] == '\r')) --last;
      fields.emplace_back(at, last - at);
    }
    if (stop == end) return;
    at = stop + 1;
  }
}

void Table::check_width(const Row& row) const {
  if (row.fields_.size() == names_.size()) return;
  lase::fail(row.where(), ": has ", row.fields_.size(), " columns, expected ", names_.size(),
             " as in the first line");
}

std::string Row::where() const { return join(table_->path(), ": line ", line_); }

void Row::fail(int64_t column, std::string_view expected) const {
  lase::fail(where(), ": column ", quote(table_->columns()[static_cast<size_t>(column)]), " is ",
             quote(text(column)), ", expected ", expected);
}

double Row::number(int64_t column) const {
  const auto value = parse_number(text(column));
  if (!value) fail(column, "a finite number");
  return *value;
}

double Row::time(int64_t column) const {
  const auto value = parse_time(text(column));
  if (!value) fail(column, "a time in seconds or a date such as 2024-01-31T12:30:00");
  return *value;
}

float Row::attribute(int64_t column) const {
  if (text(column).empty()) {
    if (table_->options_.missing) return *table_->options_.missing;
    fail(column, "a finite number (--missing 0 would fill empty fields)");
  }
  const double value = number(column);
  if (std::abs(value) > double{std::numeric_limits<float>::max()}) {
    fail(column, "a number that single precision can hold");
  }
  return static_cast<float>(value);
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ptr != end || text.empty()) return std::nullopt;
  // Numbers closer to zero than a double can tell are zero; those beyond its range are none.
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

// `digits` digits off the front of text, within [low, high].
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
  const double midnight = seconds + 86400;  // of the day's end, which may be written as 24:00
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
