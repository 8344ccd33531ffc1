#include <cmath>

#include "lase/graph/schema.h"

#include "support.h"

namespace lase {
namespace {

class ContactsFormat : public FolderTest {
 protected:
  RawGraph raw(const std::string& text, Strings more = {}, const Schema* schema = nullptr) const {
    more.insert(more.begin(), write("contacts.txt", text));
    return read_format("contacts", more, schema);
  }
  Graph read(const std::string& text, const Strings& more = {},
             const Schema* schema = nullptr) const {
    return build_graph(raw(text, more, schema)).graph;
  }
};

// Times from 0 to 8: with two slices of equal width, the inner edge is 4.
const std::string kContacts = "a b 0\nb a 1\na b 2\na b 8\nb c 4\nc c 5\n";

TEST_F(ContactsFormat, CountsInSlicesOfEqualWidth) {
  const auto graph = read(kContacts, {"--slices", "2", "--counts", "none"});
  EXPECT_EQ(graph.links, 2);
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"slice 0", "slice 1"}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{3, 1}));
  EXPECT_EQ(arc(graph, "b", "a"), (Floats{3, 1}));
  EXPECT_EQ(arc(graph, "b", "c"),
            (Floats{0, 1}));  // an edge belongs to the slice that starts there
  EXPECT_EQ(graph.preprocessing["slice_boundaries"], (std::vector<double>{0, 4, 8}));
}

// 0.2 + (0.9 − 0.2) · 32 / 32 is less than 0.9 in floating point.
TEST_F(ContactsFormat, KeepsTheLastContactDespiteRounding) {
  const auto graph = read("source,target,time\na,b,0.2\nb,c,0.9\n");
  EXPECT_EQ(graph.links, 2);
  EXPECT_EQ(graph.preprocessing["slice_boundaries"].back(), 0.9);
}

TEST_F(ContactsFormat, CountsInSlicesOfEqualCount) {
  const auto graph = read("a b 0\na b 1\na b 2\na b 100\n",
                          {"--slices", "2", "--slicing", "quantile", "--counts", "none"});
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{2, 2}));
  EXPECT_EQ(graph.preprocessing["slice_boundaries"], (std::vector<double>{0, 2, 100}));
}

TEST_F(ContactsFormat, TransformsCounts) {
  const auto log = arc(read(kContacts, {"--slices", "2"}), "a", "b");
  EXPECT_NEAR(log[0], std::log(4.0), 1e-6);
  EXPECT_NEAR(log[1], std::log(2.0), 1e-6);
  EXPECT_EQ(arc(read(kContacts, {"--slices", "2", "--counts", "binary"}), "a", "b"),
            (Floats{1, 1}));
}

TEST_F(ContactsFormat, SeparatesDirections) {
  const auto graph =
      read(kContacts, {"--slices", "2", "--counts", "none", "--separate-directions"});
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{2, 1, 1, 0}));
  EXPECT_EQ(arc(graph, "b", "a"), (Floats{1, 0, 2, 1}));
  EXPECT_EQ(arc(graph, "c", "b"), (Floats{0, 0, 0, 1}));
  EXPECT_EQ(texts(graph.attribute_names)[2], "in slice 0");
  EXPECT_EQ(graph.links, 2);
}

TEST_F(ContactsFormat, ReadsDates) {
  const auto graph = read(
      "source,target,date\na,b,2024-01-01\na,b,2024-01-02T12:00+02:00\na,b,2024-01-03T00:00:00Z\n",
      {"--slices", "2", "--counts", "none"});
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1, 2}));
}

TEST_F(ContactsFormat, WeighsContacts) {
  const Strings two = {"--slices", "2", "--counts", "none"};
  EXPECT_EQ(arc(read("a b 0 2.5\na b 8 3\n", two), "a", "b"), (Floats{2.5, 3}));
  EXPECT_EQ(arc(read("source,target,time,weight\na,b,0,2\na,b,8,3\n", two), "a", "b"),
            (Floats{2, 3}));
  EXPECT_EQ(arc(read("source,target,time,bytes\na,b,0,2\na,b,8,3\n",
                     {"--slices", "2", "--counts", "none", "--weight", "bytes"}),
                "a", "b"),
            (Floats{2, 3}));
  expect_error([&] { read("a b 0 -1\n"); }, {"line 1", "'-1'", "non-negative"});
}

TEST_F(ContactsFormat, AcceptsColumnsInAnyOrder) {
  const auto graph = read("0 a b\n8 a b\n", {"--time", "1", "--slices", "2", "--counts", "none"});
  EXPECT_EQ(texts(graph.nodes.names), (Strings{"a", "b"}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1, 1}));
  const auto named = read("time,receiver,sender\n0,b,a\n8,b,a\n",
                          {"--slices", "2", "--counts", "none", "--separate-directions"});
  EXPECT_EQ(arc(named, "a", "b"), (Floats{1, 1, 0, 0}));
}

TEST_F(ContactsFormat, IgnoresWeightsOnRequest) {
  EXPECT_EQ(
      arc(read("a b 0 2.5\na b 8 3\n", {"--slices", "2", "--counts", "none", "--weight", "none"}),
          "a", "b"),
      (Floats{1, 1}));
}

TEST_F(ContactsFormat, OnlyTheWeightMayBeNone) {
  for (const std::string flag : {"--source", "--target", "--time"}) {
    expect_error([&] { raw("source,target,time\na,b,1\n", {flag, "none"}); }, {"no column 'none'"});
  }
}

// A table written by pandas, with row numbers in the first column.
TEST_F(ContactsFormat, FindsColumnsByTheirNames) {
  const auto graph = raw(",contact_time,day,id1,id2\n0,20,1,a,b\n1,40,1,b,c\n2,60,1,a,c\n");
  EXPECT_EQ(texts(graph.nodes.names), (Strings{"a", "b", "c"}));
  ASSERT_EQ(graph.tables.size(), 1U);
  const TableReport& table = graph.tables[0];
  EXPECT_EQ(table.delimiter, "comma");
  EXPECT_TRUE(table.header);
  using Roles = std::vector<std::pair<std::string, Strings>>;
  EXPECT_EQ(table.roles,
            (Roles{{"source", {"id1"}}, {"target", {"id2"}}, {"time", {"contact_time"}}}));
  EXPECT_EQ(table.ignored, (Strings{"the first column (row numbers)", "day"}));
  const auto named = raw("From_Account,To_Account,amount,Date\na,b,5,2024-01-01\n");
  EXPECT_EQ(named.tables[0].roles, (Roles{{"source", {"From_Account"}},
                                          {"target", {"To_Account"}},
                                          {"time", {"Date"}},
                                          {"weight", {"amount"}}}));
}

TEST_F(ContactsFormat, FallsBackToTheOrderOfColumns) {
  const auto headed = raw("employee,manager,hired\nann,bob,1\ncid,bob,2\n");
  EXPECT_EQ(headed.tables[0].roles[0].second, Strings{"employee"});
  EXPECT_EQ(headed.tables[0].roles[2].second, Strings{"hired"});
  const auto bare = raw("a b 1\nb c 2\n");
  EXPECT_FALSE(bare.tables[0].header);
  EXPECT_EQ(bare.tables[0].delimiter, "space");
  EXPECT_EQ(bare.tables[0].roles[1].second, Strings{"column 2"});
}

TEST_F(ContactsFormat, RejectsTwoColumnsThatFitEquallyWell) {
  expect_error([&] { raw("source,target,start_time,end_time\na,b,1,2\n"); },
               {"'start_time' and 'end_time' both fit time; choose one with time"});
  EXPECT_NO_THROW(raw("source,target,start_time,end_time\na,b,1,2\n", {"--time", "end_time"}));
  expect_error([&] { raw("from,source,to,time\na,b,c,1\n"); }, {"'from' and 'source'"});
}

TEST_F(ContactsFormat, IsSparseIfThatIsSmaller) {
  EXPECT_EQ(read(kContacts, {"--slices", "2"}).link_attributes.layout, Layout::kDense);
  const auto sparse = read(kContacts, {"--slices", "1000", "--counts", "none"});
  EXPECT_EQ(sparse.link_attributes.layout, Layout::kSparse);
  EXPECT_EQ(arc(sparse, "a", "b")[0], 1);
  EXPECT_EQ(arc(sparse, "a", "b")[999], 1);
}

TEST_F(ContactsFormat, PutsContactsOfOneInstantIntoOneSlice) {
  const auto graph = read("a b 5\nb c 5\n", {"--slices", "3", "--counts", "none"});
  const auto values = arc(graph, "a", "b");
  EXPECT_EQ(values[0] + values[1] + values[2], 1);
  EXPECT_EQ(values, arc(graph, "b", "c"));
}

TEST_F(ContactsFormat, FollowsTheSlicesOfAnEarlierGraph) {
  Schema schema;
  schema.preprocessing["slice_boundaries"] = {0, 10, 20};
  const auto read = raw("a b 5\na b 20\nb c 21\nb c -1\n", {"--counts", "none"}, &schema);
  ASSERT_EQ(read.warnings.size(), 1u);
  EXPECT_NE(read.warnings[0].find("2 of 4 rows lie outside"), std::string::npos);
  const auto graph =
      build_graph(raw("a b 5\na b 20\nb c 21\n", {"--counts", "none"}, &schema)).graph;
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1, 1}));
  EXPECT_EQ(arc(graph, "b", "c"), (Floats{0, 0}));
  schema.preprocessing.erase("slice_boundaries");
  expect_error([&] { raw("a b 5\n", {}, &schema); }, {"imported without time slices"});
}

TEST_F(ContactsFormat, RejectsBadTimesAndSlices) {
  expect_error([&] { read("a b 1\na b noon\n"); }, {"line 2: column 'column 3' is 'noon'"});
  expect_error([&] { read("a b 1\na b nan\n"); }, {"line 2", "'nan'"});
  expect_error(
      [&] {
        read(kContacts, {"--slices", "-1"});
      },
      {"slices -1: must be from 0 to 1048576"});
  expect_error([&] { read(kContacts, {"--slices", "99999999"}); }, {"slices 99999999"});
  expect_error([&] { read("a b\nb c\n"); }, {"2 columns, expected one more for time"});
  expect_error([&] { read("source,target,time\n"); }, {"has no rows below its header"});
  expect_error([&] { read("a b -1e308\nb c 1e308\n"); }, {"-1e+308 to 1e+308", "too far apart"});
}

// 2024-01-01 was a Monday.
const std::string kWeek =
    "source,target,time\n"
    "a,b,2024-01-01T00:30:00\n"
    "a,b,2024-01-01T23:59:59\n"
    "b,c,2024-01-07T12:00:00\n"
    "b,c,1969-12-31T23:00:00\n";

TEST_F(ContactsFormat, SlicesByHourOfTheDay) {
  const auto graph = read(kWeek, {"--slices-by", "hour", "--counts", "none"});
  ASSERT_EQ(graph.link_attributes.columns, 24);
  EXPECT_EQ(graph.attribute_names[23], "hour 23");
  Floats expected(24);
  expected[0] = expected[23] = 1;
  EXPECT_EQ(arc(graph, "a", "b"), expected);
  expected.assign(24, 0);
  expected[12] = expected[23] = 1;
  EXPECT_EQ(arc(graph, "b", "c"), expected);
}

TEST_F(ContactsFormat, SlicesByWeekday) {
  const auto graph = read(kWeek, {"--slices-by", "weekday", "--counts", "none"});
  ASSERT_EQ(graph.link_attributes.columns, 7);
  EXPECT_EQ(graph.attribute_names[0], "Monday");
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{2, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(arc(graph, "b", "c"), (Floats{0, 0, 1, 0, 0, 0, 1}));  // 1969-12-31: a Wednesday
}

// Ages carry over to later data, other than the span.
TEST_F(ContactsFormat, SlicesByAgeApplyToLaterData) {
  const Strings flags = {"--slices-by", "age", "--slices", "2", "--counts", "none"};
  const std::string first = "a b 0\na b 9\nb c 10\n";
  const std::string later = "a b 1000\na b 1009\nb c 1010\n";
  const auto graph = read(first, flags);
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1, 1}));
  EXPECT_EQ(arc(graph, "b", "c"), (Floats{1, 0}));
  const Schema schema = schema_of(graph);
  const auto raw_later = raw(later, {"--counts", "none"}, &schema);
  EXPECT_TRUE(raw_later.warnings.empty());
  const auto next = build_graph(raw(later, {"--counts", "none"}, &schema)).graph;
  EXPECT_EQ(arc(next, "a", "b"), (Floats{1, 1}));
  EXPECT_EQ(next.preprocessing.at("slice_boundaries"), graph.preprocessing.at("slice_boundaries"));
  EXPECT_EQ(next.preprocessing.at("slices_by"), "age");
}

TEST_F(ContactsFormat, HoursAndWeekdaysHaveFixedSlices) {
  expect_error(
      [&] {
        read(kWeek, {"--slices-by", "hour", "--slices", "12"});
      },
      {"slices 12: there are 24 slices by hour"});
  expect_error(
      [&] {
        read(kWeek, {"--slices-by", "weekday", "--slicing", "quantile"});
      },
      {"slicing quantile: requires slices_by span or age"});
}

TEST_F(ContactsFormat, ReadsOtherDateFormats) {
  const auto graph = read("day,source,target\n31.12.2023,a,b\n02.01.2024,b,c\n",
                          {"--date-format", "%d.%m.%Y", "--time", "day", "--slices-by", "weekday"});
  EXPECT_GT(arc(graph, "a", "b")[6], 0);
  EXPECT_GT(arc(graph, "b", "c")[1], 0);
  expect_error(
      [&] {
        read("day,source,target\n31.13.2023,a,b\n", {"--date-format", "%d.%m.%Y", "--time", "day"});
      },
      {"line 2: column 'day' is '31.13.2023', expected a time in seconds or a date such as "
       "31.01.2024"});
  const auto zoned =
      read("t,source,target\n2024-01-01 01:00 +0200,a,b\n",
           {"--date-format", "%Y-%m-%d %H:%M %z", "--time", "t", "--slices-by", "hour"});
  EXPECT_GT(arc(zoned, "a", "b")[23], 0);
}

TEST_F(ContactsFormat, FindsPairsOfNames) {
  const auto graph = raw(",day,when,person_b,person_a\n0,1,50,x,y\n1,1,60,y,z\n");
  using Roles = std::vector<std::pair<std::string, Strings>>;
  EXPECT_EQ(graph.tables[0].roles,
            (Roles{{"source", {"person_a"}}, {"target", {"person_b"}}, {"time", {"when"}}}));
  EXPECT_TRUE(graph.warnings.empty());
  EXPECT_EQ(raw("x1,,x2,time\na,q,b,5\n").tables[0].roles[1].second, Strings{"x2"});
}

TEST_F(ContactsFormat, WarnsOfColumnsTakenInTheirOrder) {
  const auto graph = raw("room,person,hired\nr1,bob,1\nr2,bob,2\n");
  ASSERT_EQ(graph.warnings.size(), 1U);
  EXPECT_NE(graph.warnings[0].find("(source: room, target: person, time: hired)"),
            std::string::npos)
      << graph.warnings[0];
  expect_error([&] { raw("day,room,person\n1,r1,bob\n2,r2,bob\n"); },
               {"column 'person' is 'bob', expected a time",
                "columns were taken in their order, because none has a common name (source: day"});
}

TEST_F(ContactsFormat, InheritsDirectionsAndDateFormat) {
  const Strings flags = {"--date-format", "%d.%m.%Y", "--separate-directions",
                         "--slices-by",   "weekday",  "--counts",
                         "none"};
  const auto graph = read("source,target,date\na,b,01.01.2024\nb,a,02.01.2024\n", flags);
  const Schema schema = schema_of(graph);
  const auto later =
      build_graph(raw("source,target,date\na,b,08.01.2024\n", {"--counts", "none"}, &schema)).graph;
  EXPECT_TRUE(later.separate_directions);
  EXPECT_EQ(arc(later, "a", "b")[0], 1);
  expect_error(
      [&] {
        raw("a b 5\n", {"--slices-by", "hour"}, &schema);
      },
      {"slices_by hour: the earlier graph has slices by weekday"});
  expect_error(
      [&] {
        raw("a b 5\n", {"--slices", "3"}, &schema);
      },
      {"slices 3: the earlier graph has 7 slices"});
}

}  // namespace
}  // namespace lase
