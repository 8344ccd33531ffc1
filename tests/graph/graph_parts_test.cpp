#include "lase/graph/graph_parts.h"

#include <cstring>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/lase_file.h"
#include "lase/graph/part_files.h"

#include "support.h"

namespace lase {
namespace {

class PartsOfAGraph : public FolderTest {
 protected:
  Graph links(const std::string& text, Strings more = {}) const {
    more.insert(more.begin(), write("links.csv", text));
    return import_graph("links", more);
  }
  // A ring with chords, self-loops, dictionary-encoded attributes, features, labels and a split.
  Graph ring(const Strings& more = {}) const {
    std::string text = "source,target,kind\n";
    std::string nodes = "id,age,team,part\n";
    for (int i = 0; i < 24; ++i) {
      text += join("n", i, ",n", (i + 1) % 24, ",", i % 3, "\n");
      text += join("n", i, ",n", (i * 7) % 24, ",", i % 2, "\n");
      nodes += join("n", i, ",", i * 1.25, ",", i % 3 == 0 ? "x" : "y", ",",
                    i % 4 ? "train" : "test", "\n");
    }
    Strings all = {"--nodes", write("nodes.csv", nodes), "--label", "team", "--split", "part"};
    all.insert(all.end(), more.begin(), more.end());
    return links(text, all);
  }
  Graph sparse() const {
    std::string text = "title\tauthors\n";
    for (int i = 0; i < 12; ++i) {
      text += join("word", i % 5, " graph", i % 3, "\tA", i % 6, ";A", (i + 1) % 6, "\n");
    }
    return import_graph("sets", {write("p.tsv", text), "--members", "authors", "--text", "title"});
  }
  static Partition partition(const Graph& graph, int64_t parts) {
    return partition_nodes(graph, {.parts = parts, .method = Partitioner::kStreaming});
  }
  GraphParts saved(const Graph& graph, int64_t parts, const std::string& folder = "g.parts") const {
    save_parts(graph, partition(graph, parts), path(folder));
    return open_parts(path(folder));
  }
  std::string file_of(const GraphParts& parts, int64_t part) const {
    return part_path(parts.folder, parts.id, part);
  }
};

// Each node has the features, the arcs and their attributes that it has in the whole graph.
void expect_rows(const GraphPart& part, const Graph& graph) {
  ASSERT_EQ(part.arcs.node_count(), part.node.size());
  EXPECT_EQ(part.features.layout, graph.nodes.features.layout);
  EXPECT_EQ(part.link_attributes.layout, graph.link_attributes.layout);
  for (int64_t i = 0; i < part.node.size(); ++i) {
    const int32_t u = part.node[i];
    EXPECT_EQ(row(part.features, i), row(graph.nodes.features, u));
    ASSERT_EQ(part.arcs.degree(i), graph.degree(u));
    for (int64_t a = 0; a < graph.degree(u); ++a) {
      const int64_t here = part.arcs.row_ptr[i] + a;
      const int64_t there = graph.row_ptr[u] + a;
      EXPECT_EQ(part.arcs.neighbor[here], graph.neighbor[there]);
      EXPECT_EQ(row(part.link_attributes, part.arcs.link[here]),
                row(graph.link_attributes, graph.link[there]));
    }
  }
}

void expect_round_trip(const GraphParts& parts, const Graph& graph) {
  EXPECT_NO_THROW(check_parts(parts));
  EXPECT_EQ(parts.node_count(), graph.node_count());
  EXPECT_EQ(parts.arcs, graph.arc_count());
  EXPECT_EQ(parts.graph.links, graph.links);
  EXPECT_EQ(parts.graph.directed, graph.directed);
  EXPECT_EQ(parts.graph.separate_directions, graph.separate_directions);
  EXPECT_EQ(parts.graph.fingerprint, fingerprint(graph));
  EXPECT_EQ(parts.graph.preprocessing, graph.preprocessing);
  EXPECT_EQ(texts(parts.graph.nodes.names), texts(graph.nodes.names));
  EXPECT_EQ(texts(parts.graph.nodes.feature_names), texts(graph.nodes.feature_names));
  EXPECT_EQ(texts(parts.graph.attribute_names), texts(graph.attribute_names));
  const Labels& labels = parts.graph.nodes.labels;
  EXPECT_EQ(labels.task, graph.nodes.labels.task);
  EXPECT_EQ(texts(labels.names), texts(graph.nodes.labels.names));
  EXPECT_TRUE(std::ranges::equal(labels.label, graph.nodes.labels.label));
  EXPECT_EQ(labels.target.size(), graph.nodes.labels.target.size());
  EXPECT_TRUE(std::ranges::equal(parts.graph.nodes.split, graph.nodes.split));
  EXPECT_EQ(parts.node_features.columns, graph.nodes.features.columns);
  EXPECT_EQ(parts.link_attributes.columns, graph.link_attributes.columns);

  int64_t arcs = 0;
  for (int64_t p = 0; p < parts.parts(); ++p) {
    const GraphPart part = load_parts(parts, {p, p + 1});
    EXPECT_EQ(part.node.size(), parts.sizes[static_cast<size_t>(p)]);
    EXPECT_LE(part.link_attributes.rows, part.arcs.arc_count());
    expect_rows(part, graph);
    arcs += part.arcs.arc_count();
  }
  EXPECT_EQ(arcs, graph.arc_count());
  const GraphPart all = load_parts(parts, {0, parts.parts()});
  EXPECT_EQ(all.node.size(), graph.node_count());
  expect_rows(all, graph);
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    int64_t at = parts.row[u];
    for (int64_t p = 0; p < parts.part[u]; ++p) at += parts.sizes[static_cast<size_t>(p)];
    EXPECT_EQ(all.node[at], u);
  }
}

TEST_F(PartsOfAGraph, KeepEveryLayoutAndTask) {
  const std::string regression = write("r.csv", "id,age\na,1\nb,\nc,3\n");
  for (const Graph& graph :
       {ring(), ring({"--self-loops", "keep"}), ring({"--directed"}),
        ring({"--separate-directions"}), sparse(), links("1 2\n2 3\n3 4\n4 4\n"),
        links("source,target,w\na,b,1.5\nb,c,2\nc,a,7\n",
              {"--nodes", regression, "--regress", "age"})}) {
    for (const int64_t count : {1, 2, 3}) expect_round_trip(saved(graph, count), graph);
  }
  EXPECT_EQ(ring().link_attributes.layout, Layout::kDictionary);
  EXPECT_EQ(sparse().nodes.features.layout, Layout::kSparse);
}

TEST_F(PartsOfAGraph, KeepIndicesOf64Bits) {
  Graph graph = ring();
  std::vector<int64_t> wide;
  for (int64_t i = 0; i < graph.arc_count(); ++i) wide.push_back(graph.link[i]);
  graph.link = Array<int64_t>(wide);
  expect_round_trip(saved(graph, 3), graph);
}

TEST_F(PartsOfAGraph, KeepOneNodePerPart) {
  const Graph graph = ring();
  expect_round_trip(saved(graph, graph.node_count()), graph);
}

TEST_F(PartsOfAGraph, NumberLinkRowsInTheirOrder) {
  const Graph graph = ring({"--separate-directions"});
  const GraphParts parts = saved(graph, 3);
  for (int64_t p = 0; p < 3; ++p) {
    const GraphPart part = load_parts(parts, {p, p + 1});
    std::map<int64_t, int64_t> number;  // row in the whole graph → row in the part
    for (int64_t i = 0; i < part.node.size(); ++i) {
      for (int64_t a = 0; a < part.arcs.degree(i); ++a) {
        number[graph.link[graph.row_ptr[part.node[i]] + a]] =
            part.arcs.link[part.arcs.row_ptr[i] + a];
      }
    }
    int64_t next = 0;
    for (const auto& [whole, own] : number) EXPECT_EQ(own, next++);
    EXPECT_EQ(part.link_attributes.rows, next);
  }
}

TEST_F(PartsOfAGraph, AreMappedIfThereIsOnlyOne) {
  const Graph graph = sparse();
  const GraphParts parts = saved(graph, 2);
  const GraphPart part = load_parts(parts, {1, 2});
  ::unlink(file_of(parts, 1).c_str());
  expect_rows(part, graph);
}

TEST_F(PartsOfAGraph, AreRecognized) {
  const GraphParts parts = saved(ring(), 2);
  EXPECT_TRUE(is_partitioned(path("g.parts")));
  EXPECT_FALSE(is_partitioned(path("links.csv")));
  EXPECT_FALSE(is_partitioned(path("none")));
  EXPECT_FALSE(is_partitioned(path(".")));
  EXPECT_EQ(kind_of_file(nodes_path(parts.folder)).name, "partition");
  expect_error([&] { open_graph(file_of(parts, 0)); }, {"is a lase part, not a graph"});
  expect_error([&] { load_graph(parts.folder); }, {"g.parts: is a partitioned graph"});
}

TEST_F(PartsOfAGraph, ReplaceAnEarlierPartition) {
  const GraphParts old = saved(ring(), 5);
  const GraphPart read = load_parts(old, {4, 5});
  const Graph graph = sparse();
  expect_round_trip(saved(graph, 2), graph);
  EXPECT_EQ(files().size(), 6U);  // nodes, two parts, and three inputs
  expect_rows(read, ring());
  expect_error([&] { load_parts(old, {0, 1}); }, {"-00000: cannot be opened"});
}

// A program that was killed leaves parts, but no file `nodes` that refers to them.
TEST_F(PartsOfAGraph, IgnoreWhatAKilledProgramLeft) {
  const Graph graph = ring();
  const GraphParts parts = saved(graph, 2);
  write("g.parts/part-0123456789abcdef-00000", read_file(file_of(parts, 1)));
  expect_round_trip(open_parts(path("g.parts")), graph);
  expect_round_trip(saved(graph, 2), graph);
  EXPECT_EQ(open_parts(path("g.parts")).id, parts.id);
  for (const auto& name : files()) EXPECT_EQ(name.find("0123456789abcdef"), name.npos);
}

TEST_F(PartsOfAGraph, RejectFoldersWithOtherFiles) {
  write("other/notes.txt", "mine");
  const Graph graph = ring();
  expect_error([&] { saved(graph, 2, "other"); },
               {"other: contains 'notes.txt', which is not a file of a partitioned graph"});
  write("named/nodes", "id\n1\n");
  expect_error([&] { saved(graph, 2, "named"); },
               {"named: contains 'nodes', which is not a file of a partitioned graph"});
  expect_error([&] { saved(graph, 2, "links.csv"); }, {"links.csv: cannot be created"});
  EXPECT_EQ(read_file(path("other/notes.txt")), "mine");
  write("numbered/part-00000", "mine");  // by another program
  expect_error([&] { saved(graph, 2, "numbered"); }, {"numbered: contains 'part-00000'"});
  EXPECT_EQ(read_file(path("numbered/part-00000")), "mine");
}

TEST_F(PartsOfAGraph, RejectTasksOnLinks) {
  Graph graph = ring();
  graph.link_split = std::vector<uint8_t>(static_cast<size_t>(graph.links), 1);
  expect_error([&] { saved(graph, 2); }, {"only graphs without them can be partitioned"});
  EXPECT_FALSE(is_partitioned(path("g.parts")));
}

TEST_F(PartsOfAGraph, RejectChangedBytes) {
  const Graph graph = ring();
  const GraphParts parts = saved(graph, 2);
  for (const std::string& file : {nodes_path(parts.folder), file_of(parts, 1)}) {
    const std::string text = read_file(file);
    uint64_t length = 0;
    std::memcpy(&length, text.data(), 8);
    const size_t padding = text.substr(0, 8 + length).find_last_not_of(' ') + 1;
    const size_t key = text.find("checksums");
    for (size_t i = 0; i < text.size(); i += 1 + text.size() / 100) {
      if ((i >= padding && i < 8 + length) || (i >= key && i < key + 9)) continue;
      std::string changed = text;
      changed[i] = static_cast<char>(changed[i] ^ 1);
      write_file(file, changed);
      expect_error([&] { check_parts(open_parts(parts.folder)); }, {file + ": "});
    }
    write_file(file, text);
  }
  EXPECT_NO_THROW(check_parts(open_parts(parts.folder)));
}

TEST_F(PartsOfAGraph, RejectTruncatedAndMissingFiles) {
  const GraphParts parts = saved(ring(), 2);
  for (const std::string& file : {nodes_path(parts.folder), file_of(parts, 0)}) {
    const std::string whole = read_file(file);
    for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 40) {
      write_file(file, whole.substr(0, size));
      expect_error([&] { check_parts(open_parts(parts.folder)); }, {file + ": "});
    }
    ::unlink(file.c_str());
    expect_error([&] { check_parts(open_parts(parts.folder)); }, {file + ": cannot be opened"});
    write_file(file, whole);
  }
}

TEST_F(PartsOfAGraph, RejectPartsOfAnotherPartition) {
  const GraphParts parts = saved(ring(), 2);
  const GraphParts other = saved(ring(), 3, "other.parts");
  const std::string good = read_file(file_of(parts, 0));
  for (const std::string& text : {read_file(file_of(parts, 1)), read_file(file_of(other, 0)),
                                  read_file(nodes_path(other.folder))}) {
    write_file(file_of(parts, 0), text);
    expect_error([&] { load_parts(parts, {0, 1}); }, {file_of(parts, 0) + ": is "});
  }
  write_file(file_of(parts, 0), good);
  EXPECT_NO_THROW(load_parts(parts, {0, 2}));
  expect_error([&] { load_parts(parts, {1, 3}); }, {"has 2 parts"});
}

TEST_F(PartsOfAGraph, VerifyLargeArraysWhenLoaded) {
  Graph graph = links("1 2\n2 3\n");
  constexpr int64_t kManyColumns = 200'000;
  graph.nodes.features =
      Attributes::dense(std::vector<float>(3 * kManyColumns, 1.0F), 3, kManyColumns);
  graph.nodes.feature_names = numbered_names("x", kManyColumns);
  const GraphParts parts = saved(graph, 1);
  std::string text = read_file(file_of(parts, 0));
  const size_t at = text.rfind(bytes_of(std::vector<float>{1, 1, 1, 1}));
  ASSERT_NE(at, text.npos);
  text[at + 2] = static_cast<char>(text[at + 2] ^ 1);  // still a finite number
  write_file(file_of(parts, 0), text);
  expect_error([&] { load_parts(parts, {0, 1}); }, {"'node_features' does not match its checksum"});
}

// Values that are wrong although the checksums match.
TEST_F(PartsOfAGraph, CheckEveryIndex) {
  const Graph graph = ring();
  const GraphParts parts = saved(graph, 2);
  const GraphPart part = load_parts(parts, {0, 1});
  const auto with = [&](const std::string& array, const auto& wrong) {
    const std::string file = file_of(parts, 0);
    const std::string good = read_file(file);
    uint64_t length = 0;
    std::memcpy(&length, good.data(), 8);
    auto header = nlohmann::json::parse(good.substr(8, length));
    header["__metadata__"].erase("checksums");
    std::string data = good.substr(8 + length);
    std::memcpy(data.data() + header.at(array).at("data_offsets").at(0).template get<size_t>(),
                &wrong, sizeof wrong);
    std::string text = header.dump();
    text.append((64 - (8 + text.size()) % 64) % 64, ' ');
    write_file(file, safetensors(text, data));
    expect_error([&] { load_parts(parts, {0, 1}); }, {file + ": ", array});
    write_file(file, good);
  };
  with("neighbor", int32_t{24});
  with("neighbor", int32_t{-1});
  with("link", static_cast<int32_t>(part.link_attributes.rows));
  with("row_ptr", int64_t{1});
  with("node", int32_t{99});
  with("node", load_parts(parts, {1, 2}).node[0]);
  with("node_features", std::numeric_limits<float>::infinity());
  with("link_attributes.code", int32_t{77});
}

}  // namespace
}  // namespace lase
