// Links as prediction targets on the command line.

#include <algorithm>
#include <set>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/random.h"
#include "lase/model/model_file.h"

#include "support.h"

namespace lase {
namespace {

class LinkTasksCli : public FolderTest {
 protected:
  // Payments between 30 accounts; those of a large amount are fraud.
  LinkTasksCli() {
    Random random(5);
    std::string text = "from,to,amount,kind,day\n";
    for (int i = 0; i < 200; ++i) {
      const auto u = random.below(30);
      const auto v = (u + 1 + random.below(29)) % 30;
      const auto amount = random.below(100);
      text += join("n", u, ",n", v, ",", amount, ",", amount > 50 ? "fraud" : "fair", ",", i, "\n");
    }
    write("links.csv", text);
  }

  nlohmann::json run(const Strings& arguments) const {
    Strings all = arguments;
    all.emplace_back("--json");
    const CliResult result = run_cli(all);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.json();
  }
  nlohmann::json import_links(const Strings& more) const {
    Strings all = {"import", "links", path("links.csv"), "--out", path("g.graph")};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  nlohmann::json train(const Strings& more) const {
    Strings all = {"train", path("g.graph"), "--out", path("m.model"), "--widths",
                   "4",     "--features",    "none"};
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  }
  Strings lines(const std::string& name) const {
    const std::string text = read_file(path(name));
    Strings all;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at);
      all.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return all;
  }
};

TEST_F(LinkTasksCli, ClassifiesLinks) {
  import_links({"--link-label", "kind", "--attributes", "amount"});
  const auto trained = train({"--epochs", "30", "--learning-rate", "0.05"});
  EXPECT_EQ(trained.at("task"), "links");
  EXPECT_GT(trained.at("test_links"), 5);
  EXPECT_GT(trained.at("val_micro_f1"), 0.8);
  const auto evaluated = run({"evaluate", path("m.model"), path("g.graph")});
  EXPECT_EQ(evaluated.at("micro_f1"), trained.at("micro_f1"));
  EXPECT_EQ(evaluated.at("links"), trained.at("test_links"));
  run({"predict", path("m.model"), path("g.graph"), "--out", path("p.csv")});
  const Strings predicted = lines("p.csv");
  ASSERT_EQ(predicted.size(), 201);
  EXPECT_EQ(predicted[0], "source,target,label,probability");
  // In the order of the table.
  const Strings table = lines("links.csv");
  int correct = 0;
  for (size_t i = 1; i < table.size(); ++i) {
    const auto pair = table[i].substr(0, table[i].find(',', table[i].find(',') + 1) + 1);
    EXPECT_TRUE(predicted[i].starts_with(pair)) << predicted[i];
    const bool fraud = table[i].find(",fraud,") != std::string::npos;
    correct += (predicted[i].find(",fraud,") != std::string::npos) == fraud ? 1 : 0;
  }
  EXPECT_GT(correct, 160);
  expect_rejected(run_cli({"predict", path("m.model"), path("g.graph"), "--top", "3", "--out",
                           path("top.csv")}),
                  {"does not predict links"});
}

TEST_F(LinkTasksCli, PredictsLinks) {
  import_links({"--link-split", "60/20/20", "--link-split-by", "time", "--link-time", "day",
                "--attributes", "amount"});
  const auto trained = train({"--decoder", "bilinear", "--epochs", "3"});
  EXPECT_EQ(trained.at("task"), "link-prediction");
  const auto evaluated = run({"evaluate", path("m.model"), path("g.graph")});
  for (const auto* key : {"mrr", "hits_at_10", "roc_auc"}) {
    EXPECT_NEAR(evaluated.at(key), trained.at(key), 1e-6) << key;
  }
  run({"predict", path("m.model"), path("g.graph"), "--out", path("p.csv")});
  EXPECT_EQ(lines("p.csv").size(), 201);
  EXPECT_EQ(lines("p.csv")[0], "source,target,score");
  run({"predict", path("m.model"), path("g.graph"), "--top", "3", "--out", path("top.csv")});
  const Strings top = lines("top.csv");
  ASSERT_EQ(top.size(), 1 + 30 * 3);
  // Partners are not linked yet, in either direction.
  std::set<std::string> pairs;
  for (const std::string& line : lines("links.csv")) {
    const size_t first = line.find(',');
    const size_t second = line.find(',', first + 1);
    const std::string u = line.substr(0, first);
    const std::string v = line.substr(first + 1, second - first - 1);
    pairs.insert(join(u, ",", v));
    pairs.insert(join(v, ",", u));
  }
  for (const std::string& line : top) EXPECT_FALSE(pairs.contains(line.substr(0, line.rfind(','))));
  const auto embedded = run({"embed", path("m.model"), path("g.graph"), "--out", path("h.npy")});
  EXPECT_EQ(embedded.at("nodes"), 30);
}

TEST_F(LinkTasksCli, LearnsEmbeddingsOfAGraphWithoutLabels) {
  run({"import", "links", path("links.csv"), "--attributes", "amount", "--out", path("g.graph")});
  const CliResult unlabeled = run_cli({"train", path("g.graph"), "--out", path("m.model")});
  expect_rejected(unlabeled, {"no labels", "--link-label", "--task"});
  const auto trained = train({"--task", "embedding", "--epochs", "2"});
  EXPECT_EQ(trained.at("task"), "embedding");
  const auto embedded = run({"embed", path("m.model"), path("g.graph"), "--out", path("h.npy")});
  EXPECT_EQ(embedded.at("nodes"), 30);
}

TEST_F(LinkTasksCli, RejectsOptionsThatDoNotFit) {
  import_links({"--link-label", "kind", "--attributes", "amount"});
  const auto rejects = [&](const Strings& more, std::initializer_list<std::string> parts) {
    Strings all = {"train", path("g.graph"), "--widths", "4", "--epochs", "1"};
    all.insert(all.end(), more.begin(), more.end());
    expect_bad_usage(run_cli(all), parts);
  };
  rejects({"--decoder", "dot"}, {"--decoder dot", "use mlp"});
  rejects({"--task", "link-prediction", "--decoder", "mlp", "--ranking", "filtered"},
          {"--ranking filtered", "--decoder mlp"});
}

}  // namespace
}  // namespace lase
