#include "lase/graph/schema.h"

#include "support.h"

namespace lase {
namespace {

class SetsFormat : public FolderTest {
 protected:
  RawGraph raw(const std::string& text, Strings more = {}, const Schema* schema = nullptr) const {
    more.insert(more.begin(), {write("papers.tsv", text), "--members", "authors"});
    return read_format("sets", more, schema);
  }
  Graph read(const std::string& text, const Strings& more = {},
             const Schema* schema = nullptr) const {
    return build_graph(raw(text, more, schema)).graph;
  }
};

// Ann on papers 0, 1, 2; Bob on 0, 1; bob on 2; Cid on 2, listed twice; paper 3 has no authors.
const std::string kPapers =
    "venue\ttitle\tauthors\n"
    "x\tgraph one\tAnn;Bob\n"
    "y\tgraph two\t Bob ; Ann\n"
    "x\tthe third\tAnn;bob;Cid;Cid\n"
    "y\tthe last\t\n";

TEST_F(SetsFormat, LinksItemsThatShareAMember) {
  const auto graph = read(kPapers);
  EXPECT_EQ(graph.node_count(), 4);
  EXPECT_EQ(graph.links, 3);
  EXPECT_EQ(graph.link_attributes.layout, Layout::kSparse);
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"Ann", "Bob"}));
  EXPECT_EQ(texts(graph.nodes.names), (Strings{"0", "1", "2", "3"}));
  EXPECT_EQ(arc(graph, "0", "1"), (Floats{1, 1}));
  EXPECT_EQ(arc(graph, "0", "2"), (Floats{1, 0}));
  EXPECT_EQ(neighbors(graph, "3"), Strings{});
}

TEST_F(SetsFormat, FoldsCase) {
  const auto graph = read(kPapers, {"--fold-case"});
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"ann", "bob"}));
  EXPECT_EQ(arc(graph, "0", "2"), (Floats{1, 1}));
}

TEST_F(SetsFormat, IgnoresMembersOfTooManyItems) {
  const auto limited = raw(kPapers, {"--max-members", "2"});
  EXPECT_EQ(texts(limited.attribute_names), Strings{"Bob"});
  ASSERT_EQ(limited.notes.size(), 2u);
  EXPECT_NE(limited.notes[1].find("1 members of more than 2 items"), std::string::npos);
  EXPECT_EQ(read(kPapers, {"--max-members", "2"}).links, 1);
  EXPECT_EQ(read(kPapers, {"--max-members", "0"}).links, 3);
}

TEST_F(SetsFormat, ReadsLabelsTextAndIdsFromTheSameTable) {
  const auto graph = read(kPapers, {"--label", "venue", "--text", "title", "--id", "title"});
  EXPECT_EQ(texts(graph.nodes.names)[2], "the third");
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"x", "y"}));
  EXPECT_EQ(texts(graph.nodes.feature_names), (Strings{"title:graph", "title:the"}));
  expect_error([&] { read(kPapers, {"--id", "venue"}); }, {"line 4: node 'x' is listed twice"});
}

TEST_F(SetsFormat, CountsMembersByTheirNumberOfItems) {
  const auto counts = read(kPapers, {"--attributes", "counts"});
  EXPECT_EQ(counts.link_attributes.columns, 8);
  EXPECT_EQ(texts(counts.attribute_names)[1], "members of 3 to 4");
  // Ann has three items, Bob two.
  EXPECT_EQ(arc(counts, "0", "1"), (Floats{1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(arc(counts, "0", "2"), (Floats{0, 1, 0, 0, 0, 0, 0, 0}));
  const auto both = read(kPapers, {"--attributes", "both"});
  EXPECT_EQ(arc(both, "0", "1"), (Floats{1, 1, 0, 0, 0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(texts(both.attribute_names)[8], "Ann");
}

TEST_F(SetsFormat, FollowsTheKindOfAttributesOfAnEarlierGraph) {
  const Schema counts = schema_of(read(kPapers, {"--attributes", "counts"}));
  EXPECT_EQ(read(kPapers, {"--attributes", "counts"}, &counts).link_attributes.columns, 8);
  expect_error([&] { read(kPapers, {}, &counts); }, {"attributes members", "counts"});
  const Schema members = schema_of(read(kPapers));
  expect_error([&] { read(kPapers, {"--attributes", "both"}, &members); }, {"both", "members"});
}

TEST_F(SetsFormat, AcceptsAnySeparator) {
  const auto graph = read("id\tauthors\n1\tA and B\n2\tB\n", {"--separator", " and "});
  EXPECT_EQ(texts(graph.attribute_names), Strings{"B"});
  expect_error([&] { read(kPapers, {"--separator", ""}); }, {"separator '': must have"});
  expect_error([&] { read("id\tpeople\n1\tA\n"); }, {"'authors' for members"});
}

TEST_F(SetsFormat, ReportsItsOwnTableIfFeaturesDoNotMatch) {
  const auto file = write("f.npy", npy("<f4", "(1, 1)", bytes_of(Floats{1})));
  expect_error(
      [&] {
        read(kPapers, {"--features", file});
      },
      {"f.npy: has 1 rows, expected 4", "papers.tsv"});
}

TEST_F(SetsFormat, FollowsTheMembersOfAnEarlierGraph) {
  Schema schema;
  schema.attribute_names = make_string_table(Strings{"Zoe", "Bob"});
  const auto first = raw(kPapers, {}, &schema);
  EXPECT_EQ(texts(first.attribute_names), (Strings{"Zoe", "Bob"}));
  EXPECT_NE(first.notes[1].find("1 shared members are not in the earlier graph"),
            std::string::npos);
  const auto graph = read(kPapers, {}, &schema);
  EXPECT_EQ(arc(graph, "0", "1"), (Floats{0, 1}));
  EXPECT_EQ(arc(graph, "0", "2"), (Floats{0, 0}));
}

}  // namespace
}  // namespace lase
