#include "lase/ingest/records.h"

#include "support.h"

namespace lase {
namespace {

constexpr size_t kOpen = std::string_view::npos;

TEST(Records, EndAtTheFirstNewlineOutsideQuotes) {
  EXPECT_EQ(record_end("a,b\nc", ','), 3U);
  EXPECT_EQ(record_end("a,b", ','), 3U);
  EXPECT_EQ(record_end("", ','), 0U);
  EXPECT_EQ(record_end("\"a\nb\",c\nd", ','), 7U);
  EXPECT_EQ(record_end("x, \"a\n\"\"\n\"\r\nd", ','), 11U);
  EXPECT_EQ(record_end("a \"b\nc", ','), 4U);        // a quote within a field
  EXPECT_EQ(record_end("\"a\" b\nc", ','), 5U);      // text after the closing quote
  EXPECT_EQ(record_end("\"a\nb \"c\" d", ','), 2U);  // the next quote does not close the field
  EXPECT_EQ(record_end("\"a\nb", ','), kOpen);
}

TEST(Records, TheLastRecordMayBeIncomplete) {
  EXPECT_EQ(complete_records("a\nb\n", ','), 4U);
  EXPECT_EQ(complete_records("a\n\"b\nc", ','), 2U);
  EXPECT_EQ(complete_records("\"b\nc", ','), 0U);
  EXPECT_EQ(complete_records("\"b\nc\"", ','), 5U);
}

std::string quoted(const std::string& field) {
  std::string text = "\"";
  for (const char c : field) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

// Splitting at record ends and then into fields restores what was quoted.
TEST(Records, FieldsSurviveQuoting) {
  const Strings fields = {"", " ", "a", "a\nb", "\"", "\"\"", ",", "\"a\",\nb\r\n", "x\"y"};
  std::string text;
  for (const auto& first : fields) {
    for (const auto& second : fields) {
      text += quoted(first) + "," + quoted(second);
      text += '\n';
    }
  }
  std::deque<std::string> unescaped;
  std::vector<std::string_view> read;
  std::string_view rest = text;
  for (const auto& first : fields) {
    for (const auto& second : fields) {
      const size_t end = record_end(rest, ',');
      split_record(rest.substr(0, end), ',', read, unescaped);
      rest.remove_prefix(end + 1);
      ASSERT_EQ(Strings(read.begin(), read.end()), (Strings{first, second}));
    }
  }
  EXPECT_TRUE(rest.empty());
}

}  // namespace
}  // namespace lase
