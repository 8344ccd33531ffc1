#include <cmath>
#include <filesystem>

#include "support.h"

namespace lase {
namespace {

// Four nodes, three links with two attributes, one class per node.
class OgbFormat : public FolderTest {
 protected:
  OgbFormat() {
    write_gz("d/raw/num-node-list.csv.gz", "4\n");
    write_gz("d/raw/num-edge-list.csv.gz", "3\n");
    write_gz("d/raw/edge.csv.gz", "0,1\n1,2\n2,1\n");
    write_gz("d/raw/edge-feat.csv.gz", "1,2\n3,4\n5,6\n");
    write_gz("d/raw/node-feat.csv.gz", "0.5\n1.5\n2.5\n3.5\n");
    write_gz("d/raw/node-label.csv.gz", "10\n9\nnan\n10\n");
    write_gz("d/split/time/train.csv.gz", "0\n");
    write_gz("d/split/time/valid.csv.gz", "1\n");
    write_gz("d/split/time/test.csv.gz", "3\n");
  }
  Graph read(Strings more = {}, const Schema* schema = nullptr) const {
    more.insert(more.begin(), path("d"));
    return import_graph("ogb", more, schema);
  }
};

TEST_F(OgbFormat, ReadsOneClassPerNode) {
  const auto graph = read();
  EXPECT_EQ(graph.node_count(), 4);
  EXPECT_EQ(graph.links, 2);
  EXPECT_EQ(arc(graph, "2", "1"), (Floats{8, 10}));
  EXPECT_EQ(row(graph.nodes.features, 2), Floats{2.5});
  EXPECT_EQ(graph.nodes.labels.task, Task::kSingleLabel);
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"9", "10"}));
  EXPECT_EQ(graph.nodes.labels.label[0], 1);
  EXPECT_EQ(graph.nodes.labels.label[2], -1);
  EXPECT_EQ(std::vector<int>(graph.nodes.split.begin(), graph.nodes.split.end()),
            (std::vector<int>{1, 2, 0, 3}));
}

TEST_F(OgbFormat, ReadsSeveralClassesPerNode) {
  write_gz("d/raw/node-label.csv.gz", "0,1\n1,1\n,nan\n0,0\n");
  const auto graph = read();
  EXPECT_EQ(graph.nodes.labels.task, Task::kMultiLabel);
  EXPECT_EQ(graph.nodes.labels.classes(), 2);
  EXPECT_EQ(graph.nodes.labels.target[1], 1);
  EXPECT_TRUE(std::isnan(graph.nodes.labels.target[4]));
  write_gz("d/raw/node-label.csv.gz", "0,1\n1,2\n0,0\n0,0\n");
  expect_error([&] { read(); }, {"node-label.csv.gz: contains 2, expected 0 or 1"});
}

TEST_F(OgbFormat, ReadsRegressionTargets) {
  write_gz("d/raw/node-label.csv.gz", "0.25\n1\nnan\n3\n");
  const auto graph = read({"--task", "regression"});
  EXPECT_EQ(graph.nodes.labels.task, Task::kRegression);
  EXPECT_EQ(graph.nodes.labels.target[0], 0.25);
  expect_error([&] { read(); }, {"contains the label 0.25", "task regression"});
}

TEST_F(OgbFormat, RejectsClassesThatFloat32CannotTellApart) {
  write_gz("d/raw/node-label.csv.gz", "16777216\n-16777216\n1\n2\n");
  EXPECT_EQ(read().nodes.labels.classes(), 4);
  write_gz("d/raw/node-label.csv.gz", "1e30\n2e30\n1\n2\n");
  expect_error([&] { read(); }, {"node-label.csv.gz: contains the label 1e+30", "16777216"});
}

TEST_F(OgbFormat, FollowsTheLinkRules) {
  const auto graph = read({"--directed", "--duplicate-links", "keep"});
  EXPECT_EQ(graph.links, 3);
  EXPECT_EQ(arc(graph, "2", "1"), (Floats{5, 6}));
  EXPECT_EQ(arc(read({"--merge", "max"}), "1", "2"), (Floats{5, 6}));
}

TEST_F(OgbFormat, AcceptsPlainFilesAndMissingOptionalOnes) {
  remove_all(path("d/split"));
  for (const auto* name : {"edge-feat", "node-feat", "node-label", "edge"}) {
    std::filesystem::remove(path("d/raw/" + std::string(name) + ".csv.gz"));
  }
  write("d/raw/edge.csv", "0,3\n");
  const auto graph = read();
  EXPECT_EQ(graph.links, 1);
  EXPECT_EQ(graph.link_attributes.columns, 0);
  EXPECT_EQ(graph.nodes.features.columns, 0);
  EXPECT_EQ(graph.nodes.labels.task, Task::kNone);
  EXPECT_TRUE(graph.nodes.split.empty());
}

TEST_F(OgbFormat, ChoosesAmongSplits) {
  write("d/split/random/train.csv", "3\n");
  write("d/split/random/valid.csv", "2\n");
  write("d/split/random/test.csv", "1\n");
  expect_error([&] { read(); }, {"has 2 splits, expected one; choose one with split_name"});
  EXPECT_EQ(int{read({"--split-name", "random"}).nodes.split[3]}, 1);
}

TEST_F(OgbFormat, KeepsTheClassesOfAnEarlierGraph) {
  Schema schema;
  schema.label_names = make_string_table(Strings{"10", "9", "8"});
  EXPECT_EQ(texts(read({}, &schema).nodes.labels.names), (Strings{"10", "9", "8"}));
}

TEST_F(OgbFormat, RejectsInconsistentFiles) {
  expect_error([&] { import_graph("ogb", {path("none")}); }, {"none: is not a folder"});
  write_gz("d/raw/edge-feat.csv.gz", "1,2\n3,4\n");
  expect_error([&] { read(); }, {"edge-feat.csv.gz: has 2 rows, expected 3"});
  write_gz("d/raw/edge.csv.gz", "0,1\n1,4\n");
  expect_error([&] { read(); }, {"edge.csv.gz: line 2", "'4'", "below 4"});
  write_gz("d/raw/edge.csv.gz", "0,1\n1,1.5\n");
  expect_error([&] { read(); }, {"line 2", "'1.5'"});
  write_gz("d/raw/edge.csv.gz", "0,1,2\n");
  expect_error([&] { read(); }, {"has 3 columns, expected 2"});
  write_gz("d/raw/num-node-list.csv.gz", "4\n5\n");
  expect_error([&] { read(); }, {"lists 2 graphs, expected one"});
  std::filesystem::remove(path("d/raw/num-node-list.csv.gz"));
  expect_error([&] { read(); }, {"num-node-list.csv.gz: is missing"});
}

TEST_F(OgbFormat, RejectsInconsistentNodesAndSplits) {
  write_gz("d/raw/node-feat.csv.gz", "1\n2\n3\n");
  expect_error([&] { read(); }, {"node-feat.csv.gz: has 3 rows, expected 4"});
  write_gz("d/raw/node-feat.csv.gz", "1\n2\nnan\n4\n");
  expect_error([&] { read(); }, {"node-feat.csv.gz: line 3", "'nan'"});
  write_gz("d/raw/node-feat.csv.gz", "1\n2\n3\n4\n");
  write_gz("d/split/time/test.csv.gz", "4\n");
  expect_error([&] { read(); }, {"test.csv.gz: line 1", "'4'"});
  std::filesystem::remove(path("d/split/time/test.csv.gz"));
  expect_error([&] { read(); }, {"test.csv", "cannot be opened"});
}

}  // namespace
}  // namespace lase
