#include "lase/ingest/export.h"

#include "lase/graph/generate.h"

#include "support.h"

namespace lase {
namespace {

Graph import_tables(const ExportedTables& tables) {
  const auto* links = std::get_if<LinksOptions>(&tables);
  return build_graph(links != nullptr ? read_links(*links)
                                      : read_typed(std::get<TypedOptions>(tables)))
      .graph;
}

class Export : public FolderTest {
 protected:
  // Expects that importing the exported tables gives the same graph.
  void expect_round_trip(const Graph& graph) {
    const Graph imported = import_tables(export_graph(graph, path("out")));
    auto found = contents(imported);
    auto expected = contents(graph);
    // Fitted values are not exported, and codes are numbered by first appearance.
    for (auto* part : {&found, &expected}) part->erase("preprocessing");
    if (graph.link_attributes.layout == Layout::kDictionary) {
      for (int64_t i = 0; i < imported.link_attributes.rows; ++i) {
        ASSERT_EQ(row(imported.link_attributes, i), row(graph.link_attributes, i));
      }
      for (auto* part : {&found, &expected}) part->erase("attributes");
    }
    EXPECT_TRUE(found == expected);
  }

  std::string nodes() const {
    return write("nodes.csv",
                 "id,class,split,size\n\"a b\",x,train,1\n\"say \"\"c\"\"\",,val,2\n#d,y,test,3\n"
                 "lone,x,,4\n");
  }
  std::string links() const {
    return write("links.csv",
                 "source,target,2019,w\n\"a b\",\"say \"\"c\"\"\",0.1,3\n#d,\"a b\",1e-7,2\n"
                 "\"a b\",#d,5,1\n#d,#d,1,1\n");
  }
};

TEST_F(Export, RoundTripsDenseLinks) {
  expect_round_trip(
      import_graph("links", {links(), "--header", "yes", "--nodes", nodes(), "--label", "class",
                             "--split", "split", "--self-loops", "keep"}));
}

TEST_F(Export, RoundTripsAttributesNamedLikeEndpoints) {
  const auto file = write("named.csv", "source,target,from,to\na,b,1,2\nb,c,3,4\n");
  expect_round_trip(import_graph("links", {file, "--source", "source", "--target", "target"}));
}

TEST_F(Export, RoundTripsParallelDirectedAndSeparateLinks) {
  const std::string file = links();
  expect_round_trip(import_graph("links", {file, "--header", "yes", "--duplicate-links", "keep"}));
  expect_round_trip(import_graph("links", {file, "--header", "yes", "--directed"}));
  expect_round_trip(import_graph("links", {file, "--header", "yes", "--separate-directions"}));
  expect_round_trip(import_graph("links", {file, "--header", "yes", "--layout", "dictionary"}));
}

TEST_F(Export, RoundTripsSparseLinksAndFeatures) {
  const std::string file = write("t.csv",
                                 "source,target,relation,weight\na,b,likes,0.5\nb,a,knows,2\n"
                                 "b,c,,\nc,a,likes,1\n");
  const std::string table = write("n.csv", "id,text\na,red fox\nb,red dog\nc,dog\n");
  expect_round_trip(
      import_graph("typed", {file, "--nodes", table, "--text", "text", "--text-min-count", "1"}));
  expect_round_trip(import_graph("typed", {file, "--separate-directions"}));
}

TEST_F(Export, RoundTripsMultiLabelsAndRegressionTargets) {
  const std::string file = write("l.csv", "source,target\na,b\nb,c\n");
  const std::string table = write("n.csv", "id,topics,x\na,p;q,1.5\nb,,\nc,;,-2\n");
  expect_round_trip(import_graph(
      "links", {file, "--nodes", table, "--multi-label", "topics", "--node-columns", "none"}));
  expect_round_trip(import_graph("links", {file, "--nodes", table, "--regress", "x"}));
}

TEST_F(Export, RoundTripsGeneratedGraphs) {
  for (const Layout layout : {Layout::kDense, Layout::kSparse, Layout::kDictionary}) {
    generate_graph({.nodes = 200, .links = 900, .joint_signal = 0.5, .layout = layout},
                   path("g.graph"));
    expect_round_trip(open_graph(path("g.graph")));
  }
}

}  // namespace
}  // namespace lase
