#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/base/text.h"
#include "lase/ingest/column_types.h"
#include "lase/ingest/import.h"
#include "lase/ingest/records.h"
#include "lase/ingest/text_stream.h"

namespace lase {

class Table;

// One record of a table, split into fields.
class Row {
 public:
  std::string_view text(int64_t column) const { return fields_[static_cast<size_t>(column)]; }
  double number(int64_t column) const;  // finite
  double time(int64_t column) const;    // seconds since 1970
  // A number, a boolean as 0 or 1, or a date as days since 1970. Missing values are NaN, the value
  // that replaces them, or an error, depending on the options.
  float attribute(int64_t column) const;
  // The same, but a missing value has no mean.
  float weight(int64_t column) const;
  [[noreturn]] void fail(int64_t column, std::string_view expected) const;
  std::string where() const;  // "links.csv: line 7"
  int64_t line() const { return line_; }

 private:
  friend class Table;
  Row(const Table* table, std::deque<std::string>* unescaped)
      : table_(table), unescaped_(unescaped) {}
  const Table* table_;
  int64_t line_ = 0;
  std::vector<std::string_view> fields_;
  std::deque<std::string>* unescaped_;  // fields with escaped quotes, unescaped
};

// Delimited text with or without a header. Detects the delimiter (tab, comma, semicolon, bar or
// runs of spaces) and whether the first line is a header. Skips blank lines and leading lines that
// start with '#' or '%'. The file may be a pipe, or "-" for standard input.
class Table {
 public:
  // `wanted`: column names given by the user; a first line with one of them is a header.
  Table(std::string path, TableOptions options, const std::vector<std::string>& wanted = {});

  const std::string& path() const { return path_; }
  const std::vector<std::string>& columns() const { return names_; }
  bool has_header() const { return header_; }
  std::string delimiter_name() const;  // "comma", "tab" or, for another character, "'x'"
  int64_t column_count() const { return static_cast<int64_t>(names_.size()); }

  // The column with this name, or at this position counting from 1; `role` is the option that names
  // it.
  int64_t column(const std::string& name_or_position, std::string_view role) const;
  std::optional<int64_t> find(std::string_view name) const;
  // The type given by the user, or that of the first rows.
  ColumnType type(int64_t column) const { return types_[static_cast<size_t>(column)]; }
  // Why a column is neither a number nor a category, for the summary: " (text)"; empty otherwise.
  std::string why_text(int64_t column) const;
  // The names of columns whose types were given, without those that this table does not have.
  const std::vector<std::string>& typed_columns() const { return typed_; }

  // Reads all rows, which is possible only once: calls parse(chunk, row) in parallel over chunks of
  // lines, then merge(chunk) for each chunk in file order. A chunk may keep views of the row text
  // until it has been merged.
  template <class Chunk, class Parse, class Merge>
  void read(const Parse& parse, const Merge& merge) {
    std::vector<std::string> blocks(static_cast<size_t>(2 * thread_count()));
    std::vector<int64_t> first_line(blocks.size());
    int64_t line = next_line_;
    for (bool more = true; more;) {
      size_t count = 0;
      while (count < blocks.size() && (more = next_block(blocks[count], line))) {
        first_line[count] = line;
        line += count_lines(blocks[count]);
        ++count;
      }
      std::vector<Chunk> chunks(count);
      std::vector<std::deque<std::string>> unescaped(count);
      parallel_for(static_cast<int64_t>(count), 1, [&](int64_t block, int64_t) {
        const auto i = static_cast<size_t>(block);
        for_each_row(blocks[i], first_line[i], unescaped[i],
                     [&](const Row& row) { parse(chunks[i], row); });
      });
      for (auto& chunk : chunks) merge(chunk);
    }
  }

 private:
  friend class Row;
  static int64_t count_lines(std::string_view block);
  void find_delimiter(const std::vector<std::string_view>& sample);
  bool find_header(const std::vector<std::string_view>& sample,
                   const std::vector<std::string>& wanted);
  // The next block of complete records, which starts at this line.
  bool next_block(std::string& block, int64_t line);

  template <class Visit>
  void for_each_row(std::string_view block, int64_t line, std::deque<std::string>& unescaped,
                    const Visit& visit) const {
    Row row(this, &unescaped);
    while (!block.empty()) {
      const auto end = record_end(block, delimiter_);
      const auto text = block.substr(0, end);
      block.remove_prefix(std::min(block.size(), end + 1));
      row.line_ = line;
      line += 1 + count_lines(text);
      if (row.line_ < first_row_) continue;
      split_record(text, delimiter_, row.fields_, unescaped);
      if (row.fields_.empty()) continue;
      check_width(row);
      visit(static_cast<const Row&>(row));
    }
  }
  void check_width(const Row& row) const;

  std::string path_;
  TableOptions options_;
  TextStream stream_;
  int64_t next_line_ = 1;  // line of the file at which the stream continues
  char delimiter_ = ',';
  bool header_ = false;
  int64_t first_row_ = 1;  // line of the first row of data
  void require_unique_names() const;
  void find_types(const std::vector<std::string_view>& sample);
  void set_types();

  std::vector<std::string> names_;
  std::vector<ColumnType> types_;
  enum class Hint : uint8_t { kNone, kDates, kDecimal };
  std::vector<Hint> hints_;  // for columns of words
  std::vector<std::string> typed_;
  char decimal_;
  TimeFormat times_;
  std::optional<float> fill_;  // for missing numbers; NaN: left open
};

// Throws Error if one of the types is for a column that is neither in the table nor among `others`.
void require_typed_columns(const TableOptions& options, const Table& table,
                           const std::vector<std::string>& others = {});

// Calls use(line, number) for every non-empty line; numbers count from 1.
void for_each_line(const std::string& path,
                   const std::function<void(std::string_view line, int64_t number)>& use);
// The non-empty lines of a short file.
std::vector<std::string> read_lines(const std::string& path);

}  // namespace lase
