// `import --like`: new data get the attributes, in the order, of an earlier graph.

#include "support.h"

namespace lase {
namespace {

class LikeFlag : public FolderTest {
 protected:
  // Imports the first text, then the second like it.
  CliResult import_both(const std::string& kind, const std::string& first,
                        const std::string& second, const Strings& flags = {}) const {
    return import_both(kind, first, flags, second, flags);
  }
  CliResult import_both(const std::string& kind, const std::string& first,
                        const Strings& first_flags, const std::string& second,
                        const Strings& second_flags) const {
    Strings old = {"import", kind, write("old.csv", first), "--out", path("old.graph")};
    old.insert(old.end(), first_flags.begin(), first_flags.end());
    const auto result = run_cli(old);
    EXPECT_EQ(result.code, 0) << result.err;
    Strings young = {"import",          kind,     write("new.csv", second), "--out",
                     path("new.graph"), "--like", path("old.graph")};
    young.insert(young.end(), second_flags.begin(), second_flags.end());
    return run_cli(young);
  }
  Graph old_graph() const { return open_graph(path("old.graph")); }
  Graph new_graph() const { return open_graph(path("new.graph")); }
};

TEST_F(LikeFlag, RelationsKeepTheirColumns) {
  const auto result = import_both("typed", "a b knows\nb c likes\n", "x y likes\ny z hates\n");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(texts(new_graph().attribute_names), texts(old_graph().attribute_names));
  EXPECT_EQ(arc(new_graph(), "x", "y"), (Floats{0, 1}));
  EXPECT_EQ(arc(new_graph(), "y", "z"), (Floats{0, 0}));
}

TEST_F(LikeFlag, RelationsKeepTheirColumnsInBothDirections) {
  const auto result =
      import_both("typed", "a b knows\nb c likes\n", "x y likes\n", {"--directional"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(texts(new_graph().attribute_names), texts(old_graph().attribute_names));
  EXPECT_EQ(arc(new_graph(), "x", "y"), (Floats{0, 1, 0, 0}));
  EXPECT_EQ(arc(new_graph(), "y", "x"), (Floats{0, 0, 0, 1}));
}

TEST_F(LikeFlag, CategoriesKeepTheirColumnsInBothDirections) {
  const auto result =
      import_both("links", "source,target,city\na,b,Rome\nb,c,Oslo\n",
                  "source,target,city\nx,y,Oslo\n", {"--categorical", "city", "--directional"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(arc(new_graph(), "x", "y"), (Floats{0, 1, 0, 0}));
}

TEST_F(LikeFlag, SlicesAndMembersKeepTheirColumns) {
  ASSERT_EQ(import_both("contacts", "a b 0\na b 8\n", "x y 7\n",
                        {"--slices", "4", "--counts", "raw", "--directional"})
                .code,
            0);
  EXPECT_EQ(arc(new_graph(), "x", "y"), (Floats{0, 0, 0, 1, 0, 0, 0, 0}));
  ASSERT_EQ(import_both("sets", "id,authors\n1,A;B\n2,A;B\n", "id,authors\n3,B;C\n4,C;B\n",
                        {"--members", "authors"})
                .code,
            0);
  EXPECT_EQ(arc(new_graph(), "0", "1"), (Floats{0, 1}));
}

TEST_F(LikeFlag, ClassesAndTextKeepTheirNumbers) {
  const auto result =
      import_both("sets", "title\tteam\tauthors\nbig graph\tx\tA\nsmall graph\ty\tA\n",
                  "title\tteam\tauthors\nnew graph\ty\tA\nbig end\tz\tA\n",
                  {"--members", "authors", "--label", "team", "--text", "title"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(texts(new_graph().nodes.feature_names), texts(old_graph().nodes.feature_names));
  EXPECT_EQ(texts(new_graph().nodes.labels.names), (Strings{"x", "y", "z"}));
  EXPECT_EQ(new_graph().recipe["idf"], old_graph().recipe["idf"]);
}

TEST_F(LikeFlag, OtherColumnsOfNumbersAreRefused) {
  const std::string first = "source,target,amount,hour\na,b,1,2\n";
  expect_refused(import_both("links", first, "source,target,hour,amount\nx,y,1,2\n"),
                 {"--like", "amount"});
  expect_refused(import_both("links", first, "source,target,amount\nx,y,1\n"), {"--like"});
  EXPECT_EQ(import_both("links", first, {}, "source,target,hour,amount\nx,y,1,2\n",
                        {"--columns", "amount,hour"})
                .code,
            0);
  EXPECT_EQ(arc(new_graph(), "x", "y"), (Floats{2, 1}));
}

TEST_F(LikeFlag, OtherNodeFeaturesAreRefused) {
  const auto first = write("n1.csv", "id,age,height\na,1,2\nb,3,4\n");
  const auto second = write("n2.csv", "id,height,age\na,1,2\nb,3,4\n");
  const std::string links = "source,target\na,b\n";
  expect_refused(import_both("links", links, {"--nodes", first}, links, {"--nodes", second}),
                 {"--like", "age"});
}

TEST_F(LikeFlag, OneDirectionAndTwoDoNotMix) {
  expect_refused(import_both("contacts", "a b 0\na b 8\n", {"--directional"}, "x y 7\n", {}),
                 {"--like"});
}

TEST_F(LikeFlag, NeedsAGraph) {
  const auto links = write("l.csv", "source,target\na,b\n");
  expect_refused(run_cli({"import", "links", links, "--like", links, "--out", path("g")}),
                 {"l.csv"});
  EXPECT_EQ(files(), Strings{"l.csv"});
}

}  // namespace
}  // namespace lase
