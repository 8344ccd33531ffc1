#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lase {

// Strips leading and trailing spaces, tabs and carriage returns.
std::string_view trimmed(std::string_view text);
// Converts Latin, Greek and Cyrillic letters to lower case.
std::string lower_case(std::string_view text);

// Appends a CSV field, quoted if lase's own reader, which guesses the delimiter and skips comments,
// could misread it.
void append_csv_field(std::string& line, std::string_view text);

// Parses a finite decimal number; nullopt for infinity, NaN, hexadecimal and trailing text.
std::optional<double> parse_number(std::string_view text);
// Whether a text stands for a missing value: empty, NA, N/A, NaN, null, none or -, in any case.
bool is_missing(std::string_view text);
// true, yes, t and y, or false, no, f and n, in any case.
std::optional<bool> parse_boolean(std::string_view text);
// Seconds since 1970: a number, or YYYY-MM-DD[(T| )hh:mm[:ss[.fff]]][Z|±hh:mm].
std::optional<double> parse_time(std::string_view text);

}  // namespace lase
