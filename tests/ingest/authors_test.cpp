#include <cmath>
#include <filesystem>

#include "support.h"

namespace lase {
namespace {

class AuthorsFormat : public FolderTest {
 protected:
  AuthorsFormat() {
    write("d-G.json",
          R"({"nodes": [{"id": 5, "state": "train"}, {"id": "x", "state": "val"},
                        {"id": 7, "state": "test"}],
              "links": [{"source": 5, "target": "x", "id": 100}, {"source": 7, "target": 5, "id": 9}]})");
    write("d-label-map.json", R"({"5": 10, "x": 9})");
    write("d-node-id-map.json", R"({"5": 2, "x": 0, "7": 1})");
    write("d-link-id-map.json", R"({"100": 1, "9": 0})");
    write("d-node-feats.npy", npy("<f8", "(3, 1)", bytes_of(std::vector<double>{1, 2, 3})));
    write("d-link-feats.npy", npy("<f4", "(2, 2)", bytes_of(Floats{1, 2, 3, 4})));
  }
  Graph read(const Schema* schema = nullptr) const {
    return import_graph("authors", {path("d")}, schema);
  }
};

TEST_F(AuthorsFormat, FollowsTheIdMaps) {
  const auto graph = read();
  EXPECT_EQ(texts(graph.nodes.names), (Strings{"5", "x", "7"}));
  EXPECT_EQ(row(graph.nodes.features, 0), Floats{3});
  EXPECT_EQ(row(graph.nodes.features, 1), Floats{1});
  EXPECT_EQ(arc(graph, "x", "5"), (Floats{3, 4}));
  EXPECT_EQ(arc(graph, "5", "7"), (Floats{1, 2}));
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"9", "10"}));
  EXPECT_EQ(graph.nodes.labels.label[0], 1);
  EXPECT_EQ(graph.nodes.labels.label[2], -1);
  EXPECT_EQ(graph.split_size(Split::kVal), 1);
}

TEST_F(AuthorsFormat, ReadsRowsInOrderWithoutIdMaps) {
  std::filesystem::remove(path("d-node-id-map.json"));
  std::filesystem::remove(path("d-link-id-map.json"));
  const auto graph = read();
  EXPECT_EQ(row(graph.nodes.features, 0), Floats{1});
  EXPECT_EQ(arc(graph, "5", "x"), (Floats{1, 2}));
}

TEST_F(AuthorsFormat, KeepsTheClassesOfAnEarlierGraph) {
  Schema schema;
  schema.label_names = make_string_table(Strings{"10", "3"});
  EXPECT_EQ(texts(read(&schema).nodes.labels.names), (Strings{"10", "3", "9"}));
}

TEST_F(AuthorsFormat, RejectsMissingAndInvalidFiles) {
  expect_error([&] { import_graph("authors", {path("e")}); }, {"e-G.json: cannot be opened"});
  write("d-label-map.json", "{");
  expect_error([&] { read(); },
               {"d-label-map.json: is not valid JSON: parse error at line 1, column 2"});
}

TEST_F(AuthorsFormat, RejectsNestedIds) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  write("d-label-map.json", R"({"5": )" + nested(1) + "}");
  expect_error([&] { read(); }, {"d-label-map.json: has a list or an object"});
  // Deep enough to overflow the stack.
  write("d-G.json", R"({"nodes": [{"id": )" + nested(1'000'000) + R"(}], "links": []})");
  expect_error([&] { read(); }, {"d-G.json: has a list or an object as an id"});
}

TEST_F(AuthorsFormat, RejectsRowsOutOfRange) {
  write("d-node-id-map.json", R"({"5": 2, "x": 3, "7": 1})");
  expect_error([&] { read(); }, {"d-node-id-map.json", "'x' to row 3"});
  write("d-node-id-map.json", R"({"5": 2, "x": -1, "7": 1})");
  expect_error([&] { read(); }, {"'x' to row -1"});
  write("d-node-id-map.json", R"({"5": 2, "7": 1})");
  expect_error([&] { read(); }, {"no row for the id 'x'"});
}

// No memory is reserved for rows that do not exist: here 400 GB.
TEST_F(AuthorsFormat, RejectsFeaturesWithoutRows) {
  std::string nodes;
  for (int i = 0; i < 100'000; ++i) {
    nodes +=
        (i == 0 ? "" : ",") + std::string(R"({"state": "train", "id": )") + std::to_string(i) + "}";
  }
  write("d-G.json", R"({"nodes": [)" + nodes + R"(], "links": []})");
  std::filesystem::remove(path("d-node-id-map.json"));
  write("d-node-feats.npy", npy("<f4", "(0, 1000000)", ""));
  expect_error([&] { read(); }, {"maps the id '0' to row 0, but there are 0 rows"});
}

TEST_F(AuthorsFormat, RejectsInconsistentGraphs) {
  const auto with_graph = [&](const std::string& text) {
    write("d-G.json", text);
    return read();
  };
  expect_error([&] { with_graph("[]"); }, {"'nodes'"});
  expect_error([&] { with_graph(R"({"nodes": {}, "links": []})"); }, {"must be lists"});
  expect_error([&] { with_graph(R"({"nodes": [{"id": 5}], "links": []})"); }, {"'state'"});
  expect_error([&] { with_graph(R"({"nodes": [{"id": 5, "state": "x"}], "links": []})"); },
               {"node '5' has the state 'x'"});
  expect_error(
      [&] {
        with_graph(R"({"nodes": [{"id": 5, "state": "val"}, {"id": 5, "state": "val"}],
                       "links": []})");
      },
      {"'5' is listed twice"});
  expect_error(
      [&] {
        with_graph(R"({"nodes": [{"id": 5, "state": "val"}],
                       "links": [{"source": 5, "target": 6}]})");
      },
      {"node '6'", "not in the list"});
}

}  // namespace
}  // namespace lase
