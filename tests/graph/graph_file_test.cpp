#include <cmath>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/safetensors.h"
#include "lase/graph/graph.h"

#include "support.h"

namespace lase {
namespace {

class GraphFile : public FolderTest {
 protected:
  Graph links(const std::string& text, Strings more = {}) const {
    more.insert(more.begin(), write("links.csv", text));
    return import_graph("links", more);
  }
  // Dictionary-encoded link attributes, dense features, one class per node, a split.
  Graph dictionary() const {
    std::string text = "source,target,kind\n";
    for (int i = 1; i < 30; ++i) text += join("hub,n", i, ",", i % 2, "\n");
    std::string nodes = "id,age,team,part\nhub,50,,test\n";
    for (int i = 1; i < 30; ++i) {
      nodes += join("n", i, ",1.25,", i % 3 == 0 ? "x" : "y", ",train\n");
    }
    return links(text,
                 {"--nodes", write("nodes.csv", nodes), "--label", "team", "--split", "part"});
  }
  Graph sparse() const {
    return import_graph("sets", {write("p.tsv",
                                       "title\tauthors\nbig graph\tAnn;Bob\nsmall graph\tBob;Ann\n"
                                       "none\tBob\n"),
                                 "--members", "authors", "--text", "title"});
  }
  Graph regression() const {
    return links("source,target,w\na,b,1\nb,c,2\n",
                 {"--nodes", write("nodes.csv", "id,age\na,1\nb,\nc,3\n"), "--regress", "age",
                  "--separate-directions"});
  }
  Graph multi_label(const std::string& nodes) const {
    return links("source,target\na,b\n",
                 {"--nodes", write("nodes.csv", nodes), "--multi-label", "tags", "--directed"});
  }
  void expect_round_trip(const Graph& graph) const {
    save_graph(graph, path("g.graph"));
    const auto opened = open_graph(path("g.graph"));
    EXPECT_NO_THROW(check_graph(opened, "g.graph"));
    EXPECT_EQ(contents(opened), contents(graph));
  }
  // Path of a graph file with changed metadata.
  std::string with_metadata(const Graph& graph,
                            const std::function<void(nlohmann::json&)>& change) const {
    save_graph(graph, path("g.graph"));
    const std::string text = read_file(path("g.graph"));
    uint64_t length = 0;
    std::memcpy(&length, text.data(), 8);
    auto header = nlohmann::json::parse(text.substr(8, length));
    header["__metadata__"].erase("checksums");
    change(header["__metadata__"]);
    std::string changed = header.dump();
    changed.append((64 - (8 + changed.size()) % 64) % 64, ' ');
    return write("changed.graph", safetensors(changed, text.substr(8 + length)));
  }
};

TEST_F(GraphFile, KeepsEveryLayoutAndTask) {
  EXPECT_EQ(dictionary().link_attributes.layout, Layout::kDictionary);
  expect_round_trip(dictionary());
  expect_round_trip(sparse());
  expect_round_trip(regression());
  expect_round_trip(multi_label("id,tags\na,x;y\nb,\n"));
  expect_round_trip(links("1 2\n2 3\n"));
}

TEST_F(GraphFile, KeepsTasksWithoutAnyKnownLabel) {
  expect_round_trip(multi_label("id,tags\na,\nb,\n"));
  expect_round_trip(links("source,target\na,b\n", {"--nodes", write("n.csv", "id,team\na,\nb,\n"),
                                                   "--label", "team", "--delimiter", ","}));
}

TEST_F(GraphFile, KeepsAGraphWithoutNodesOrLinks) {
  expect_round_trip(build_graph(RawGraph{}).graph);
  RawGraph raw;
  raw.nodes.names = make_string_table(Strings{"", "b"});
  raw.nodes.features.rows = 2;
  expect_round_trip(build_graph(std::move(raw)).graph);
}

TEST_F(GraphFile, KeepsNamesThatAreNotUtf8AndTheRecipe) {
  auto graph = links("source,target\n\xFF,b\nb,\xC3\x28\n");
  graph.preprocessing["slice_boundaries"] = {0.1, 1e300, -5.0};
  expect_round_trip(graph);
}

TEST_F(GraphFile, KeepsReductions) {
  auto graph = regression();
  graph.link_reduction.mean = Floats{1, 2, 3};
  graph.link_reduction.components = Floats{1, 2, 3, 4, 5, 6};
  graph.link_reduction.names = make_string_table(Strings{"x", "y", "z"});
  expect_round_trip(graph);
}

TEST_F(GraphFile, CanBeReplacedWhileItIsOpen) {
  save_graph(links("1 2\n2 3\n"), path("g.graph"));
  const auto old = open_graph(path("g.graph"));
  save_graph(dictionary(), path("g.graph"));
  EXPECT_EQ(old.links, 2);
  EXPECT_NO_THROW(check_graph(old, "g.graph"));
}

TEST_F(GraphFile, RejectsANewerVersion) {
  const auto file = with_metadata(dictionary(), [](auto& metadata) { metadata["version"] = "2"; });
  expect_error([&] { open_graph(file); },
               {"changed.graph: has graph file version '2'", "reads version 1"});
  const auto none = with_metadata(dictionary(), [](auto& metadata) { metadata.erase("version"); });
  expect_error([&] { open_graph(none); }, {"version ''"});
}

TEST_F(GraphFile, RejectsFilesThatAreNotGraphs) {
  SafetensorsWriter writer(path("other"));
  writer.declare<float>("weight", {0});
  writer.begin({{"format", "pt"}});
  writer.commit();
  expect_error([&] { open_graph(path("other")); },
               {"other: is a safetensors file, but not a lase graph"});
  expect_error([&] { open_graph(write("text", "source,target\n1,2\n3,4\n")); },
               {"text: is not a lase graph; it looks like CSV: run `lase import` first"});
  expect_error([&] { open_graph(path("none")); }, {"none: cannot be opened"});
  expect_error([&] { open_graph(write("empty", "")); }, {"empty: is too short"});
}

// Every byte of the arrays and of the metadata is covered by a checksum.
TEST_F(GraphFile, RejectsEveryChangedByte) {
  save_graph(dictionary(), path("g.graph"));
  const std::string text = read_file(path("g.graph"));
  uint64_t length = 0;
  std::memcpy(&length, text.data(), 8);
  const size_t padding = 8 + text.substr(0, 8 + length).find_last_not_of(' ') - 7;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i >= padding && i < 8 + length) continue;
    // Without this key, a file has no checksums.
    const size_t key = text.find("checksums");
    if (i >= key && i < key + 9) continue;
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    expect_error([&] { load_graph(write("changed.graph", changed)); }, {"changed.graph: "});
  }
}

TEST_F(GraphFile, VerifiesLargeArraysWhenLoaded) {
  Graph graph = dictionary();
  graph.attribute_names = {};
  std::vector<float> values(static_cast<size_t>(graph.links) * 100'000, 1.0F);
  graph.link_attributes = {};
  graph.link_attributes.rows = graph.links;
  graph.link_attributes.columns = 100'000;
  graph.link_attributes.values = std::move(values);
  graph.attribute_names = numbered_names("a", 100'000);
  save_graph(graph, path("g.graph"));
  EXPECT_NO_THROW(load_graph(path("g.graph")));
  std::string text = read_file(path("g.graph"));
  const std::string ones = bytes_of(std::vector<float>{1, 1, 1, 1});
  const size_t at = text.rfind(ones);
  ASSERT_NE(at, text.npos);
  text[at + 2] = static_cast<char>(text[at + 2] ^ 1);  // still a finite number
  const std::string file = write("changed.graph", text);
  EXPECT_NO_THROW(open_graph(file));
  expect_error([&] { load_graph(file); }, {"'link_attributes' does not match its checksum"});
}

TEST_F(GraphFile, StructureIsCheckedOnRequest) {
  const Graph good = dictionary();
  EXPECT_NO_THROW(check_structure(good, "g"));
  Graph swapped = good;
  std::vector<int32_t> neighbor(good.neighbor.begin(), good.neighbor.end());
  int64_t row = 0;
  while (good.degree(row) < 2) ++row;
  std::swap(neighbor[static_cast<size_t>(good.row_ptr[row])],
            neighbor[static_cast<size_t>(good.row_ptr[row] + 1)]);
  swapped.neighbor = std::move(neighbor);
  expect_error([&] { check_structure(swapped, "g"); }, {"not in ascending order"});
  Graph directed = good;
  directed.directed = true;  // which has one arc per link
  expect_error([&] { check_structure(directed, "g"); }, {"arcs"});
}

TEST_F(GraphFile, RejectsEveryTruncatedFile) {
  save_graph(dictionary(), path("g.graph"));
  const std::string whole = read_file(path("g.graph"));
  for (size_t size = 0; size < whole.size(); size += 1 + size / 50) {
    expect_error([&] { open_graph(write("cut", whole.substr(0, size))); }, {"cut: "});
  }
}

TEST_F(GraphFile, RejectsInconsistentMetadata) {
  const auto changed = [&](const std::string& key, const nlohmann::json& value) {
    return with_metadata(dictionary(), [&](auto& metadata) {
      auto about = nlohmann::json::parse(metadata["graph"].template get<std::string>());
      about[key] = value;
      metadata["graph"] = about.dump();
    });
  };
  EXPECT_NO_THROW(open_graph(changed("note", "ignored")));
  for (const auto& [key, value] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"links", 28},
           {"links", -1},
           {"links", 1LL << 62},
           {"links", 3.9e19},
           {"links", 1.5},
           {"links", "many"},
           {"separate_directions", true},
           {"directed", 3},
           {"task", "riddle"},
           {"task", "regression"},
           {"link_attributes", {{"columns", 2}, {"layout", "dictionary"}}},
           {"link_attributes", {{"columns", 0}, {"layout", "dictionary"}}},
           {"link_attributes", {{"columns", 1}, {"layout", "dense"}}},
           {"link_attributes", {{"columns", 1}, {"layout", "sparse"}}},
           {"link_attributes", {{"columns", -1}, {"layout", "dictionary"}}},
           {"link_attributes", {{"columns", 1}, {"layout", "striped"}}},
           {"link_attributes", 5},
           {"node_features", {{"columns", 2}, {"layout", "dense"}}},
           {"node_features", {{"columns", 1LL << 62}, {"layout", "dense"}}}}) {
    expect_error([&, k = key, v = value] { open_graph(changed(k, v)); }, {"changed.graph: "});
  }
  const auto broken = with_metadata(dictionary(), [](auto& metadata) { metadata["graph"] = "{"; });
  expect_error([&] { open_graph(broken); }, {"not a JSON object"});
  const auto missing = with_metadata(dictionary(), [](auto& metadata) { metadata.erase("graph"); });
  expect_error([&] { open_graph(missing); }, {"metadata is missing"});
}

TEST_F(GraphFile, FingerprintsDependOnTheContents) {
  const Graph graph = dictionary();
  save_graph(graph, path("a.graph"));
  const Graph opened = open_graph(path("a.graph"));
  EXPECT_EQ(opened.fingerprint.size(), 16u);
  EXPECT_EQ(fingerprint(opened), opened.fingerprint);

  // The same shape with one attribute changed.
  Graph other = opened;
  std::vector<float> values(other.link_attributes.values.begin(),
                            other.link_attributes.values.end());
  values[0] += 1;
  other.link_attributes.values = std::move(values);
  save_graph(other, path("b.graph"));
  EXPECT_NE(open_graph(path("b.graph")).fingerprint, opened.fingerprint);
  other.fingerprint.clear();
  EXPECT_EQ(fingerprint(other), open_graph(path("b.graph")).fingerprint);
}

}  // namespace
}  // namespace lase
