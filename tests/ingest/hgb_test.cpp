#include "lase/base/file.h"

#include "support.h"

namespace lase {
namespace {

// Two papers with two features, two authors with one, and a venue without any.
class HgbFormat : public FolderTest {
 protected:
  HgbFormat() {
    write("d/node.dat",
          "0\tpaper a\t0\t0,2\n1\tpaper b\t0\t1.5,0\n2\tann\t1\t7\n3\tbob\t1\t0\n4\tvenue\t2\n");
    write("d/link.dat", "0\t2\t0\t1.0\n1\t2\t0\t1.0\n1\t3\t0\t0.5\n0\t4\t1\t1.0\n");
    write("d/label.dat", "0\tpaper a\t0\t1\n");
    write("d/label.dat.test", "1\tpaper b\t0\t0\n");
  }
  Graph read(Strings more = {}, const Schema* schema = nullptr) const {
    more.insert(more.begin(), path("d"));
    return import_graph("hgb", more, schema);
  }
};

TEST_F(HgbFormat, ReadsTypedNodesAndLinks) {
  const auto graph = read({"--validation", "0"});
  EXPECT_EQ(graph.node_count(), 5);
  EXPECT_EQ(texts(graph.nodes.feature_names),
            (Strings{"type=0", "0:0", "0:1", "type=1", "1:0", "type=2"}));
  EXPECT_EQ(row(graph.nodes.features, 0), (Floats{1, 0, 2, 0, 0, 0}));
  EXPECT_EQ(row(graph.nodes.features, 1), (Floats{1, 1.5, 0, 0, 0, 0}));
  EXPECT_EQ(row(graph.nodes.features, 2), (Floats{0, 0, 0, 1, 7, 0}));
  EXPECT_EQ(row(graph.nodes.features, 4), (Floats{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"relation 0", "relation 1"}));
  EXPECT_EQ(arc(graph, "1", "3"), (Floats{0.5, 0}));
  EXPECT_EQ(arc(graph, "4", "0"), (Floats{0, 1}));
  EXPECT_EQ(graph.nodes.labels.task, Task::kSingleLabel);
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"0", "1"}));
  EXPECT_EQ(std::vector<int>(graph.nodes.split.begin(), graph.nodes.split.end()),
            (std::vector<int>{1, 3, 0, 0, 0}));
}

TEST_F(HgbFormat, ReadsSeveralClassesPerNode) {
  write("d/label.dat", "0\tpaper a\t0\t1,2\n");
  const auto graph = read({"--validation", "0"});
  EXPECT_EQ(graph.nodes.labels.task, Task::kMultiLabel);
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"0", "1", "2"}));
  EXPECT_EQ(graph.nodes.labels.target[1], 1);
  EXPECT_EQ(graph.nodes.labels.target[2], 1);
}

TEST_F(HgbFormat, ChoosesValidationNodesAtRandom) {
  std::string nodes;
  std::string labels;
  for (int i = 0; i < 40; ++i) {
    const std::string id = std::to_string(i);
    nodes += id + "\tn\t0\n";
    if (i < 30) labels += id + "\tn\t0\t" + std::to_string(i % 2) + "\n";
  }
  write("d/node.dat", nodes);
  write("d/link.dat", "0\t1\t0\t1\n");
  write("d/label.dat", labels);
  write("d/label.dat.test", "30\tn\t0\t0\n");
  const auto chosen = [&](const Strings& more) {
    const Graph graph = read(more);
    EXPECT_EQ(graph.split_size(Split::kVal), 6);
    EXPECT_EQ(graph.split_size(Split::kTest), 1);
    return std::vector<uint8_t>(graph.nodes.split.begin(), graph.nodes.split.end());
  };
  EXPECT_EQ(chosen({}), chosen({}));
  EXPECT_NE(chosen({}), chosen({"--seed", "2"}));
}

TEST_F(HgbFormat, FollowsAnEarlierGraph) {
  const Graph graph = read({"--separate-directions"});
  const Schema schema = schema_of(graph);
  write("d/node.dat", "7\tx\t1\t3\n8\ty\t0\t4,5\n9\tz\t3\t1\n");
  write("d/link.dat", "7\t8\t1\t2\n7\t9\t5\t1\n");
  write("d/label.dat", "8\ty\t0\t1\n");
  write("d/label.dat.test", "");
  const Graph next = read({"--validation", "0"}, &schema);
  EXPECT_EQ(texts(next.nodes.feature_names), texts(graph.nodes.feature_names));
  EXPECT_EQ(row(next.nodes.features, 1), (Floats{1, 4, 5, 0, 0, 0}));
  EXPECT_EQ(row(next.nodes.features, 2), (Floats{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(texts(next.attribute_names), texts(graph.attribute_names));
  EXPECT_EQ(arc(next, "7", "8"), (Floats{0, 2, 0, 0}));
}

TEST_F(HgbFormat, RejectsBrokenFiles) {
  const auto rejects = [&](const std::string& file, const std::string& text,
                           std::initializer_list<std::string> parts) {
    const std::string before = read_file(path(file));
    write(file, text);
    expect_error([&] { read(); }, parts);
    write(file, before);
  };
  rejects("d/node.dat", "0\tpaper\n", {"node.dat:1: has 2 fields, expected 3 to 4"});
  rejects("d/node.dat", "0\ta\t0\n0\tb\t0\n", {"node.dat:2", "'0' is listed twice"});
  rejects("d/node.dat", "0\ta\t0\t1,x\n", {"node.dat:1", "'x'", "a finite number"});
  rejects("d/node.dat", "", {"node.dat", "no nodes"});
  rejects("d/link.dat", "0\t99\t0\t1\n", {"link.dat:1", "'99'", "node.dat"});
  rejects("d/link.dat", "0\t1\t0\tinf\n", {"link.dat:1", "'inf'"});
  rejects("d/link.dat", "0\t1\t0\t1e300\n", {"link.dat:1", "'1e300'", "single precision"});
  rejects("d/label.dat", "0\ta\t0\t \n", {"label.dat:1", "classes"});
  rejects("d/label.dat.test", "0\ta\t0\t1\n", {"label.dat.test:1", "has a label already"});
  expect_error([&] { import_graph("hgb", {path("none")}); }, {"none: is not a folder"});
}

}  // namespace
}  // namespace lase
