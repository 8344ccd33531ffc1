#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace lase {

// Delimited text as in RFC 4180: a record is a line, except that fields in double quotes may
// contain newlines, and "" is an escaped quote. A quoted field ends at a quote that is followed by
// a delimiter or the end of the line; if other text follows, the quotes are part of an ordinary
// field.

// The position of the newline that ends the first record of `text`, or its size if there is none.
// npos if a quoted field is still open at the end.
size_t record_end(std::string_view text, char delimiter);

// Length of the prefix of `text` that consists of complete records.
size_t complete_records(std::string_view text, char delimiter);

// Replaces `fields` with the fields of a record, none if it is blank. A run of spaces is one
// delimiter. Fields with escaped quotes are stored in `unescaped`.
void split_record(std::string_view record, char delimiter, std::vector<std::string_view>& fields,
                  std::deque<std::string>& unescaped);

}  // namespace lase
