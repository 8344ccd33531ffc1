#include "lase/ingest/table.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "lase/base/error.h"

namespace lase {
namespace {

bool is_comment(std::string_view line) { return line.starts_with('#') || line.starts_with('%'); }

// The first lines of a file, without leading comments.
struct Sample {
  std::string block;
  int64_t block_line = 1;  // first line of the block
  std::vector<std::string_view> lines;
  int64_t first_line = 1;
};

// End of the first record, before the delimiter is known: the first newline after an even number of
// quotes, or the first newline if there is none.
size_t sample_record_end(std::string_view text) {
  size_t end = std::min(text.find('\n'), text.size());
  const size_t first = end;
  auto quotes = std::count(text.begin(), text.begin() + static_cast<int64_t>(end), '"');
  while (quotes % 2 != 0 && end < text.size()) {
    const size_t next = std::min(text.find('\n', end + 1), text.size());
    quotes += std::count(text.begin() + static_cast<int64_t>(end),
                         text.begin() + static_cast<int64_t>(next), '"');
    end = next;
  }
  return quotes % 2 == 0 ? end : first;
}

Sample sample_lines(TextStream& stream) {
  constexpr size_t kBytes = 1 << 16;
  constexpr size_t kLines = 200;
  Sample sample;
  int64_t line = 1;
  while (sample.lines.empty() && stream.next(sample.block, kBytes)) {
    sample.block_line = line;
    std::string_view rest = sample.block;
    while (!rest.empty() && sample.lines.size() < kLines) {
      const auto end = sample_record_end(rest);
      const auto text = rest.substr(0, end);
      rest.remove_prefix(std::min(rest.size(), end + 1));
      const int64_t first = line;
      line += 1 + std::count(text.begin(), text.end(), '\n');
      const bool skipped = sample.lines.empty() && is_comment(trimmed(text));
      if (trimmed(text).empty() || skipped) continue;
      if (sample.lines.empty()) sample.first_line = first;
      sample.lines.push_back(text);
    }
  }
  return sample;
}

// Number of fields of a line; a run of spaces counts as one delimiter.
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

// Whether a text could be the name of a column: letters, digits, spaces, '_', '-' and '.', starting
// with a letter, and without two digits in a row, which are more common in ids.
bool is_word(std::string_view text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
  bool digit = false;
  for (const char c : text) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (is_digit && digit) return false;
    digit = is_digit;
    const bool letter = std::isalpha(static_cast<unsigned char>(c)) != 0;
    if (!letter && !is_digit && std::string_view(" _-.").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

// Common column names of link and contact files.
bool is_usual_name(std::string_view text) {
  static const std::set<std::string, std::less<>> kNames = {
      "source",   "target",   "src",   "dst",       "from",    "to",        "id",        "node",
      "sender",   "receiver", "time",  "u",         "v",       "user",      "label",     "relation",
      "name",     "type",     "date",  "ts",        "weight",  "timestamp", "payer",     "payee",
      "caller",   "callee",   "head",  "tail",      "subject", "object",    "recipient", "when",
      "datetime", "amount",   "count", "predicate", "id1",     "id2"};
  return kNames.contains(lower_case(text));
}

}  // namespace

void for_each_line(const std::string& path,
                   const std::function<void(std::string_view line, int64_t number)>& use) {
  TextStream stream(path);
  std::string block;
  int64_t number = 0;
  while (stream.next(block)) {
    std::string_view rest = block;
    while (!rest.empty()) {
      const auto end = rest.find('\n');
      auto line = rest.substr(0, end);
      rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
      ++number;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) use(line, number);
    }
  }
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  for_each_line(path, [&](std::string_view line, int64_t) { lines.emplace_back(line); });
  return lines;
}

void Table::require_unique_names() const {
  std::set<std::string_view> seen;
  for (const auto& name : names_) {
    require(name.empty() || seen.insert(name).second, path_, ": has two columns named ",
            quote(name), "; rename one of them");
  }
}

Table::Table(std::string path, TableOptions options, const std::vector<std::string>& wanted)
    : path_(std::move(path)),
      options_(std::move(options)),
      stream_(path_),
      decimal_(options_.decimal == "," ? ',' : '.'),
      times_(options_.date_format) {
  if (path_ == "-") path_ = "standard input";
  const Sample sample = sample_lines(stream_);
  require(!sample.lines.empty(), path_, ": is empty; expected lines of text");
  find_delimiter(sample.lines);
  header_ = find_header(sample.lines, wanted);
  std::deque<std::string> unescaped;
  Row row(this, &unescaped);
  split_record(sample.lines[0], delimiter_, row.fields_, unescaped);
  for (size_t i = 0; i < row.fields_.size(); ++i) {
    names_.push_back(header_ ? std::string(row.fields_[i]) : join("column ", i + 1));
  }
  first_row_ = sample.first_line + (header_ ? 1 + count_lines(sample.lines[0]) : 0);
  next_line_ = sample.block_line;
  stream_.put_back(sample.block);
  require_unique_names();
  find_types(sample.lines);
  set_types();
  if (options_.missing == "mean") {
    fill_ = std::numeric_limits<float>::quiet_NaN();
  } else if (options_.missing != "fail") {
    const auto value = parse_number(options_.missing);
    require_option(value && std::abs(*value) <= double{std::numeric_limits<float>::max()},
                   OptionName{"missing"}, " ", quote(options_.missing),
                   ": must be mean, fail or a number");
    fill_ = static_cast<float>(*value);
  }
}

void Table::find_types(const std::vector<std::string_view>& sample) {
  std::vector<std::vector<std::string_view>> columns(names_.size());
  std::deque<std::string> unescaped;
  std::vector<std::string_view> fields;
  for (size_t line = header_ ? 1 : 0; line < sample.size(); ++line) {
    split_record(sample[line], delimiter_, fields, unescaped);
    for (size_t i = 0; i < std::min(names_.size(), fields.size()); ++i) {
      columns[i].push_back(fields[i]);
    }
  }
  for (const auto& values : columns) {
    const ColumnType type = detect_type(values, times_, decimal_);
    types_.push_back(type);
    const bool words = type == ColumnType::kText || type == ColumnType::kCategory;
    hints_.push_back(words && have_decimal_commas(values) ? Hint::kDecimal
                     : words && look_like_dates(values)   ? Hint::kDates
                                                          : Hint::kNone);
  }
}

std::string Table::why_text(int64_t column) const {
  if (type(column) != ColumnType::kText) return "";
  switch (hints_[static_cast<size_t>(column)]) {
    case Hint::kDecimal:
      return join(" (text; for decimal commas, set ", OptionName{"decimal"}, " to ',')");
    case Hint::kDates:
      if (!options_.date_format.empty()) {
        return join(" (text; not dates in the format ", options_.date_format, ")");
      }
      return join(" (text; for dates, set ", OptionName{"date_format"}, ", such as %d.%m.%Y)");
    case Hint::kNone:
      return " (text)";
  }
  return "";
}

void Table::set_types() {
  for (const auto& given : options_.types) {
    const size_t at = given.rfind('=');
    const auto type = at == given.npos ? std::nullopt : from_name<ColumnType>(given.substr(at + 1));
    require_option(type && type != ColumnType::kText, OptionName{"types"}, " ", quote(given),
                   ": must be NAME=TYPE, with the type number, boolean, date, category or ignore");
    const std::string name = given.substr(0, at);
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) continue;
    types_[static_cast<size_t>(found - names_.begin())] = *type;
    typed_.push_back(name);
  }
}

void require_typed_columns(const TableOptions& options, const Table& table,
                           const std::vector<std::string>& others) {
  for (const auto& given : options.types) {
    const std::string name = given.substr(0, given.rfind('='));
    const auto in = [&](const std::vector<std::string>& typed) {
      return std::find(typed.begin(), typed.end(), name) != typed.end();
    };
    std::string known;
    for (const auto& column : table.columns()) known += (known.empty() ? "" : ", ") + column;
    require(in(table.typed_columns()) || in(others), OptionName{"types"}, " ", quote(given),
            ": no table has a column ", quote(name), "; ", table.path(), " has ", known);
  }
}

void Table::find_delimiter(const std::vector<std::string_view>& sample) {
  const auto& given = options_.delimiter;
  if (!given.empty()) {
    require_option(given == "tab" || given == "space" || given == "\\t" || given.size() == 1,
                   OptionName{"delimiter"}, " ", quote(given),
                   ": must be one character, 'tab' or 'space'");
    delimiter_ = given == "tab" || given == "\\t" ? '\t' : given == "space" ? ' ' : given[0];
    require_option(delimiter_ != '"' && delimiter_ != '\n', OptionName{"delimiter"},
                   ": a quote or newline cannot be a delimiter");
    return;
  }
  // The first candidate that splits every line into the same number of fields, more than one; else
  // the one with the largest minimum number of fields.
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
  if (options_.header != Header::kAuto) return options_.header == Header::kYes;
  std::deque<std::string> unescaped;
  std::vector<std::vector<std::string_view>> rows;
  for (const auto line : sample) {
    split_record(line, delimiter_, rows.emplace_back(), unescaped);
  }
  const auto& first = rows[0];
  const auto is_wanted = [&](std::string_view field) {
    return !field.empty() && std::find(wanted.begin(), wanted.end(), field) != wanted.end() &&
           !parse_number(field).has_value();
  };
  if (std::any_of(first.begin(), first.end(), is_wanted)) return true;
  // A name is not a number, and no value of a column.
  const auto is_value = [&](std::string_view field) {
    return parse_decimal(field, decimal_).has_value() || times_.parse(field).has_value() ||
           (!field.empty() && is_missing(field));
  };
  if (std::any_of(first.begin(), first.end(), is_value)) return false;
  std::set<std::string_view> names(first.begin(), first.end());
  if (std::count_if(names.begin(), names.end(), is_usual_name) >= 2) return true;
  if (first.size() == 1 && is_usual_name(first[0])) return true;
  if (rows.size() == 1) return false;
  bool values = false;
  std::map<std::string_view, size_t> count;
  size_t fields = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    for (const auto field : rows[i]) {
      if (!field.empty() && names.contains(field)) return false;
      values = values || is_value(field);
      ++count[field];
      ++fields;
    }
  }
  if (values) return true;
  // Words above words: a header if they do not recur although other words do.
  size_t repeated = 0;
  for (const auto& [field, times] : count) repeated += times > 1 ? times : 0;
  return 3 * repeated >= fields && std::all_of(first.begin(), first.end(), is_word);
}

std::string Table::delimiter_name() const {
  switch (delimiter_) {
    case ',':
      return "comma";
    case '\t':
      return "tab";
    case ';':
      return "semicolon";
    case '|':
      return "bar";
    case ' ':
      return "space";
    default:
      return quote(std::string_view(&delimiter_, 1));
  }
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
  fail(path_, ": has no column ", quote(name_or_position), " for ", OptionName{role}, "; it has ",
       column_count(), " columns: ", known,
       header_ ? "" : ". It was read without a header, so name columns by position, such as 2");
}

int64_t Table::count_lines(std::string_view block) {
  return std::count(block.begin(), block.end(), '\n');
}

bool Table::next_block(std::string& block, int64_t line) {
  constexpr size_t kLongestQuoted = 1 << 20;
  while (stream_.next(block)) {
    const size_t end = complete_records(block, delimiter_);
    if (end == block.size()) return true;
    require(!stream_.at_end() && block.size() - end <= kLongestQuoted, path_, ": line ",
            line + count_lines(std::string_view(block).substr(0, end)),
            ": a quote is not closed; double it if it is part of the text");
    stream_.put_back(std::string_view(block).substr(end));
    block.resize(end);
    if (end > 0) return true;
  }
  return false;
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
  const auto value = parse_decimal(text(column), table_->decimal_);
  if (!value) fail(column, "a finite number");
  return *value;
}

double Row::time(int64_t column) const {
  const auto value = table_->times_.parse(text(column));
  if (!value) {
    fail(column, join("a time in seconds or a date such as ", table_->times_.example(), "; set ",
                      OptionName{"date_format"}, " for other formats"));
  }
  return *value;
}

float Row::attribute(int64_t column) const {
  const ColumnType type = table_->type(column);
  const auto field = text(column);
  std::optional<double> value;
  if (type == ColumnType::kDate) {
    value = table_->times_.parse(field);
  } else if (type == ColumnType::kBoolean) {
    value = parse_boolean(field);
  } else {
    value = parse_decimal(field, table_->decimal_);
  }
  if (!value && is_missing(field)) {
    if (table_->fill_) return *table_->fill_;
    fail(column, join("a number; set ", OptionName{"missing"}, " to mean or a value to fill it"));
  }
  if (!value) {
    const auto& name = table_->columns()[static_cast<size_t>(column)];
    if (type == ColumnType::kDate) {
      fail(column, join("a date such as ", table_->times_.example(), "; set ",
                        OptionName{"date_format"}, " for other formats"));
    }
    if (type == ColumnType::kBoolean) fail(column, "true or false");
    if (parse_decimal(field, ',')) {
      fail(column, join("a number with a decimal point; for decimal commas, set ",
                        OptionName{"decimal"}, " to ','"));
    }
    fail(column, join("a finite number; for categories or dates, set ", OptionName{"types"}, " to ",
                      name, "=category or ", name, "=date"));
  }
  constexpr double kSecondsPerDay = 86400;
  if (type == ColumnType::kDate) *value /= kSecondsPerDay;
  if (std::abs(*value) > double{std::numeric_limits<float>::max()}) {
    fail(column, "a number within the range of single precision");
  }
  return static_cast<float>(*value);
}

float Row::weight(int64_t column) const {
  const float value = attribute(column);
  if (std::isnan(value)) {
    fail(column, join("a number; set ", OptionName{"missing"}, " to a value to fill it"));
  }
  return value;
}

}  // namespace lase
