#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lase {

// Without the spaces, tabs and carriage returns around it.
std::string_view trimmed(std::string_view text);
// In lower case: Latin, Greek and Cyrillic letters.
std::string lower_case(std::string_view text);

// Appends a csv field, in quotes where it needs them: where lase's own reader, which guesses the
// delimiter and skips comments, could take it for something else.
void append_csv_field(std::string& line, std::string_view text);

// Texts as numbers. Infinity and NaN, hexadecimal numbers and trailing text do not count.
std::optional<double> parse_number(std::string_view text);
// Seconds since 1970: a number, or YYYY-MM-DD[(T| )hh:mm[:ss[.fff]]][Z|±hh:mm].
std::optional<double> parse_time(std::string_view text);

}  // namespace lase
