#include "support.h"

namespace lase {
namespace {

class TypedFormat : public FolderTest {
 protected:
  RawGraph raw(const std::string& text, Strings more = {}, const Schema* schema = nullptr) const {
    more.insert(more.begin(), write("typed.csv", text));
    return read_format("typed", more, schema);
  }
  Graph read(const std::string& text, const Strings& more = {},
             const Schema* schema = nullptr) const {
    return build_graph(raw(text, more, schema)).graph;
  }
};

const std::string kTyped =
    "source,target,relation\n"
    "a,b,knows\nb,a,likes\na,b,knows\nb,c,\nc,d,likes\n";

TEST_F(TypedFormat, CountsRelationsOfALink) {
  const auto graph = read(kTyped);
  EXPECT_EQ(graph.links, 3);
  EXPECT_EQ(graph.link_attributes.layout, Layout::kSparse);
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"knows", "likes"}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{2, 1}));
  EXPECT_EQ(arc(graph, "d", "c"), (Floats{0, 1}));
  EXPECT_EQ(arc(graph, "b", "c"), (Floats{0, 0}));  // a link without a relation
}

// An option that is not set must not match an empty field of the first line as a header.
TEST_F(TypedFormat, AcceptsAnEmptyRelationInTheFirstRow) {
  const auto graph = read("a,b,\nc,d,knows\n");
  EXPECT_EQ(graph.links, 2);
  EXPECT_EQ(arc(graph, "a", "b"), Floats{0});
}

TEST_F(TypedFormat, SumsWeights) {
  EXPECT_EQ(arc(read("a b knows 2\na b knows 0.5\n"), "a", "b"), Floats{2.5});
  EXPECT_EQ(arc(read("source,target,kind,strength\na,b,x,3\n", {"--weight", "strength"}), "a", "b"),
            Floats{3});
  expect_error([&] { read("a b knows 1\na b knows much\n"); }, {"line 2", "'much'"});
}

TEST_F(TypedFormat, KeepsDirections) {
  const auto directed = read(kTyped, {"--directed"});
  EXPECT_EQ(arc(directed, "a", "b"), (Floats{2, 0}));
  EXPECT_EQ(arc(directed, "b", "a"), (Floats{0, 1}));
  const auto separate = read(kTyped, {"--separate-directions"});
  EXPECT_EQ(arc(separate, "b", "a"), (Floats{0, 1, 2, 0}));
}

TEST_F(TypedFormat, UsesTheOrderOfAList) {
  const auto list = write("relations.txt", "likes\r\nhates\r\nknows");
  const auto graph = read(kTyped, {"--relations", list});
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"likes", "hates", "knows"}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{1, 0, 2}));
}

TEST_F(TypedFormat, AcceptsColumnOptions) {
  const auto graph = read("knows;x;y\n", {"--relation", "1", "--delimiter", ";", "--header", "no"});
  EXPECT_EQ(texts(graph.nodes.names), (Strings{"x", "y"}));
  EXPECT_EQ(texts(graph.attribute_names), Strings{"knows"});
}

TEST_F(TypedFormat, FollowsTheRelationsOfAnEarlierGraph) {
  Schema schema;
  schema.attribute_names = make_string_table(Strings{"likes", "knows"});
  const auto first = raw("a b knows\na b hates\n", {}, &schema);
  EXPECT_EQ(texts(first.attribute_names), (Strings{"likes", "knows"}));
  ASSERT_EQ(first.notes.size(), 1u);
  EXPECT_NE(first.notes[0].find("1 rows have relations"), std::string::npos);
  EXPECT_EQ(arc(read("a b knows\na b hates\n", {}, &schema), "a", "b"), (Floats{0, 1}));
}

}  // namespace
}  // namespace lase
