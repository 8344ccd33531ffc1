#include "lase/base/error.h"
#include "lase/graph/schema.h"

#include "support.h"

namespace lase {
namespace {

class LinksFormat : public FolderTest {
 protected:
  BuiltGraph read(const std::string& text, Strings more = {},
                  const Schema* schema = nullptr) const {
    more.insert(more.begin(), write("links.csv", text));
    return import("links", more, schema);
  }
};

const std::string kSmall =
    "source,target,amount,hour,city\n"
    "a,b,1.5,7,Rome\n"
    "b,c,2,8,Oslo\n"
    "b,a,4,6,Rome\n"
    "c,c,9,9,Rome\n";

const Strings kNumbers = {"--attributes", "amount,hour"};

Strings with(Strings first, const Strings& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

TEST_F(LinksFormat, MergesParallelLinksBySumAndDropsSelfLoops) {
  const auto [graph, report] = read(kSmall, kNumbers);
  EXPECT_EQ(graph.links, 2);
  EXPECT_EQ(graph.arc_count(), 4);
  EXPECT_EQ(graph.link_attributes.layout, Layout::kDense);
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"amount", "hour"}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{5.5, 13}));
  EXPECT_EQ(arc(graph, "b", "a"), (Floats{5.5, 13}));
  EXPECT_EQ(arc(graph, "c", "b"), (Floats{2, 8}));
  EXPECT_EQ(report.raw_links, 4);
  EXPECT_EQ(report.merged, 1);
  EXPECT_EQ(report.self_loops, 1);
  EXPECT_EQ(report.isolated, 0);
}

TEST_F(LinksFormat, MergesByMeanMaximumOrFirst) {
  const auto merged = [&](const std::string& how) {
    return arc(read(kSmall, with(kNumbers, {"--merge", how})).graph, "a", "b");
  };
  EXPECT_EQ(merged("mean"), (Floats{2.75, 6.5}));
  EXPECT_EQ(merged("max"), (Floats{4, 7}));
  EXPECT_EQ(merged("first"), (Floats{1.5, 7}));
}

TEST_F(LinksFormat, KeepsOrRejectsParallelLinks) {
  const auto graph = read(kSmall, with(kNumbers, {"--duplicate-links", "keep"})).graph;
  EXPECT_EQ(graph.links, 3);
  EXPECT_EQ(neighbors(graph, "a"), (Strings{"b", "b"}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1.5, 7}));
  expect_error(
      [&] {
        read(kSmall, with(kNumbers, {"--duplicate-links", "error"}));
      },
      {"two links join 'b' and 'a'"});
}

TEST_F(LinksFormat, KeepsOrRejectsSelfLoops) {
  const auto [graph, report] = read(kSmall, with(kNumbers, {"--self-loops", "keep"}));
  EXPECT_EQ(graph.links, 3);
  EXPECT_EQ(graph.arc_count(), 5);
  EXPECT_EQ(neighbors(graph, "c"), (Strings{"b", "c"}));
  EXPECT_EQ(arc(graph, "c", "c"), (Floats{9, 9}));
  EXPECT_EQ(report.self_loops, 1);
  expect_error(
      [&] {
        read(kSmall, with(kNumbers, {"--self-loops", "error"}));
      },
      {"node 'c' to itself"});
}

TEST_F(LinksFormat, DirectedLinksHaveOneArc) {
  const auto graph = read(kSmall, with(kNumbers, {"--directed"})).graph;
  EXPECT_EQ(graph.links, 3);
  EXPECT_EQ(graph.arc_count(), 3);
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1.5, 7}));
  EXPECT_EQ(arc(graph, "b", "a"), (Floats{4, 6}));
  EXPECT_EQ(neighbors(graph, "c"), Strings{});
}

TEST_F(LinksFormat, SeparateDirectionsHaveSentAndReceived) {
  const auto graph = read(kSmall, with(kNumbers, {"--separate-directions"})).graph;
  EXPECT_EQ(graph.links, 2);
  EXPECT_EQ(graph.arc_count(), 4);
  EXPECT_EQ(texts(graph.attribute_names),
            (Strings{"out amount", "out hour", "in amount", "in hour"}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1.5, 7, 4, 6}));
  EXPECT_EQ(arc(graph, "b", "a"), (Floats{4, 6, 1.5, 7}));
  EXPECT_EQ(arc(graph, "c", "b"), (Floats{0, 0, 2, 8}));
  expect_error(
      [&] {
        read(kSmall, with(kNumbers, {"--separate-directions", "--directed"}));
      },
      {"mutually exclusive"});
  expect_error(
      [&] {
        read(kSmall, with(kNumbers, {"--separate-directions", "--duplicate-links", "keep"}));
      },
      {"separate_directions requires duplicate_links"});
}

TEST_F(LinksFormat, AcceptsColumnsByNameAndPosition) {
  EXPECT_EQ(texts(read(kSmall, {"--attributes", "4,amount"}).graph.attribute_names),
            (Strings{"hour", "amount"}));
  const auto graph =
      read("x,1,2\ny,2,3\n", {"--source", "2", "--target", "3", "--attributes", "none"});
  EXPECT_EQ(texts(graph.graph.nodes.names), (Strings{"1", "2", "3"}));
  EXPECT_EQ(graph.graph.link_attributes.columns, 0);
  const auto swapped = read("target,weight,source\na,1,b\n").graph;
  EXPECT_EQ(texts(swapped.nodes.names), (Strings{"b", "a"}));
}

TEST_F(LinksFormat, ReadsLinksWithoutAttributes) {
  const auto graph = read("1 2\n2 3\n").graph;
  EXPECT_EQ(graph.links, 2);
  EXPECT_EQ(graph.link_attributes.columns, 0);
  EXPECT_EQ(graph.link_attributes.rows, 2);
}

TEST_F(LinksFormat, EncodesCategoriesAsColumns) {
  const auto graph = read(kSmall, {"--categorical", "city", "--attributes", "amount,city"}).graph;
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"amount", "city=Rome", "city=Oslo"}));
  EXPECT_EQ(graph.link_attributes.layout, Layout::kDense);
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{5.5, 2, 0}));
  EXPECT_EQ(arc(graph, "b", "c"), (Floats{2, 0, 1}));
  // Without --columns, all others are numbers.
  EXPECT_EQ(read(kSmall, {"--categorical", "city"}).graph.link_attributes.columns, 4);
}

TEST_F(LinksFormat, ManyCategoriesAreSparse) {
  std::string text = "source,target,amount,city\n";
  for (int i = 0; i < 12; ++i) {
    text += join("a", i, ",b,", i, ",city", i, "\n");
  }
  const auto graph = read(text, {"--categorical", "city"}).graph;
  EXPECT_EQ(graph.link_attributes.layout, Layout::kSparse);
  Floats expected(13);
  expected[0] = 5;
  expected[6] = 1;
  EXPECT_EQ(arc(graph, "a5", "b"), expected);
  EXPECT_EQ(graph.link_attributes.values.size(), 11 + 12);  // the amount 0 is not stored
}

TEST_F(LinksFormat, FewDistinctRowsAreDictionaryEncoded) {
  std::string text = "source,target,kind\n";
  for (int i = 0; i < 40; ++i) text += join(i, ",hub,", i % 3, "\n");
  const auto graph = read(text).graph;
  EXPECT_EQ(graph.link_attributes.layout, Layout::kDictionary);
  EXPECT_EQ(graph.link_attributes.codes(), 3);
  EXPECT_EQ(arc(graph, "7", "hub"), Floats{1});
  EXPECT_EQ(arc(graph, "hub", "38"), Floats{2});
}

TEST_F(LinksFormat, ReportsLineColumnAndValueOfABadAttribute) {
  for (const std::string bad : {"abc", "inf", "-Infinity", "1e999", "1e39", "1,5x"}) {
    const std::string text = "source;target;amount\na;b;1\n\nb;c;" + bad + "\n";
    expect_error(
        [&] {
          read(text, {"--delimiter", ";"});
        },
        {"links.csv: line 4: column 'amount' is '" + bad + "'"});
  }
}

TEST_F(LinksFormat, RejectsWrongColumnsAndRows) {
  expect_error(
      [&] {
        read(kSmall, {"--attributes", "price"});
      },
      {"links.csv: has no column 'price' for attributes"});
  expect_error([&] { read(kSmall, {"--categorical", "price"}); }, {"'price' for categorical"});
  expect_error([&] { read(kSmall, {"--source", "sender"}); }, {"'sender'"});
  expect_error([&] { read("source,target,w\na,b,1\nb,c\n"); },
               {"line 3: has 2 columns, expected 3"});
  expect_error([&] { read("source,target\na,\n"); }, {"line 2: column 'target' is ''"});
  expect_error([&] { read("only\none\n"); }, {"1 column, expected one more for target"});
}

TEST_F(LinksFormat, RejectsSumsBeyondSinglePrecision) {
  expect_error([&] { read("source,target,w\na,b,3e38\nb,a,3e38\n"); },
               {"links between 'a' and 'b'", "single precision"});
}

TEST_F(LinksFormat, FollowsTheCategoriesOfAnEarlierGraph) {
  Schema schema;
  schema.attribute_names = make_string_table(Strings{"amount", "city=Oslo", "city=Rome"});
  const auto raw =
      read_format("links",
                  {write("l.csv", "source,target,amount,city\na,b,1,Rome\nb,c,2,Bern\n"),
                   "--categorical", "city"},
                  &schema);
  EXPECT_EQ(texts(raw.attribute_names), (Strings{"amount", "city=Oslo", "city=Rome"}));
  ASSERT_EQ(raw.notes.size(), 1u);
  EXPECT_NE(raw.notes[0].find("1 category values of links"), std::string::npos);
}

// A table of transactions: numbers with gaps, categories, dates and a text.
const std::string kPaymentRows =
    "from,to,amount,channel,date,note\n"
    "a,b,10,card,2024-01-01,first\n"
    "a,c,NA,cash,2024-01-02,second\n"
    "b,c,30,card,2024-01-03,third\n"
    "c,d,20,cash,2024-01-03,fourth\n"
    "b,d,40,card,2024-01-03,fifth\n"
    "c,e,50,cash,2024-01-03,sixth\n"
    "b,e,60,card,2024-01-03,seventh\n"
    "d,e,70,cash,2024-01-03,eighth\n"
    "a,f,80,cash,2024-01-03,ninth\n"
    "b,f,90,cash,2024-01-03,tenth\n"
    "c,f,100,cash,2024-01-03,eleventh\n";

TEST_F(LinksFormat, DetectsNumbersCategoriesAndDates) {
  const RawGraph raw = read_format("links", {write("p.csv", kPaymentRows)});
  using Roles = std::vector<std::pair<std::string, Strings>>;
  EXPECT_EQ(raw.tables[0].roles, (Roles{{"source", {"from"}},
                                        {"target", {"to"}},
                                        {"attributes", {"amount", "date"}},
                                        {"categories", {"channel"}}}));
  EXPECT_EQ(raw.tables[0].ignored, Strings{"note (text)"});
  EXPECT_EQ(texts(raw.attribute_names),
            (Strings{"amount", "date", "amount_missing", "channel=card", "channel=cash"}));
}

TEST_F(LinksFormat, FillsMissingNumbersWithTheMeanAndMarksThem) {
  const auto graph = import_graph("links", {write("p.csv", kPaymentRows)});
  const float days = 19723;  // 2024-01-01
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{10, days, 0, 1, 0}));
  EXPECT_EQ(arc(graph, "a", "c"), (Floats{55, days + 1, 1, 0, 1}));
  expect_error(
      [&] {
        import_graph("links", {path("p.csv"), "--missing", "fail"});
      },
      {"line 3: column 'amount' is 'NA'"});
  const auto filled = import_graph("links", {path("p.csv"), "--missing", "-1"});
  EXPECT_EQ(arc(filled, "a", "c"), (Floats{-1, days + 1, 0, 1}));
}

TEST_F(LinksFormat, FillsMissingNumbersWithTheMeanOfTrainingLinks) {
  const auto nodes = write("n.csv", "id,part\na,train\nb,train\nc,test\n");
  const auto graph =
      import_graph("links", {write("l.csv", "source,target,x\na,b,4\na,c,100\nb,c,\n"), "--nodes",
                             nodes, "--split", "part"});
  EXPECT_EQ(arc(graph, "b", "c"), (Floats{4, 1}));
}

TEST_F(LinksFormat, FollowsTheMeansAndTypesOfAnEarlierGraph) {
  const auto earlier = import_graph("links", {write("p.csv", kPaymentRows)});
  const Schema schema = schema_of(earlier);
  // All channels look like numbers here, no amount is missing, and there is another column.
  const auto graph = import_graph(
      "links", {write("q.csv", "from,to,amount,channel,date,extra\na,b,1,7,2024-01-01,5\n")},
      &schema);
  EXPECT_EQ(texts(graph.attribute_names), texts(earlier.attribute_names));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1, 19723, 0, 0, 0}));
  const auto missing = import_graph(
      "links", {write("r.csv", "from,to,amount,channel,date\na,b,,card,2024-01-01\n")}, &schema);
  EXPECT_EQ(arc(missing, "a", "b"), (Floats{55, 19723, 1, 1, 0}));
}

}  // namespace
}  // namespace lase
