#include "lase/graph/describe.h"

#include "lase/graph/column_summary.h"
#include "lase/graph/leaks.h"

#include "support.h"

namespace lase {
namespace {

class GraphDetails : public FolderTest {
 protected:
  // 60 nodes in a ring; `column` gives the text of a feature of node u.
  Graph ring(const std::function<std::string(int)>& column, const Strings& more = {}) const {
    std::string nodes = "id,team,x\n";
    std::string links = "source,target,weight\n";
    for (int u = 0; u < 60; ++u) {
      nodes += join(u, ",", u % 3 == 0 ? "red" : "blue", ",", column(u), "\n");
      links += join(u, ",", (u + 1) % 60, ",", u, "\n");
    }
    Strings arguments = {write("l.csv", links), "--nodes", write("n.csv", nodes), "--label",
                         "team"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return import("links", arguments).graph;
  }
};

TEST_F(GraphDetails, SummarizesColumns) {
  for (const Layout layout : {Layout::kDense, Layout::kSparse}) {
    Attributes matrix = Attributes::dense(std::vector<float>{1, 0, 2.5F, 0, 1, -1}, 3, 2);
    if (layout == Layout::kSparse) matrix = to_sparse(matrix);
    const auto columns = summarize(matrix, make_string_table(Strings{"a", "a_missing"}));
    EXPECT_EQ(columns[0].least, 1);
    EXPECT_EQ(columns[0].most, 2.5F);
    EXPECT_EQ(columns[0].mean, 1.5);
    EXPECT_EQ(columns[0].non_zero, 3);
    EXPECT_EQ(columns[0].missing, 1);
    EXPECT_EQ(columns[0].type(), "number");
    EXPECT_EQ(columns[1].least, -1);
    EXPECT_EQ(columns[1].type(), "integer");
  }
}

TEST_F(GraphDetails, TellsDegreesHomophilyAndSlices) {
  const auto graph = ring([](int u) { return std::to_string(u); });
  const auto details = describe_details_json(graph);
  EXPECT_EQ(details["degrees"]["median"], 2);
  // Of the links (u, u + 1), those between 3i + 1 and 3i + 2 join blue nodes.
  EXPECT_DOUBLE_EQ(details["homophily"]["same_label"], 1.0 / 3);
  EXPECT_NEAR(details["homophily"]["by_chance"].get<double>(), 5.0 / 9, 1e-12);
  EXPECT_TRUE(details["slices"].is_null());
  const std::string text = describe_details_text(graph, 0);
  EXPECT_NE(text.find("33.3 % of links join nodes with the same label"), std::string::npos) << text;
}

TEST_F(GraphDetails, FindsColumnsThatGiveTheLabelAway) {
  const auto leaks_of = [&](const std::function<std::string(int)>& column) {
    Strings names;
    for (const auto& leak : find_leaks(ring(column))) names.push_back(leak.column);
    return names;
  };
  EXPECT_EQ(leaks_of([](int u) { return u % 3 == 0 ? "1" : "0"; }), Strings{"x"});
  EXPECT_EQ(leaks_of([](int u) { return u % 3 == 0 ? "west" : "east"; }), Strings{"x"});
  EXPECT_EQ(leaks_of([](int u) { return std::to_string(u); }), Strings{});  // a mere number
  EXPECT_EQ(leaks_of([](int u) { return u % 5 == 0 ? "1" : "0"; }), Strings{});
}

}  // namespace
}  // namespace lase
