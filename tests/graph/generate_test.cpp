#include "lase/graph/generate.h"

#include <map>
#include <set>

#include "lase/base/file.h"
#include "lase/base/parallel.h"

#include "support.h"

namespace lase {
namespace {

class Generate : public FolderTest {
 protected:
  Graph generate(const PlantedOptions& options) {
    generate_graph(options, path("g.graph"));
    Graph graph = open_graph(path("g.graph"));
    check_graph(graph, path("g.graph"));
    return graph;
  }
};

// How often each value occurs.
template <class Values>
std::map<typename Values::value_type, int> histogram(const Values& values) {
  std::map<typename Values::value_type, int> counts;
  for (const auto& value : values) ++counts[value];
  return counts;
}

TEST_F(Generate, HasExactlyTheRequestedLinksWithoutDuplicates) {
  for (const double joint : {0.0, 0.4, 1.0}) {
    const Graph graph =
        generate({.nodes = 1003, .links = 5001, .classes = 5, .joint_signal = joint});
    EXPECT_EQ(graph.links, 5001);
    EXPECT_EQ(graph.arc_count(), 2 * 5001);
    for (int64_t u = 0; u < graph.node_count(); ++u) {
      for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
        ASSERT_NE(graph.neighbor[i], u);
        if (i > graph.row_ptr[u]) {
          ASSERT_LT(graph.neighbor[i - 1], graph.neighbor[i]);
        }
      }
    }
  }
}

// Figure 3 of the paper, exactly: the multiset of nodes and the multiset of links around a node
// carry no information, but their pairs determine the label.
TEST_F(Generate, HidesJointLabelsFromNodesAloneAndFromLinksAlone) {
  const int64_t labels = 4;
  const Graph graph = generate({.nodes = 1600, .links = 16'000, .classes = labels});
  std::map<int32_t, std::set<std::pair<int64_t, int32_t>>> pairs;  // per label
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    std::vector<int64_t> types;
    std::vector<int32_t> kinds;
    for (int64_t i = graph.row_ptr[u]; i < graph.row_ptr[u + 1]; ++i) {
      types.push_back(graph.neighbor[i] % labels);
      kinds.push_back(graph.link_attributes.code[graph.link[i]]);
      pairs[graph.nodes.labels.label[u]].emplace(types.back(), kinds.back());
    }
    for (const auto& [type, count] : histogram(types)) {
      ASSERT_EQ(count * labels, graph.degree(u)) << "node " << u << ", type " << type;
    }
    for (const auto& [kind, count] : histogram(kinds)) {
      ASSERT_EQ(count * labels, graph.degree(u)) << "node " << u << ", kind " << kind;
    }
  }
  for (const auto& [label, seen] : pairs) {
    EXPECT_EQ(seen.size(), static_cast<size_t>(labels)) << "label " << label;
    for (const auto& [type, kind] : seen) {
      EXPECT_EQ(kind, (type + label) % labels) << "label " << label << ", type " << type;
    }
  }
}

TEST_F(Generate, GivesTheSameBytesForAnyNumberOfThreads) {
  const PlantedOptions options{.nodes = 9000, .links = 30'000, .layout = Layout::kSparse};
  const auto generate = [&](int threads, const std::string& file) {
    const ThreadLimit limit(threads);
    generate_graph(options, path(file));
  };
  generate(1, "one.graph");
  generate(3, "three.graph");
  EXPECT_TRUE(read_file(path("one.graph")) == read_file(path("three.graph")));
  auto other = options;
  other.seed = 2;
  generate_graph(other, path("other.graph"));
  EXPECT_FALSE(read_file(path("one.graph")) == read_file(path("other.graph")));
}

// The expected value is a constant that must not depend on the machine.
TEST_F(Generate, IsTheSameOnEveryMachine) {
  const Graph graph =
      generate({.nodes = 100, .links = 300, .node_dim = 2, .layout = Layout::kDense});
  uint64_t sum = 0;
  for (const char byte : read_file(path("g.graph"))) {
    sum = mix(sum ^ static_cast<unsigned char>(byte));
  }
  EXPECT_EQ(sum, 8579104072688839363u);
}

TEST_F(Generate, HasHeavyTailedDegrees) {
  const Graph graph = generate({.nodes = 20'000, .links = 200'000, .joint_signal = 0});
  int64_t most = 0;
  for (int64_t u = 0; u < graph.node_count(); ++u) most = std::max(most, graph.degree(u));
  EXPECT_GT(most, 10 * 20);  // ten times the mean
}

TEST_F(Generate, StandInsHaveTheSizesOfTheOriginals) {
  struct Size {
    const char* name;
    int64_t nodes, links, labels, features;
  };
  for (const auto& [name, nodes, links, labels, features] :
       {Size{"dblp", 14'389, 111'858, 8, 200}, Size{"email", 986, 16'064, 42, 128},
        Size{"fmobile", 21'102, 55'009, 33, 128}}) {
    const Graph graph = generate(stand_in(name, 1));
    EXPECT_EQ(graph.node_count(), nodes);
    EXPECT_EQ(graph.links, links);
    EXPECT_EQ(graph.nodes.labels.classes(), labels);
    EXPECT_EQ(graph.nodes.features.columns, features);
  }
  const PlantedOptions reddit = stand_in("reddit", 1);
  EXPECT_EQ(reddit.nodes, 61'836);
  EXPECT_EQ(reddit.links, 1'222'411);
  expect_error([] { stand_in("facebook", 1); }, {"facebook"});
}

TEST_F(Generate, RejectsImpossibleOptions) {
  expect_error([&] { generate({.nodes = 20, .links = 10'000, .joint_signal = 0}); },
               {"links 10000", "at most"});
  expect_error([&] { generate({.nodes = 100, .links = 5'000}); }, {"links 5000", "joint"});
  expect_error([&] { generate({.classes = 1}); }, {"classes 1"});
  expect_error([&] { generate({.homophily = 1.5}); }, {"homophily 1.5"});
  expect_error([&] { generate({.split = "half"}); }, {"split", "half"});
  expect_error([&] { generate_mail({.people = 3}, path("mail")); }, {"people 3"});
}

TEST_F(Generate, MailCanBeImported) {
  generate_mail({.people = 80, .contacts = 2000}, path("mail"));
  const Graph graph =
      import_graph("contacts", {path("mail/contacts.csv"), "--nodes", path("mail/people.csv"),
                                "--label", "department", "--split", "split"});
  EXPECT_EQ(graph.node_count(), 80);
  EXPECT_EQ(graph.nodes.labels.classes(), 8);
  EXPECT_EQ(texts(graph.nodes.feature_names), (Strings{"years", "level"}));
  EXPECT_EQ(graph.split_size(Split::kTrain), 52);
}

class Payments : public FolderTest {};

TEST_F(Payments, HaveDatesCategoriesAndMissingValues) {
  generate_payments({.accounts = 200, .payments = 500, .weeks = 10}, path("p"));
  const auto [graph, report] =
      import("links", {path("p/payments.csv"), "--nodes", path("p/accounts.csv"), "--label",
                       "status", "--time", "date", "--slices-by", "hour"});
  EXPECT_EQ(graph.node_count(), 200);
  EXPECT_EQ(report.raw_links, 5000);
  EXPECT_EQ(texts(graph.nodes.labels.names), (Strings{"fraud", "ok"}));
  const Strings attributes = texts(graph.attribute_names);
  for (const auto* name : {"count", "amount_sum", "amount_missing", "channel=wire", "hour 23"}) {
    EXPECT_NE(std::find(attributes.begin(), attributes.end(), name), attributes.end()) << name;
  }
  const Strings features = texts(graph.nodes.feature_names);
  for (const auto* name : {"opened", "balance", "balance_missing", "segment=public"}) {
    EXPECT_NE(std::find(features.begin(), features.end(), name), features.end()) << name;
  }
}

TEST_F(Payments, OfLaterWeeksAreBetweenTheSameAccounts) {
  generate_payments({.weeks = 2}, path("both"));
  generate_payments({.weeks = 1, .first_week = 1}, path("second"));
  EXPECT_EQ(read_file(path("both/accounts.csv")), read_file(path("second/accounts.csv")));
  const std::string second = read_file(path("second/payments.csv"));
  const std::string rows = second.substr(second.find('\n') + 1);
  EXPECT_TRUE(read_file(path("both/payments.csv")).ends_with(rows));
}

}  // namespace
}  // namespace lase
