// Node tables, read with the links format.

#include <cmath>

#include "support.h"

namespace lase {
namespace {

class NodeTable : public FolderTest {
 protected:
  Graph read(const std::string& nodes, const Strings& more = {},
             const Schema* schema = nullptr) const {
    return import_graph("links", arguments(nodes, more), schema);
  }
  Strings arguments(const std::string& nodes, const Strings& more) const {
    Strings all = {write("links.csv", "source,target\na,b\nb,c\n"), "--nodes",
                   write("nodes.csv", nodes)};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

std::vector<int> split_of(const Graph& graph) {
  return {graph.nodes.split.begin(), graph.nodes.split.end()};
}

TEST_F(NodeTable, KeepsTheOrderOfTheTable) {
  const auto graph = read("id,team\nc,x\na,y\nd,\nb,x\n", {"--label", "team"});
  EXPECT_EQ(texts(graph.nodes.names), (Strings{"c", "a", "d", "b"}));
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"x", "y"}));
  EXPECT_EQ(graph.nodes.labels.label[2], -1);
  EXPECT_EQ(neighbors(graph, "b"), (Strings{"c", "a"}));
  EXPECT_EQ(neighbors(graph, "d"), Strings{});
}

TEST_F(NodeTable, IsOptional) {
  const auto graph = import_graph("links", {write("l.csv", "source,target\n5,3\n3,9\n")});
  EXPECT_EQ(texts(graph.nodes.names), (Strings{"5", "3", "9"}));
  EXPECT_EQ(graph.nodes.features.columns, 0);
  EXPECT_EQ(graph.nodes.features.rows, 3);
}

TEST_F(NodeTable, AcceptsIdsWith64BitsSpacesAndQuotes) {
  const auto links = write("l.csv",
                           "source,target\n"
                           "18446744073709551615,\"Ann O'Hara\"\n"
                           "\"Ann O'Hara\",\"say \"\"hi\"\", twice\"\n"
                           "18446744073709551614,007\n7,007\n");
  const auto graph = import_graph("links", {links});
  EXPECT_EQ(texts(graph.nodes.names),
            (Strings{"18446744073709551615", "Ann O'Hara", "say \"hi\", twice",
                     "18446744073709551614", "007", "7"}));
  EXPECT_EQ(neighbors(graph, "007"), (Strings{"18446744073709551614", "7"}));
}

TEST_F(NodeTable, ReadsTheSplitFromAColumn) {
  const auto graph = read("id,part\na,train\nb,val\nc,TEST\nd,\n", {"--split", "part"});
  EXPECT_EQ(split_of(graph), (std::vector<int>{1, 2, 3, 0}));
  expect_error(
      [&] {
        read("id,part\na,train\nb,tset\nc,test\n", {"--split", "part"});
      },
      {"nodes.csv: line 3: column 'part' is 'tset', expected train, val, test"});
}

TEST_F(NodeTable, TakesValidationNodesFromTrainingNodes) {
  std::string nodes = "id,team,part\n";
  for (int i = 0; i < 24; ++i) {
    nodes +=
        "n" + std::to_string(i) + (i % 2 == 0 ? ",x," : ",y,") + (i < 20 ? "train\n" : "test\n");
  }
  const auto graph = read(nodes, {"--label", "team", "--split", "part", "--validation", "20",
                                  "--unknown-nodes", "drop"});
  EXPECT_EQ(graph.split_size(Split::kTrain), 16);
  EXPECT_EQ(graph.split_size(Split::kVal), 4);
  EXPECT_EQ(graph.split_size(Split::kTest), 4);
  expect_error(
      [&] {
        read("id,part\na,val\nb,train\nc,train\n", {"--split", "part", "--validation", "20"});
      },
      {"validation", "'part'", "has validation nodes already"});
  expect_error(
      [&] {
        read("id\na\nb\nc\n", {"--split", "60/20/20", "--validation", "20"});
      },
      {"validation", "requires split with the name of a column"});
}

TEST_F(NodeTable, SplitsByProportions) {
  const std::string nodes = "id\na\nb\nc\nd\n";
  const auto graph = read(nodes, {"--split", "50/25/25"});
  EXPECT_EQ(graph.split_size(Split::kTrain), 2);
  EXPECT_EQ(graph.split_size(Split::kVal), 1);
  EXPECT_EQ(graph.split_size(Split::kTest), 1);
  EXPECT_EQ(split_of(graph), split_of(read(nodes, {"--split", "50/25/25", "--seed", "1"})));
}

TEST_F(NodeTable, UsesEveryOtherColumnOfNumbersOrCategoriesAsFeature) {
  const auto raw = read_format(
      "links", arguments("id,age,team,city,height,vip\na,30,x,Rome,1.8,no\nb,40,y,Oslo,1.7,yes\n"
                         "c,5,x,Rome,1,no\n",
                         {"--label", "team", "--types", "height=ignore"}));
  EXPECT_EQ(texts(raw.nodes.feature_names), (Strings{"age", "vip", "city=Rome", "city=Oslo"}));
  EXPECT_EQ(row(raw.nodes.features, 1), (Floats{40, 1, 0, 1}));
  ASSERT_FALSE(raw.tables.empty());
  EXPECT_EQ(raw.tables.back().ignored, Strings{"height"});
  EXPECT_TRUE(raw.tables.back().file.ends_with("nodes.csv")) << raw.tables.back().file;
}

TEST_F(NodeTable, UsesTheNamedFeatureColumns) {
  const std::string nodes = "id,age,city,height\na,30,Rome,1.8\nb,40,Oslo,1.7\nc,5,Rome,1\n";
  const auto graph = read(nodes, {"--node-columns", "height,city", "--node-categorical", "city"});
  EXPECT_EQ(texts(graph.nodes.feature_names), (Strings{"height", "city=Rome", "city=Oslo"}));
  EXPECT_EQ(row(graph.nodes.features, 1), (Floats{1.7F, 0, 1}));
  EXPECT_EQ(read(nodes, {"--node-columns", "none"}).nodes.features.columns, 0);
  expect_error(
      [&] {
        read(nodes, {"--node-columns", "weight"});
      },
      {"nodes.csv: has no column 'weight' for node_columns"});
}

TEST_F(NodeTable, RejectsEmptyColumnNamesInLists) {
  const std::string table = write("nodes.csv", "id,x,y\na,1,2\nb,3,4\n");
  const std::string links = write("links.csv", "a,b\n");
  for (const std::string flag : {"--node-columns", "--node-categorical", "--regress"}) {
    expect_error(
        [&] {
          import_graph("links", {links, "--nodes", table, flag, ",x"});
        },
        {"no column ''"});
  }
}

TEST_F(NodeTable, RejectsNonFiniteFeatures) {
  for (const std::string bad : {"abc", "inf", "-inf", "1e999", "0x1F"}) {
    expect_error([&] { read("id,age\na,1\nb," + bad + "\nc,2\n"); },
                 {"nodes.csv: line 3: column 'age' is '" + bad + "'"});
  }
  for (const std::string missing : {"", "nan"}) {
    const std::string table = "id,age\na,1\nb," + missing + "\nc,2\n";
    expect_error(
        [&] {
          read(table, {"--missing", "fail"});
        },
        {"nodes.csv: line 3: column 'age' is '" + missing + "'"});
    EXPECT_EQ(row(read(table, {"--missing", "-1"}).nodes.features, 1), Floats{-1});
  }
}

TEST_F(NodeTable, ReadsFeaturesFromANumpyFile) {
  const auto file = write("f.npy", npy("|u1", "(3, 2)", std::string("\0\1\2\3\4\5", 6)));
  const auto graph = read("id,age\nb,1\na,2\nc,3\n", {"--features", file});
  EXPECT_EQ(texts(graph.nodes.feature_names), (Strings{"feature 0", "feature 1"}));
  EXPECT_EQ(row(graph.nodes.features, 2), (Floats{4, 5}));
  expect_error(
      [&] {
        read("id\na\nb\nc\nd\n", {"--features", file});
      },
      {"f.npy: has 3 rows, expected 4", "nodes.csv"});
}

TEST_F(NodeTable, CombinesSeveralSourcesOfFeatures) {
  const auto file = write("f.npy", npy("<f4", "(3,)", bytes_of(Floats{7, 8, 9})));
  const auto graph = read("id,age,title\na,1,one graph\nb,2,two graph\nc,3,none\n",
                          {"--features", file, "--text", "title", "--node-columns", "age"});
  EXPECT_EQ(texts(graph.nodes.feature_names), (Strings{"age", "feature 0", "title:graph"}));
  EXPECT_EQ(graph.nodes.features.layout, Layout::kSparse);
  EXPECT_EQ(row(graph.nodes.features, 0), (Floats{1, 7, 1}));
  EXPECT_EQ(row(graph.nodes.features, 2), (Floats{3, 9, 0}));
}

TEST_F(NodeTable, ReadsSeveralClassesPerNode) {
  const auto graph = read("id,tags\na,x|y\nb,\nc,y\n",
                          {"--multi-label", "tags", "--label-separator", "|", "--delimiter", ","});
  EXPECT_EQ(graph.nodes.labels.task, Task::kMultiLabel);
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"x", "y"}));
  EXPECT_EQ(graph.nodes.labels.target[1], 1);
  EXPECT_FALSE(graph.nodes.labels.known(1));
}

TEST_F(NodeTable, ReadsRegressionTargets) {
  const auto graph = read("id,age,height\na,1,2\nb,,3\nc,4,5\n", {"--regress", "height,age"});
  EXPECT_EQ(graph.nodes.labels.task, Task::kRegression);
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"height", "age"}));
  EXPECT_EQ(graph.nodes.labels.target[0], 2);
  EXPECT_TRUE(std::isnan(graph.nodes.labels.target[3]));
  EXPECT_EQ(graph.nodes.features.columns, 0);
}

TEST_F(NodeTable, TasksAreMutuallyExclusive) {
  const std::string nodes = "id,x,y\na,1,2\nb,1,2\nc,1,2\n";
  expect_error(
      [&] {
        read(nodes, {"--label", "x", "--multi-label", "y"});
      },
      {"mutually exclusive"});
  expect_error([&] { read(nodes, {"--label", "x", "--regress", "y"}); }, {"mutually exclusive"});
}

TEST_F(NodeTable, RejectsDuplicateAndEmptyIds) {
  expect_error([&] { read("id\na\nb\nc\na\n"); }, {"nodes.csv: line 5: node 'a' is listed twice"});
  expect_error([&] { read("id,x\na,1\n,2\n"); }, {"line 3: column 'id' is ''"});
}

TEST_F(NodeTable, RejectsATableWithoutRows) {
  expect_error([&] { read("id,label\n"); }, {"nodes.csv: has no rows below its header"});
  expect_error([&] { read(""); }, {"nodes.csv: is empty"});
}

TEST_F(NodeTable, RejectsAddsOrDropsUnknownNodes) {
  const std::string nodes = "id,age,team\na,1,x\nb,2,y\n";
  expect_error([&] { read(nodes); }, {"links.csv: line 3: node 'c' is not in", "nodes.csv"});
  const auto added = read(nodes, {"--unknown-nodes", "add", "--label", "team"});
  EXPECT_EQ(texts(added.nodes.names), (Strings{"a", "b", "c"}));
  EXPECT_EQ(row(added.nodes.features, 2), Floats{0});
  EXPECT_EQ(added.nodes.labels.label[2], -1);
  const auto dropped = read(nodes, {"--unknown-nodes", "drop"});
  EXPECT_EQ(dropped.node_count(), 2);
  EXPECT_EQ(dropped.links, 1);
}

TEST_F(NodeTable, AddedNodesHaveNoSplitAndNoFeatures) {
  const auto graph = read("id,part,title\na,train,big graph\nb,train,small graph\n",
                          {"--unknown-nodes", "add", "--split", "part", "--text", "title"});
  EXPECT_EQ(split_of(graph), (std::vector<int>{1, 1, 0}));
  EXPECT_EQ(row(graph.nodes.features, 2), Floats{0});
}

TEST_F(NodeTable, ColumnOptionsRequireATable) {
  const auto links = write("l.csv", "source,target\na,b\n");
  for (const std::string flag : {"--multi-label", "--text", "--features", "--regress",
                                 "--node-columns", "--node-categorical", "--id"}) {
    expect_error([&] { read_format("links", {links, flag, "x"}); }, {"'x': requires nodes"});
  }
  expect_error(
      [&] {
        read_format("links", {links, "--label", "x"});
      },
      {"l.csv: has no column 'x'"});
  expect_error([&] { read_format("links", {links, "--split", "part"}); }, {"split 'part'"});
  EXPECT_NO_THROW(read_format("links", {links, "--split", "34/33/33"}));
}

TEST_F(NodeTable, ReadsIdsFromTheNamedColumn) {
  const auto graph = read("age,who\n1,b\n2,a\n3,c\n", {"--id", "who"});
  EXPECT_EQ(texts(graph.nodes.names), (Strings{"b", "a", "c"}));
  EXPECT_EQ(texts(graph.nodes.feature_names), Strings{"age"});
}

TEST_F(NodeTable, FollowsTheClassesAndCategoriesOfAnEarlierGraph) {
  Schema schema;
  schema.label_names = make_string_table(Strings{"y", "x"});
  schema.feature_names = make_string_table(Strings{"city=Oslo", "city=Rome"});
  const auto raw = read_format(
      "links",
      arguments("id,team,city\na,x,Rome\nb,y,Bern\nc,z,Oslo\n",
                {"--label", "team", "--node-categorical", "city", "--node-columns", "city"}),
      &schema);
  EXPECT_EQ(texts(raw.nodes.labels.names), (Strings{"y", "x", "z"}));
  EXPECT_EQ(texts(raw.nodes.feature_names), (Strings{"city=Oslo", "city=Rome"}));
  EXPECT_EQ(row(raw.nodes.features, 0), (Floats{0, 1}));
  EXPECT_EQ(row(raw.nodes.features, 1), (Floats{0, 0}));
  EXPECT_EQ(row(raw.nodes.features, 2), (Floats{1, 0}));
}

TEST_F(NodeTable, RejectsUnknownColumns) {
  for (const std::string flag : {"--label", "--multi-label", "--text", "--split", "--id"}) {
    expect_error([&] { read("id,x\na,1\nb,2\nc,3\n", {flag, "none"}); }, {"no column 'none'"});
  }
}

TEST_F(NodeTable, FillsMissingFeaturesWithTheMeanOfTrainingNodes) {
  const auto graph =
      read("id,age,part\na,10,train\nb,,train\nc,30,train\nd,500,test\n", {"--split", "part"});
  EXPECT_EQ(texts(graph.nodes.feature_names), (Strings{"age", "age_missing"}));
  EXPECT_EQ(row(graph.nodes.features, 0), (Floats{10, 0}));
  EXPECT_EQ(row(graph.nodes.features, 1), (Floats{20, 1}));
  EXPECT_EQ(row(graph.nodes.features, 3), (Floats{500, 0}));
}

TEST_F(NodeTable, LabelsMayBeInTheLinks) {
  const auto links = write("l.csv", "source,target,team\na,b,x\nb,c,y\na,c,x\nc,a,\n");
  const auto by_source = import("links", {links, "--label", "team"}).graph;
  EXPECT_EQ(texts(by_source.nodes.labels.names), (Strings{"x", "y"}));
  const auto label = [&](const Graph& graph, int64_t node) {
    return graph.nodes.labels.label[node];
  };
  EXPECT_EQ(label(by_source, 0), 0);
  EXPECT_EQ(label(by_source, 1), 1);
  EXPECT_EQ(label(by_source, 2), -1);
  EXPECT_EQ(by_source.link_attributes.columns, 0);
  expect_error(
      [&] {
        import("links", {links, "--label", "team", "--label-of", "target"});
      },
      {"line 4: node 'c' has the label 'x', but 'y' in an earlier row"});
}

TEST_F(NodeTable, LabelsOfTargetsRequireLabelsInTheLinks) {
  expect_error(
      [&] {
        read("id,team\na,x\nb,y\nc,x\n", {"--label", "team", "--label-of", "target"});
      },
      {"label_of target: requires labels in the table of links"});
}

TEST_F(NodeTable, HasADelimiterAndAHeaderOfItsOwn) {
  const auto links = write("l.csv", "source,target\na,b\nb,c\n");
  const auto nodes = write("n.txt", "a;x;1\nb;y;2\nc;x;3\n");
  const auto graph =
      import("links", {links, "--nodes", nodes, "--label", "2", "--nodes-header", "no",
                       "--nodes-delimiter", ";", "--delimiter", ",", "--header", "yes"})
          .graph;
  EXPECT_EQ(graph.node_count(), 3);
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"x", "y"}));
  EXPECT_EQ(texts(graph.nodes.feature_names), Strings{"column 3"});
}

TEST_F(NodeTable, NotesLabelsThatAreProbablyMistakes) {
  const auto raw =
      read_format("links", arguments("id,team\na,NA\nb,Red\nc,red\n", {"--label", "team"}));
  ASSERT_EQ(raw.warnings.size(), 2U);
  EXPECT_NE(raw.warnings[0].find("the label 'NA' is a class like any other"), std::string::npos);
  EXPECT_NE(raw.warnings[1].find("'Red' and 'red' differ only by case"), std::string::npos);
  expect_error(
      [&] {
        read_format("links",
                    arguments("id,team\na,x\nb,y\n", {"--label", "team", "--split", "60,20,20"}));
      },
      {"split '60,20,20': write percentages with slashes"});
}

}  // namespace
}  // namespace lase
