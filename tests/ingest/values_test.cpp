#include "lase/ingest/table.h"

#include "support.h"

namespace lase {
namespace {

TEST(ParseNumber, ReadsDecimalNumbers) {
  EXPECT_EQ(parse_number("5"), 5);
  EXPECT_EQ(parse_number("+5"), 5);
  EXPECT_EQ(parse_number("-0.25"), -0.25);
  EXPECT_EQ(parse_number("1e3"), 1000);
  EXPECT_EQ(parse_number("1E-3"), 0.001);
  EXPECT_EQ(parse_number(".5"), 0.5);
  EXPECT_EQ(parse_number("5."), 5);
  EXPECT_EQ(parse_number("007"), 7);
  EXPECT_EQ(parse_number("123456789012345678"), 123456789012345678.0);
}

TEST(ParseNumber, RoundsUnderflowToZeroAndRejectsOverflow) {
  EXPECT_EQ(parse_number("1e-999"), 0);
  EXPECT_EQ(parse_number("-1e-999"), 0);
  EXPECT_EQ(parse_number("5e-324"), 5e-324);
  EXPECT_EQ(parse_number("1e999"), std::nullopt);
  EXPECT_EQ(parse_number("-1e999"), std::nullopt);
}

TEST(ParseNumber, RejectsEverythingElse) {
  for (const auto* text : {"",       " ",    "inf", "-inf",  "+inf", "Infinity", "nan", "NaN",
                           "nan(1)", "0x10", "1,5", "1_000", "5 ",   " 5",       "5x",  "--5",
                           "+-5",    "++5",  "+",   "-",     "e5",   "1e",       "abc", "½"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

TEST(ParseTime, ReadsSecondsUnchanged) {
  EXPECT_EQ(parse_time("0"), 0);
  EXPECT_EQ(parse_time("1082040961"), 1082040961);
  EXPECT_EQ(parse_time("-3.5"), -3.5);
}

TEST(ParseTime, ReadsDates) {
  EXPECT_EQ(parse_time("1970-01-01"), 0);
  EXPECT_EQ(parse_time("1970-01-02"), 86400);
  EXPECT_EQ(parse_time("1969-12-31"), -86400);
  EXPECT_EQ(parse_time("2000-03-01"), 951868800);
  EXPECT_EQ(parse_time("2024-02-29"), 1709164800);
  EXPECT_EQ(parse_time("2038-01-19T03:14:08"), 2147483648);
  EXPECT_EQ(parse_time("0001-01-01"), -62135596800);
}

TEST(ParseTime, ReadsTimesOfDay) {
  const double day = 1706659200;  // 2024-01-31
  EXPECT_EQ(parse_time("2024-01-31T12:30"), day + 45000);
  EXPECT_EQ(parse_time("2024-01-31 12:30:15"), day + 45015);
  EXPECT_NEAR(*parse_time("2024-01-31T12:30:15.125"), day + 45015.125, 1e-6);
  EXPECT_NEAR(*parse_time("2024-01-31T12:30:15,5"), day + 45015.5, 1e-6);
  EXPECT_EQ(parse_time("2024-01-31T24:00"), day + 86400);
  EXPECT_EQ(parse_time("2024-01-31T23:59:60"), day + 86400);  // a leap second
}

TEST(ParseTime, ReadsTimeZones) {
  const double noon = 1706702400;  // 2024-01-31T12:00Z
  for (const auto* text :
       {"2024-01-31T12:00Z", "2024-01-31T12:00:00z", "2024-01-31T14:00+02:00",
        "2024-01-31T14:00+0200", "2024-01-31T06:30:00-05:30", "2024-01-31T12:00:00-00:00"}) {
    EXPECT_EQ(parse_time(text), noon) << text;
  }
}

TEST(ParseTime, HandlesLeapDays) {
  EXPECT_TRUE(parse_time("2000-02-29").has_value());
  EXPECT_FALSE(parse_time("1900-02-29").has_value());
  EXPECT_FALSE(parse_time("2023-02-29").has_value());
  EXPECT_FALSE(parse_time("2024-02-30").has_value());
}

TEST(ParseTime, RejectsInvalidTimes) {
  for (const auto* text : {"",
                           "yesterday",
                           "2024",
                           "2024-13-01",
                           "2024-00-01",
                           "2024-01-00",
                           "2024-04-31",
                           "2024-1-1",
                           "2024-01-31T",
                           "2024-01-31T12",
                           "2024-01-31T12:",
                           "2024-01-31T25:00",
                           "2024-01-31T24:01",
                           "2024-01-31T24:00:01",
                           "2024-01-31T12:60",
                           "2024-01-31T12:00:61",
                           "2024-01-31T12:00:00.",
                           "2024-01-31T12:00+2",
                           "2024-01-31T12:00+02:00x",
                           "2024-01-31T12:00ZZ",
                           "2024/01/31",
                           "31.01.2024",
                           "2024-01-31x",
                           "inf",
                           "nan"}) {
    if (text == std::string("2024")) {
      EXPECT_EQ(parse_time(text), 2024);  // a number of seconds
    } else {
      EXPECT_EQ(parse_time(text), std::nullopt) << text;
    }
  }
}

TEST(LowerCase, FoldsLatinGreekAndCyrillic) {
  EXPECT_EQ(lower_case("AbC 123"), "abc 123");
  EXPECT_EQ(lower_case("ÀÖØÞß×ÿŸ"), "àöøþß×ÿÿ");
  EXPECT_EQ(lower_case("ĀŁŃŽŐ"), "āłńžő");
  EXPECT_EQ(lower_case("ΑΩ ЖЁЯ"), "αω жёя");
  EXPECT_EQ(lower_case("東京 🙂"), "東京 🙂");
  EXPECT_EQ(lower_case("\xC3"), "\xC3");  // truncated: left unchanged
  EXPECT_EQ(lower_case("\xC3"
                       "A"),
            "\xC3"
            "a");
}

TEST(Trimmed, RemovesWhitespaceAtBothEnds) {
  EXPECT_EQ(trimmed(" \ta b\r"), "a b");
  EXPECT_EQ(trimmed(" \t\r"), "");
  EXPECT_EQ(trimmed(""), "");
}

}  // namespace
}  // namespace lase
