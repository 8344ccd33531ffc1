// The documented commands on real data, checked against the known sizes.

#include <filesystem>
#include <map>

#include "support.h"

namespace lase {
namespace {

class RealData : public FolderTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(data("README.md"))) {
      GTEST_SKIP() << "the data folder " LASE_DATA " does not exist";
    }
  }
  static std::string data(const std::string& name) { return LASE_DATA "/" + name; }
  nlohmann::json imported(const std::string& out, Strings arguments) const {
    arguments.insert(arguments.begin(), "import");
    arguments.insert(arguments.end(), {"--out", path(out), "--json"});
    const auto result = run_cli(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.code == 0 ? result.json() : nlohmann::json();
  }
  static void expect_numbers(const nlohmann::json& json, const nlohmann::json& expected) {
    for (const auto& [key, value] : expected.items()) EXPECT_EQ(json.at(key), value) << key;
  }
  Strings papers(const Strings& more) const {
    Strings all = {"sets",        data("papers/papers.tsv.gz"),
                   "--members",   "authors",
                   "--separator", ";",
                   "--label",     "venue",
                   "--text",      "title",
                   "--split",     "65/15/20"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

const nlohmann::json kEmail = {{"nodes", 986}, {"links", 16064},       {"arcs", 32128},
                               {"labels", 42}, {"node_features", 128}, {"train", 641},
                               {"val", 148},   {"test", 197}};

TEST_F(RealData, EmailFromContacts) {
  const auto json =
      imported("email.graph", {"contacts", data("email/contacts.txt.gz"), "--nodes",
                               data("email/nodes.csv"), "--label", "department", "--split", "split",
                               "--slices", "64", "--separate-directions", "--features",
                               data("email/official/email_Eu-node-feats.npy")});
  expect_numbers(json, kEmail);
  expect_numbers(json,
                 {{"raw_links", 332334}, {"link_attributes", 128}, {"separate_directions", true}});
  const auto info = run_cli({"info", path("email.graph"), "--json"});
  expect_numbers(info.json(), kEmail);
}

// Both imports give the same graph: nodes by name, neighbors, classes, splits, features, and the
// counts in 32 equal slices.
TEST_F(RealData, EmailFromTheAuthorsIsTheSameGraph) {
  expect_numbers(imported("authors.graph", {"authors", data("email/official/email_Eu")}), kEmail);
  imported("contacts.graph",
           {"contacts", data("email/contacts.txt.gz"), "--nodes", data("email/nodes.csv"),
            "--label", "department", "--split", "split", "--slices", "32", "--counts", "none",
            "--features", data("email/official/email_Eu-node-feats.npy")});
  const auto ours = open_graph(path("contacts.graph"));
  const auto theirs = open_graph(path("authors.graph"));
  EXPECT_EQ(texts(ours.nodes.labels.names), texts(theirs.nodes.labels.names));
  std::map<std::string, int64_t> node;
  for (int64_t u = 0; u < theirs.node_count(); ++u) node[std::string(theirs.nodes.names[u])] = u;
  ASSERT_EQ(static_cast<int64_t>(node.size()), ours.node_count());
  for (int64_t u = 0; u < ours.node_count(); ++u) {
    const int64_t v = node.at(std::string(ours.nodes.names[u]));
    EXPECT_EQ(ours.nodes.labels.label[u], theirs.nodes.labels.label[v]);
    EXPECT_EQ(ours.nodes.split[u], theirs.nodes.split[v]);
    EXPECT_EQ(row(ours.nodes.features, u), row(theirs.nodes.features, v));
    std::map<std::string, Floats> our_links;
    std::map<std::string, Floats> their_links;
    for (int64_t i = ours.row_ptr[u]; i < ours.row_ptr[u + 1]; ++i) {
      our_links[std::string(ours.nodes.names[ours.neighbor[i]])] =
          row(ours.link_attributes, ours.link[i]);
    }
    for (int64_t i = theirs.row_ptr[v]; i < theirs.row_ptr[v + 1]; ++i) {
      their_links[std::string(theirs.nodes.names[theirs.neighbor[i]])] =
          row(theirs.link_attributes, theirs.link[i]);
    }
    ASSERT_EQ(our_links, their_links) << "node " << ours.nodes.names[u];
  }
}

TEST_F(RealData, PapersFromTheirAuthors) {
  const auto json = imported("papers.graph", papers({}));
  expect_numbers(json, {{"nodes", 14433},
                        {"links", 123037},
                        {"link_attributes", 8654},
                        {"link_layout", "sparse"},
                        {"labels", 8},
                        {"train", 9381},
                        {"val", 2165},
                        {"test", 2887}});
  EXPECT_EQ(json["notes"][0], "23,470 members, 8,654 shared by at least two items");
}

TEST_F(RealData, PapersFromTheirAuthorsWithFoldedNames) {
  const auto json = imported("papers.graph", papers({"--fold-case"}));
  expect_numbers(json, {{"nodes", 14433}, {"links", 123472}, {"link_attributes", 8669}});
  EXPECT_EQ(json["notes"][0], "23,390 members, 8,669 shared by at least two items");
}

TEST_F(RealData, CoraFromLinks) {
  const auto json = imported(
      "cora.graph", {"links", data("cora/links.csv"), "--nodes", data("cora/nodes.csv"), "--label",
                     "topic", "--split", "split", "--features", data("cora/features.npy")});
  expect_numbers(json, {{"nodes", 2708},
                        {"links", 5278},
                        {"link_attributes", 0},
                        {"node_features", 1433},
                        {"labels", 7},
                        {"train", 140},
                        {"val", 500},
                        {"test", 1000}});
}

TEST_F(RealData, WorkplaceWithTheTimeInTheFirstColumn) {
  const auto json =
      imported("work.graph", {"contacts", data("workplace/contacts.dat.gz"), "--time", "1",
                              "--nodes", data("workplace/departments.txt"), "--label", "2"});
  expect_numbers(json, {{"links", 4274}, {"raw_links", 78249}, {"labels", 12}});
  EXPECT_EQ(json["nodes"].get<int64_t>() - json["isolated"].get<int64_t>(), 217);
}

}  // namespace
}  // namespace lase
