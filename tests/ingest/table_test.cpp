#include "lase/ingest/table.h"

#include <cmath>
#include <map>

#include "lase/base/error.h"
#include "lase/base/parallel.h"

#include "support.h"

namespace lase {
namespace {

class TableTest : public FolderTest {
 protected:
  Table table(const std::string& text, const TableOptions& options = {},
              const Strings& wanted = {}) const {
    return Table(write("a.csv", text), options, wanted);
  }
  static std::vector<Strings> rows(Table table) {
    std::vector<Strings> all;
    const auto parse = [&](std::vector<Strings>& chunk, const Row& row) {
      chunk.emplace_back();
      for (int64_t i = 0; i < table.column_count(); ++i) chunk.back().emplace_back(row.text(i));
    };
    const auto merge = [&](const auto& chunk) {
      all.insert(all.end(), chunk.begin(), chunk.end());
    };
    table.read<std::vector<Strings>>(parse, merge);
    return all;
  }
  std::vector<Strings> rows(const std::string& text, const TableOptions& options = {}) const {
    return rows(table(text, options));
  }
};

using Rows2 = std::vector<Strings>;

TEST_F(TableTest, DetectsTheDelimiter) {
  const std::map<char, std::string> names = {
      {'\t', "tab"}, {',', "comma"}, {';', "semicolon"}, {'|', "bar"}, {' ', "space"}};
  for (const auto& [delimiter, name] : names) {
    std::string text = "source,target,city\n1,2,Rome\n3,4,Oslo\n";
    std::replace(text.begin(), text.end(), ',', delimiter);
    auto found = table(text);
    EXPECT_EQ(found.delimiter_name(), name);
    EXPECT_EQ(found.columns(), (Strings{"source", "target", "city"}));
    EXPECT_EQ(rows(std::move(found)), (Rows2{{"1", "2", "Rome"}, {"3", "4", "Oslo"}}));
  }
}

TEST_F(TableTest, PrefersADelimiterThatSplitsEveryLineAlike) {
  EXPECT_EQ(table("title\tauthors\nOn this, and that\tA;B\nOne, two, three\tC\n").delimiter_name(),
            "tab");
  EXPECT_EQ(table("id;text\n1;a b c\n2;d\n").delimiter_name(), "semicolon");
  EXPECT_EQ(table("id,text\n1,\"a,b\"\n2,c\n").delimiter_name(), "comma");
}

TEST_F(TableTest, ARunOfSpacesIsOneDelimiter) {
  EXPECT_EQ(rows("  1   2 3\n10 20  30  \n"), (Rows2{{"1", "2", "3"}, {"10", "20", "30"}}));
}

TEST_F(TableTest, UsesTheGivenDelimiter) {
  EXPECT_EQ(rows("a:b\n", {.delimiter = ":", .header = Header::kNo, .missing = "fail"}),
            (Rows2{{"a", "b"}}));
  EXPECT_EQ(table("a,b\tc\n", {.delimiter = "tab", .header = Header::kAuto, .missing = "fail"})
                .column_count(),
            2);
  EXPECT_EQ(table("a,b c\n", {.delimiter = "space", .header = Header::kAuto, .missing = "fail"})
                .column_count(),
            2);
  for (const auto* bad : {"ab", "\"", "\n"}) {
    expect_error(
        [&] { table("a,b\n", {.delimiter = bad, .header = Header::kAuto, .missing = "fail"}); },
        {"delimiter"});
  }
}

TEST_F(TableTest, KeepsEmptyFieldsAtTheEndsOfALine) {
  for (const std::string delimiter : {",", "\t", ";"}) {
    const auto text = "1" + delimiter + "2" + delimiter + "\n3" + delimiter + "4" + delimiter +
                      "5\n" + delimiter + "6" + delimiter + "7\n";
    EXPECT_EQ(rows(text), (Rows2{{"1", "2", ""}, {"3", "4", "5"}, {"", "6", "7"}})) << delimiter;
  }
  EXPECT_EQ(rows("\ta\tb\n1\t2\t3\n"), (Rows2{{"1", "2", "3"}}));
}

TEST_F(TableTest, DetectsTheHeader) {
  EXPECT_TRUE(table("u,v,w\n1,2,3\n").has_header());
  EXPECT_TRUE(table("source,target\nann,bob\n").has_header());
  EXPECT_FALSE(table("1,2\n3,4\n").has_header());
  EXPECT_FALSE(table("ann,bob\nbob,cid\n").has_header());
  EXPECT_FALSE(table("ann,5\nbob,6\n").has_header());
  EXPECT_TRUE(table("person,team\nann,blue\n", {}, {"team"}).has_header());
  EXPECT_FALSE(table("1,2\n3,4\n", {}, {"2"}).has_header());
}

TEST_F(TableTest, WordsThatDoNotRecurAreAHeader) {
  EXPECT_TRUE(table("employee,manager\nann,bob\ncid,bob\ndan,bob\n").has_header());
  EXPECT_TRUE(table("id,x\na,nan\nb,1\n").has_header());
  EXPECT_TRUE(table("who,when\nann,2024-05-01\n").has_header());
  EXPECT_FALSE(table("ann,bob\ncid,bob\ndan,bob\n").has_header());
  EXPECT_FALSE(table("ann,bob\ncid,dan\neve,fay\n").has_header());
  EXPECT_FALSE(table("p17,p23\np1,p2\np1,p3\np2,p3\n").has_header());
  EXPECT_FALSE(table("ann,2024-05-01\nbob,2024-05-02\n").has_header());
}

TEST_F(TableTest, UsesTheGivenHeaderOption) {
  EXPECT_EQ(
      table("1,2\n3,4\n", {.delimiter = {}, .header = Header::kYes, .missing = "fail"}).columns(),
      (Strings{"1", "2"}));
  EXPECT_EQ(rows("u,v\n1,2\n", {.delimiter = {}, .header = Header::kNo, .missing = "fail"}).size(),
            2u);
}

TEST_F(TableTest, FindsColumnsByNameOrPosition) {
  const auto found = table("source,3,city\n1,2,Rome\n",
                           {.delimiter = {}, .header = Header::kYes, .missing = "fail"});
  EXPECT_EQ(found.column("city", "x"), 2);
  EXPECT_EQ(found.column("1", "x"), 0);
  EXPECT_EQ(found.column("3", "x"), 1);  // names take precedence over positions
  EXPECT_EQ(found.find("none"), std::nullopt);
  for (const auto* bad : {"none", "0", "4", "-1", "1x", ""}) {
    expect_error([&] { found.column(bad, "label"); },
                 {"a.csv: has no column", "for label", "source, 3, city"});
  }
}

TEST_F(TableTest, DetectsTheTypesOfColumns) {
  std::string text = "number,date,word,note,gaps\n";
  for (int i = 0; i < 40; ++i) {
    text += join(i, ".5,2024-05-0", i % 9 + 1, ",", i % 3 == 0 ? "red" : "blue", ",note ", i, ",",
                 i % 2 == 0 ? "NA" : "7", "\n");
  }
  const auto found = table(text);
  EXPECT_EQ(found.type(0), ColumnType::kNumber);
  EXPECT_EQ(found.type(1), ColumnType::kDate);
  EXPECT_EQ(found.type(2), ColumnType::kCategory);
  EXPECT_EQ(found.type(3), ColumnType::kText);
  EXPECT_EQ(found.type(4), ColumnType::kNumber);
}

TEST_F(TableTest, SkipsBlankLinesAndLeadingComments) {
  EXPECT_EQ(rows("# from somewhere\n\n% and more\nu,v\n\n1,2\n   \n\r\n3,4\n\n"),
            (Rows2{{"1", "2"}, {"3", "4"}}));
  // Below the first line of the table, such a line is data.
  EXPECT_EQ(rows("u,v\n#1,2\n"), (Rows2{{"#1", "2"}}));
}

TEST_F(TableTest, ReadsWindowsLineEndingsAndALastLineWithoutNewline) {
  EXPECT_EQ(rows("u,v\r\n1,2\r\n3,4"), (Rows2{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(table("\xEF\xBB\xBFsource,target\r\n1,2\r\n").columns(), (Strings{"source", "target"}));
}

TEST_F(TableTest, ReadsQuotedFields) {
  EXPECT_EQ(rows("u,v\n\"a,b\",1\n"), (Rows2{{"a,b", "1"}}));
  EXPECT_EQ(rows("u,v\n\"say \"\"hi\"\"\",1\n"), (Rows2{{"say \"hi\"", "1"}}));
  EXPECT_EQ(rows("u,v\n\"\",1\n"), (Rows2{{"", "1"}}));
  EXPECT_EQ(rows("u,v\n \"a b\" , 1 \n"), (Rows2{{"a b", "1"}}));
  EXPECT_EQ(rows("u,v\n\"\"\"\",1\n"), (Rows2{{"\"", "1"}}));
  EXPECT_EQ(rows("\"source\",\"target\"\n1,2\n"), (Rows2{{"1", "2"}}));
  EXPECT_EQ(rows("u v\n\"a b\" 1\n"), (Rows2{{"a b", "1"}}));
}

TEST_F(TableTest, QuotesWithinAFieldAreText) {
  const TableOptions tabs{.delimiter = "tab", .header = Header::kNo, .missing = "fail"};
  EXPECT_EQ(rows("\"Why\" is a question\t1\n", tabs), (Rows2{{"\"Why\" is a question", "1"}}));
  EXPECT_EQ(rows("\"unclosed\t1\nx\t\"y\"\n", tabs), (Rows2{{"\"unclosed", "1"}, {"x", "y"}}));
  EXPECT_EQ(rows("5\" disk\t1\n", tabs), (Rows2{{"5\" disk", "1"}}));
}

TEST_F(TableTest, QuotedFieldsMayContainNewlines) {
  EXPECT_EQ(rows("u,v\n\"a\nb\",1\n\"c\"\"\r\nd\" ,\"2\n\"\n"),
            (Rows2{{"a\nb", "1"}, {"c\"\r\nd", "2\n"}}));
  expect_error([&] { rows("u,v\n\"a\nb\",1\nc\n"); }, {"line 4: has 1 columns"});
  expect_error([&] { rows("u,v\n1,2\n3,\"4\n5,6\n"); }, {"line 3: a quote is not closed"});
}

// A record that crosses the end of a block is read whole.
TEST_F(TableTest, RecordsWithNewlinesMayCrossBlocks) {
  std::string text = "u,v\n";
  const size_t count = TextStream::kBlock / 100 * 3;
  const std::string field = std::string(50, 'x') + "\n" + std::string(50, 'y');
  for (size_t i = 0; i < count; ++i) text += "\"" + field + "\"," + std::to_string(i) + "\n";
  const auto read = rows(text);
  ASSERT_EQ(read.size(), count);
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(read[i][0], field);
    ASSERT_EQ(read[i][1], std::to_string(i));
  }
}

TEST_F(TableTest, RejectsRowsOfAnotherWidth) {
  expect_error([&] { rows("u,v,w\n1,2,3\n\n1,2\n"); },
               {"a.csv: line 4: has 2 columns, expected 3"});
  expect_error([&] { rows("# c\nu,v,w\n1,2,3\n1,2,3,4\n"); }, {"line 4: has 4 columns"});
}

TEST_F(TableTest, RejectsAnEmptyFile) {
  for (const auto* text : {"", "\n\n", "# only a comment\n", "\xEF\xBB\xBF", "  \t\r\n"}) {
    expect_error([&] { table(text); }, {"a.csv: is empty"});
  }
}

// The comments fill several of the blocks that are read to detect the format.
TEST_F(TableTest, CountsTheLinesOfLongComments) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "# a comment\n";
  EXPECT_EQ(rows(text + "u,v\n1,2\n3,4\n"), (Rows2{{"1", "2"}, {"3", "4"}}));
  expect_error([&] { rows(text + "u,v\n1,2\n3\n"); }, {"line 20003: has 1 columns"});
}

TEST_F(TableTest, ReportsLineColumnAndValueOfABadNumber) {
  auto found = table("u,weight\n1,2\n2,abc\n");
  const auto parse = [](int&, const Row& row) { row.number(1); };
  expect_error([&] { found.read<int>(parse, [](int) {}); },
               {"a.csv: line 3: column 'weight' is 'abc', expected a finite number"});
}

TEST_F(TableTest, RecognizesMissingNumbers) {
  const auto read = [&](const std::string& missing, const std::string& field) {
    float value = -1;
    auto found = table("u,weight\n1," + field + "\n2,3\n",
                       {.delimiter = {}, .header = Header::kAuto, .missing = missing});
    const auto parse = [](Floats& chunk, const Row& row) { chunk.push_back(row.attribute(1)); };
    found.read<Floats>(parse, [&](const Floats& chunk) { value = chunk[0]; });
    return value;
  };
  for (const auto* field : {"", "NA", "n/a", "NaN", "null", "None", "-"}) {
    EXPECT_TRUE(std::isnan(read("mean", field))) << field;
    EXPECT_EQ(read("7.5", field), 7.5F) << field;
    expect_error([&] { read("fail", field); },
                 {join("line 2: column 'weight' is '", field, "'"), "set missing to mean"});
  }
  expect_error([&] { read("mean", "five"); }, {"line 2", "'five'", "a finite number"});
  expect_error([&] { read("median", "1"); }, {"missing 'median': must be mean, fail or a number"});
}

TEST_F(TableTest, RejectsAttributesBeyondSinglePrecision) {
  auto found = table("u,weight\n1,1e39\n");
  const auto parse = [](int&, const Row& row) { row.attribute(1); };
  expect_error([&] { found.read<int>(parse, [](int) {}); }, {"line 2", "1e39", "single precision"});
}

// More than two blocks of 4 MiB, so that lines are counted across blocks and threads.
TEST_F(TableTest, CountsLinesAcrossBlocks) {
  std::string text = "# comment\nu,v\n";
  int64_t line = 2;
  int64_t bad = 0;
  while (text.size() < 10'000'000) {
    ++line;
    if (line % 1000 == 0) text += "\n", ++line;
    if (bad == 0 && text.size() > 9'000'000) {
      bad = line;
      text += "7,oops\n";
    } else {
      text += std::to_string(line) + ",123456\n";
    }
  }
  const auto parse = [](int&, const Row& row) { row.number(1); };
  expect_error([&] { table(text).read<int>(parse, [](int) {}); },
               {"line " + std::to_string(bad) + ":", "'oops'"});
  // In a good file every row arrives once, in order.
  int64_t last = 0;
  int64_t count = 0;
  const auto keep = [](std::vector<int64_t>& chunk, const Row& row) {
    EXPECT_TRUE(row.text(0) == "7" || row.text(0) == std::to_string(row.line()));
    chunk.push_back(row.line());
  };
  table(text).read<std::vector<int64_t>>(keep, [&](const std::vector<int64_t>& chunk) {
    for (const int64_t at : chunk) {
      ASSERT_GT(at, last);
      last = at;
      ++count;
    }
  });
  EXPECT_EQ(last, line);
  EXPECT_EQ(count, line - 2 - line / 1000 + (line % 1000 == 0 ? 1 : 0));
}

}  // namespace
}  // namespace lase
