#include "lase/graph/schema.h"

#include "support.h"

namespace lase {
namespace {

// Links whose rows are transactions with a time.
class Events : public FolderTest {
 protected:
  Graph read(const std::string& text, Strings more = {}, const Schema* schema = nullptr) const {
    more.insert(more.begin(), write("links.csv", text));
    return import("links", more, schema).graph;
  }
  // The value of an attribute of the arc from u to v.
  static float value(const Graph& graph, const std::string& u, const std::string& v,
                     const std::string& name) {
    for (int64_t j = 0; j < graph.attribute_names.size(); ++j) {
      if (graph.attribute_names[j] == name) return arc(graph, u, v)[static_cast<size_t>(j)];
    }
    ADD_FAILURE() << "no attribute " << name;
    return 0;
  }
};

const std::string kPayments =
    "from,to,when,amount,channel\n"
    "a,b,100,5,web\n"
    "a,b,140,-7,atm\n"
    "b,c,199,3,web\n"
    "b,a,200,,web\n";

const Strings kTimed = {"--time", "when", "--slices", "2", "--counts", "none"};

TEST_F(Events, SumUpTheRowsOfALink) {
  const auto graph = read(kPayments, kTimed);
  EXPECT_EQ(texts(graph.attribute_names),
            (Strings{"count", "when_first", "when_last", "amount_sum", "amount_mean", "amount_max",
                     "amount_missing", "channel=web", "channel=atm", "slice 0", "slice 1",
                     "amount slice 0", "amount slice 1"}));
  const auto of = [&](const std::string& name) { return value(graph, "a", "b", name); };
  const float mean = 1.0F / 3;  // of the known amounts replaces the missing one
  EXPECT_EQ(of("count"), 3);
  EXPECT_FLOAT_EQ(of("when_first"), 0);
  EXPECT_FLOAT_EQ(of("when_last"), 1);
  EXPECT_FLOAT_EQ(of("amount_sum"), -2 + mean);
  EXPECT_FLOAT_EQ(of("amount_mean"), (-2 + mean) / 3);
  EXPECT_EQ(of("amount_max"), 5);
  EXPECT_EQ(of("amount_missing"), 1);
  EXPECT_EQ(of("channel=web"), 2);
  EXPECT_EQ(of("channel=atm"), 1);
  EXPECT_EQ(of("slice 0"), 2);
  EXPECT_EQ(of("slice 1"), 1);
  EXPECT_EQ(of("amount slice 0"), -2);
  EXPECT_FLOAT_EQ(of("amount slice 1"), mean);
  EXPECT_FLOAT_EQ(value(graph, "b", "c", "when_first"), 0.99F);
  EXPECT_FLOAT_EQ(value(graph, "b", "c", "when_last"), 0.99F);
}

TEST_F(Events, MayBeSeparatedByDirectionAndTransformed) {
  const auto graph = read(kPayments, {"--time", "when", "--slices", "2", "--separate-directions"});
  EXPECT_FLOAT_EQ(value(graph, "a", "b", "out count"), std::log(3.0F));
  EXPECT_FLOAT_EQ(value(graph, "a", "b", "in count"), std::log(2.0F));
  EXPECT_FLOAT_EQ(value(graph, "a", "b", "out amount_sum"), -std::log(3.0F));
  EXPECT_FLOAT_EQ(value(graph, "a", "b", "out when_last"), 0.4F);  // times are not transformed
}

TEST_F(Events, FollowAnEarlierGraph) {
  const auto graph = read(kPayments, kTimed);
  const Schema schema = schema_of(graph);
  const auto later = read("from,to,when,amount,channel\nx,y,150,2,fax\nx,y,190,4,atm\n",
                          {"--counts", "none", "--time", "when"}, &schema);
  EXPECT_EQ(texts(later.attribute_names), texts(graph.attribute_names));
  EXPECT_EQ(value(later, "x", "y", "amount_sum"), 6);
  EXPECT_EQ(value(later, "x", "y", "channel=atm"), 1);
  EXPECT_FLOAT_EQ(value(later, "x", "y", "when_first"), 0.5F);
  EXPECT_FLOAT_EQ(value(later, "x", "y", "when_last"), 0.9F);
  EXPECT_EQ(value(later, "x", "y", "slice 1"), 2);
  // The column of times is the same without being named.
  EXPECT_EQ(texts(read(kPayments, {}, &schema).attribute_names), texts(graph.attribute_names));
}

TEST_F(Events, RejectContradictoryOptions) {
  expect_error([&] { read(kPayments, {"--slices", "3"}); }, {"slices", "require time"});
  expect_error(
      [&] {
        read(kPayments, {"--time", "when", "--merge", "max"});
      },
      {"merge: cannot be combined with time"});
  expect_error(
      [&] {
        read(kPayments, {"--time", "when", "--duplicate-links", "keep"});
      },
      {"duplicate_links keep: cannot be combined with time"});
  expect_error(
      [&] {
        read(kPayments, {"--time", "channel"});
      },
      {"line 2: column 'channel' is 'web', expected a time"});
}

// Without a time, sums of dates would have no meaning.
TEST_F(Events, DatesOfMergedRowsAreAveraged) {
  const auto graph = read("source,target,day,x\na,b,1970-01-11,1\nb,a,1970-01-21,2\n");
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{15, 3}));
}

TEST_F(Events, TypesMayBeGiven) {
  const std::string text = "source,target,zip,ok\na,b,123,yes\nb,c,456,no\nc,a,123,\n";
  const auto graph = read(text, {"--types", "zip=category"});
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"ok", "ok_missing", "zip=123", "zip=456"}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1, 0, 1, 0}));
  EXPECT_EQ(arc(graph, "a", "c"), (Floats{0.5, 1, 1, 0}));
  EXPECT_EQ(texts(read(text, {"--types", "zip=ignore,ok=category"}).attribute_names),
            (Strings{"ok=yes", "ok=no", "ok="}));
  expect_error(
      [&] {
        read(text, {"--types", "zap=number"});
      },
      {"types 'zap=number': no table has a column 'zap'; "});
  expect_error(
      [&] {
        read(text, {"--types", "zip=integer"});
      },
      {"types 'zip=integer': must be NAME=TYPE"});
}

// Positions in time, like slices, must mean the same for later data.
TEST_F(Events, TimesAreMeasuredFromTheLatestRowUnlessSlicedBySpan) {
  const std::string week = "from,to,when\na,b,2024-01-01\na,b,2024-01-03\nb,c,2024-01-05\n";
  const std::string later = "from,to,when\na,b,2024-05-01\na,b,2024-05-03\nb,c,2024-05-05\n";
  const auto graph = read(week, {"--time", "when", "--slices-by", "weekday"});
  EXPECT_FLOAT_EQ(value(graph, "a", "b", "when_first"), 1);
  EXPECT_FLOAT_EQ(value(graph, "a", "b", "when_last"), 0.5F);
  const Schema schema = schema_of(graph);
  const auto next = read(later, {}, &schema);
  EXPECT_FLOAT_EQ(value(next, "a", "b", "when_first"), 1);
  EXPECT_FLOAT_EQ(value(next, "a", "b", "when_last"), 0.5F);
}

TEST_F(Events, NumbersMayHaveDecimalCommas) {
  const std::string text = "source;target;amount\na;b;1,5\nb;c;-2,25\nc;d;3\n";
  const auto graph = read(text, {"--decimal", ","});
  EXPECT_EQ(arc(graph, "b", "c"), Floats{-2.25});
  expect_error(
      [&] {
        read(text, {"--types", "amount=number"});
      },
      {"line 2: column 'amount' is '1,5', expected a number with a decimal point"});
}

TEST_F(Events, IgnoredColumnsHaveAReason) {
  std::string text = "source,target,memo,day,price\n";
  for (int i = 0; i < 40; ++i) {
    text += join("a", i, ",b,word", i, ",", i % 28 + 1, ".1.", 1980 + i, ",\"", i, ",5\"\n");
  }
  const auto raw = read_format("links", {write("links.csv", text)});
  ASSERT_EQ(raw.tables[0].ignored.size(), 3U);
  EXPECT_EQ(raw.tables[0].ignored[0], "memo (text)");
  EXPECT_NE(raw.tables[0].ignored[1].find("day (text; for dates, set"), std::string::npos);
  EXPECT_NE(raw.tables[0].ignored[2].find("price (text; for decimal commas"), std::string::npos);
}

TEST_F(Events, AHeaderAloneIsAnError) {
  expect_error([&] { read("source,target,amount\n"); }, {"has no rows below its header"});
  expect_error([&] { read("caller,callee,call_start\n"); }, {"has no rows below its header"});
}

TEST_F(Events, LaterDataAreReadLikeTheEarlierGraph) {
  const auto nodes = write("n.csv", "id;team;fee\na;x;1,5\nb;y;2,5\n");
  const std::string links = "source,target\na,b\n";
  const auto graph = read(links, {"--nodes", nodes, "--label", "team", "--decimal", ","});
  const Schema schema = schema_of(graph);
  const auto later = read(links, {"--nodes", nodes}, &schema);
  EXPECT_EQ(texts(later.nodes.labels.names), (Strings{"x", "y"}));
  EXPECT_EQ(later.nodes.labels.label[1], 1);
  EXPECT_EQ(row(later.nodes.features, 0), Floats{1.5});
}

}  // namespace
}  // namespace lase
