// `import --like`: new data get the same attributes, in the same order, as an earlier graph.

#include "lase/graph/schema.h"

#include "support.h"

namespace lase {
namespace {

class LikeFlag : public FolderTest {
 protected:
  // Imports the first text, then the second with its schema; like the program, but in process.
  void import_both(const std::string& kind, const std::string& first, const std::string& second,
                   const Strings& flags = {}) {
    import_both(kind, first, flags, second, flags);
  }
  void import_both(const std::string& kind, const std::string& first, Strings first_flags,
                   const std::string& second, Strings second_flags) {
    first_flags.insert(first_flags.begin(), write("old.csv", first));
    second_flags.insert(second_flags.begin(), write("new.csv", second));
    old_ = import_graph(kind, first_flags);
    const Schema schema = schema_of(old_);
    new_ = import_graph(kind, second_flags, &schema);
    require_schema(new_, old_);
  }
  Graph old_;
  Graph new_;
};

TEST_F(LikeFlag, RelationsKeepTheirColumns) {
  import_both("typed", "a b knows\nb c likes\n", "x y likes\ny z hates\n");
  EXPECT_EQ(texts(new_.attribute_names), texts(old_.attribute_names));
  EXPECT_EQ(arc(new_, "x", "y"), (Floats{0, 1}));
  EXPECT_EQ(arc(new_, "y", "z"), (Floats{0, 0}));
}

TEST_F(LikeFlag, RelationsKeepTheirColumnsInBothDirections) {
  import_both("typed", "a b knows\nb c likes\n", "x y likes\n", {"--separate-directions"});
  EXPECT_EQ(texts(new_.attribute_names), texts(old_.attribute_names));
  EXPECT_EQ(arc(new_, "x", "y"), (Floats{0, 1, 0, 0}));
  EXPECT_EQ(arc(new_, "y", "x"), (Floats{0, 0, 0, 1}));
}

TEST_F(LikeFlag, CategoriesKeepTheirColumnsInBothDirections) {
  import_both("links", "source,target,city\na,b,Rome\nb,c,Oslo\n", "source,target,city\nx,y,Oslo\n",
              {"--categorical", "city", "--separate-directions"});
  EXPECT_EQ(arc(new_, "x", "y"), (Floats{0, 1, 0, 0}));
}

TEST_F(LikeFlag, SlicesAndMembersKeepTheirColumns) {
  import_both("contacts", "a b 0\na b 8\n", "x y 7\n",
              {"--slices", "4", "--counts", "none", "--separate-directions"});
  EXPECT_EQ(arc(new_, "x", "y"), (Floats{0, 0, 0, 1, 0, 0, 0, 0}));
  import_both("sets", "id,authors\n1,A;B\n2,A;B\n", "id,authors\n3,B;C\n4,C;B\n",
              {"--members", "authors"});
  EXPECT_EQ(arc(new_, "0", "1"), (Floats{0, 1}));
}

TEST_F(LikeFlag, ClassesAndTextFeaturesKeepTheirIndices) {
  import_both("sets", "title\tteam\tauthors\nbig graph\tx\tA\nsmall graph\ty\tA\n",
              "title\tteam\tauthors\nnew graph\ty\tA\nbig end\tz\tA\n",
              {"--members", "authors", "--label", "team", "--text", "title"});
  EXPECT_EQ(texts(new_.nodes.feature_names), texts(old_.nodes.feature_names));
  EXPECT_EQ(texts(new_.nodes.labels.names), (Strings{"x", "y", "z"}));
  EXPECT_EQ(new_.preprocessing["idf"], old_.preprocessing["idf"]);
}

TEST_F(LikeFlag, RejectsDifferentNumericColumns) {
  const std::string first = "source,target,amount,hour\na,b,1,2\n";
  expect_error([&] { import_both("links", first, "source,target,hour,amount\nx,y,1,2\n"); },
               {"earlier graph", "amount"});
  expect_error([&] { import_both("links", first, "source,target,amount\nx,y,1\n"); },
               {"earlier graph"});
  import_both("links", first, {}, "source,target,hour,amount\nx,y,1,2\n",
              {"--attributes", "amount,hour"});
  EXPECT_EQ(arc(new_, "x", "y"), (Floats{2, 1}));
}

TEST_F(LikeFlag, RejectsDifferentNodeFeatures) {
  const auto first = write("n1.csv", "id,age,height\na,1,2\nb,3,4\n");
  const auto second = write("n2.csv", "id,height,age\na,1,2\nb,3,4\n");
  const std::string links = "source,target\na,b\n";
  expect_error(
      [&] {
        import_both("links", links, {"--nodes", first}, links, {"--nodes", second});
      },
      {"earlier graph", "age"});
}

TEST_F(LikeFlag, RejectsSeparateDirectionsThatTheEarlierGraphDoesNotHave) {
  expect_error(
      [&] { import_both("contacts", "a b 0\na b 8\n", {}, "x y 7\n", {"--separate-directions"}); },
      {"earlier graph"});
}

TEST_F(LikeFlag, WorksOnTheCommandLine) {
  const auto old = write("old.csv", "a b knows\nb c likes\n");
  const auto fresh = write("new.csv", "x y likes\ny z hates\n");
  ASSERT_EQ(run_cli({"import", "typed", old, "--out", path("old.graph")}).code, 0);
  const auto result = run_cli({"import", "typed", fresh, "--like", path("old.graph"), "--out",
                               path("new.graph"), "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.json()["link_attributes"], 2);
  expect_rejected(run_cli({"import", "typed", fresh, "--like", old, "--out", path("g.graph")}),
                  {"old.csv"});
  EXPECT_EQ(files(), (Strings{"new.csv", "new.graph", "old.csv", "old.graph"}));
}

}  // namespace
}  // namespace lase
