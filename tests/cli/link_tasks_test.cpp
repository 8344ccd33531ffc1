// Links as prediction targets on the command line.

#include <algorithm>
#include <cmath>
#include <filesystem>
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
  // The data of a report page.
  nlohmann::json report(const std::string& name) const {
    const std::string page = read_file(path(name));
    const std::string begin = "type=\"application/json\">";
    const size_t at = page.find(begin) + begin.size();
    return nlohmann::json::parse(page.substr(at, page.find("</script>", at) - at));
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

TEST_F(LinkTasksCli, CalibratesProbabilitiesOfLinks) {
  import_links({"--link-label", "kind", "--attributes", "amount"});
  const auto plain = train({"--epochs", "5"});
  const auto calibrated = train({"--epochs", "5", "--calibrate"});
  EXPECT_LT(calibrated.at("val_log_loss"), plain.at("val_log_loss"));
  const auto evaluated = run({"evaluate", path("m.model"), path("g.graph")});
  EXPECT_NEAR(evaluated.at("log_loss"), calibrated.at("log_loss"), 1e-6);
  EXPECT_EQ(evaluated.at("accuracy"), plain.at("accuracy"));
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

TEST_F(LinkTasksCli, ExplainsLinks) {
  import_links({"--link-label", "kind", "--attributes", "amount"});
  train({"--epochs", "2"});
  const std::string m = path("m.model");
  const std::string g = path("g.graph");
  const auto explained = run({"explain", m, g, "--row", "3", "--svg", path("link.svg")});
  const std::string line = lines("links.csv")[4];
  const std::string u = line.substr(0, line.find(','));
  const std::string v = line.substr(u.size() + 1, line.find(',', u.size() + 1) - u.size() - 1);
  EXPECT_EQ(explained.at("source"), u);
  EXPECT_EQ(explained.at("target"), v);
  EXPECT_EQ(explained.at("attributes").at("inputs").at(0).at("name"), "amount");
  EXPECT_EQ(explained.at("statistics").at("inputs").size(), 5);
  EXPECT_EQ(explained.at("ends").at("target").at("node"), v);
  EXPECT_NE(read_file(path("link.svg")).find("<svg"), std::string::npos);
  const auto named = run({"explain", m, g, "--source", u, "--target", v, "--class", "fraud"});
  EXPECT_EQ(named.at("output"), "fraud");
  const auto text = run_cli({"explain", m, g, "--row", "3"});
  EXPECT_NE(text.out.find(join("link ", u, " → ", v, ", row 3: ")), std::string::npos) << text.out;

  expect_bad_usage(run_cli({"explain", m, g, "--source", u}), {"--source and --target"});
  expect_bad_usage(run_cli({"explain", m, g, "--node", u}), {"--node", "use --source"});
  expect_bad_usage(run_cli({"explain", m, g, "--source", u, "--target", u}),
                   {"--target", "differ"});
  expect_bad_usage(run_cli({"explain", m, g, "--source", v, "--target", u, "--row", "3"}),
                   {"--row 3"});
  expect_bad_usage(run_cli({"explain", m, g, "--row", "3", "--relation", "r"}), {"--relation"});
  expect_bad_usage(run_cli({"explain", m, g, "--row", "-2"}), {"--row"});
  expect_rejected(run_cli({"explain", m, g, "--row", "200"}), {"row 200"});
  expect_rejected(run_cli({"explain", m, g, "--source", u, "--target", "none"}), {"'none'"});
  expect_rejected(run_cli({"explain", m, g, "--row", "3", "--class", "no"}), {"'no'"});
  expect_rejected(run_cli({"explain", m, g, "--summary"}), {"--summary: not supported"});
}

TEST_F(LinkTasksCli, WritesReports) {
  std::string text = read_file(path("links.csv"));
  for (size_t at; (at = text.find("\nn7,")) != std::string::npos;) {
    text.replace(at, 4, "\n</script><b>,");
  }
  write("links.csv", text);
  import_links({"--link-label", "kind", "--attributes", "amount"});
  const auto trained = train({"--epochs", "2", "--report", path("train.html")});
  run({"evaluate", path("m.model"), path("g.graph"), "--report", path("evaluate.html"),
       "--confusion", path("confusion.csv")});
  run({"predict", path("m.model"), path("g.graph"), "--out", path("p.csv"), "--report",
       path("predict.html")});
  EXPECT_EQ(lines("confusion.csv").size(), 3);
  for (const auto* name : {"train.html", "evaluate.html", "predict.html"}) {
    const auto data = report(name);
    EXPECT_NEAR(data.at("headline").at("test"), trained.at(trained.at("metric")), 1e-3) << name;
    EXPECT_EQ(data.at("curves").at("loss").size(), 2) << name;
    EXPECT_EQ(read_file(path(name)).find("</script><b>"), std::string::npos) << name;
  }
}

TEST_F(LinkTasksCli, ReportsOnRegressionAndPredictedLinks) {
  import_links({"--link-regress", "amount"});
  train({"--epochs", "2", "--report", path("amount.html")});
  const auto numbers = report("amount.html");
  const auto& target = numbers.at("numbers").at("targets").at(0);
  EXPECT_EQ(target.at("name"), "amount");
  EXPECT_EQ(target.at("actual").size(), numbers.at("numbers").at("of"));
  const auto& rows = numbers.at("examples").at("groups").at(0).at("rows");
  EXPECT_GE(std::abs(rows.at(0).at("cells").at(2).get<double>()),
            std::abs(rows.at(1).at("cells").at(2).get<double>()));
  const CliResult confused =
      run_cli({"evaluate", path("m.model"), path("g.graph"), "--confusion", path("c.csv")});
  EXPECT_EQ(confused.code, 1);
  EXPECT_NE(confused.err.find("--confusion"), std::string::npos) << confused.err;
  import_links({"--link-split", "60/20/20", "--attributes", "amount"});
  train({"--task", "link-prediction", "--epochs", "2", "--report", path("links.html")});
  EXPECT_EQ(report("links.html").at("ranks").at("k").at(0), 1);
}

TEST_F(LinkTasksCli, RanksLinksByTheProtocolOfChoice) {
  import_links({"--link-split", "60/20/20"});
  const auto trained = train({"--task", "link-prediction", "--decoder", "dot", "--epochs", "2"});
  const auto evaluate = [&](const std::string& ranking) {
    return run({"evaluate", path("m.model"), path("g.graph"), "--ranking", ranking});
  };
  EXPECT_EQ(trained.at("ranking"), "filtered");
  EXPECT_EQ(evaluate("auto").at("ranking"), "filtered");
  EXPECT_EQ(evaluate("raw").at("ranking"), "raw");
  EXPECT_EQ(evaluate("auto").at("mrr"), trained.at("mrr"));
  EXPECT_EQ(evaluate("filtered").at("mrr"), trained.at("mrr"));
  EXPECT_LT(evaluate("raw").at("mrr"), trained.at("mrr"));
  const auto text = run_cli({"evaluate", path("m.model"), path("g.graph"), "--ranking", "raw"}).out;
  EXPECT_NE(text.find("raw MRR"), std::string::npos) << text;
}

TEST_F(LinkTasksCli, ComparesRanksOfTheSameProtocol) {
  import_links({"--link-split", "60/20/20"});
  const auto compare = [&](const Strings& more) {
    Strings all = {"compare", path("g.graph"), "--task", "link-prediction", "--models", "lase"};
    for (const auto& word : {"--seeds", "1", "--epochs", "1", "--widths", "4", "--features", "none",
                             "--variant", "lase: decoder=dot"}) {
      all.emplace_back(word);
    }
    all.insert(all.end(), more.begin(), more.end());
    return run_cli(all);
  };
  const CliResult rejected = compare({});
  EXPECT_NE(rejected.code, 0);
  EXPECT_NE(rejected.err.find("sampled MRR and filtered MRR, which are not comparable"),
            std::string::npos)
      << rejected.err;
  const CliResult result = compare({"--ranking", "sampled"});
  EXPECT_NE(result.out.find("test sampled MRR"), std::string::npos) << result.out << result.err;
}

TEST_F(LinkTasksCli, ReadsNegativeSamplesFromAFile) {
  import_links({"--link-split", "60/20/20"});
  write("pairs.csv", "from,to\nn1,n2\nn3,n4\nn5,n6\n");
  const Strings task = {"--task", "link-prediction", "--epochs", "2"};
  const auto loss = [&](Strings more) {
    more.insert(more.end(), task.begin(), task.end());
    return train(more).at("val_loss").get<double>();
  };
  const double from_file = loss({"--negative-file", path("pairs.csv")});
  EXPECT_NE(from_file, loss({}));
  EXPECT_EQ(from_file, loss({"--negative-file", path("pairs.csv")}));
  // The file is for training only.
  train({"--task", "link-prediction", "--epochs", "1", "--negative-file", path("pairs.csv")});
  std::filesystem::remove(path("pairs.csv"));
  run({"evaluate", path("m.model"), path("g.graph")});

  const auto rejects = [&](const Strings& more, std::initializer_list<std::string> parts) {
    Strings all = {"train", path("g.graph"), "--widths", "4", "--epochs", "1"};
    all.insert(all.end(), more.begin(), more.end());
    expect_rejected(run_cli(all), parts);
  };
  const Strings file = {"--task", "link-prediction", "--negative-file", path("bad.csv")};
  rejects(file, {"bad.csv", "No such file"});
  write("bad.csv", "from,to\nn1,n2\nn1,nobody\n");
  rejects(file, {"bad.csv", "line 3", "'nobody'", "a node of the graph"});
  write("bad.csv", "from,to\n");
  rejects(file, {"bad.csv"});
  write("bad.csv", "from,to\nn1,n1\n");
  rejects(file, {"bad.csv", "line 2", "'n1'", "another node"});
  run({"import", "links", path("links.csv"), "--out", path("g.graph")});
  expect_rejected(run_cli({"train", path("g.graph"), "--task", "link-prediction", "--link-split",
                           "100/0/0", "--negative-file", path("links.csv")}),
                  {"links.csv", "all pairs are linked"});
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
  rejects({"--negative-file", "pairs.csv"}, {"--negative-file", "unless links are predicted"});
  rejects({"--task", "link-prediction", "--negative-file", "pairs.csv", "--negative-sampling",
           "degree"},
          {"--negative-file and --negative-sampling"});
  train({"--epochs", "1"});
  expect_bad_usage(run_cli({"evaluate", path("m.model"), path("g.graph"), "--ranking", "raw"}),
                   {"--ranking", "does not predict links"});
}

TEST_F(LinkTasksCli, WarnsOfOptionsWithoutEffect) {
  const auto warnings = [&](const Strings& more) {
    Strings all = {"train", path("g.graph"), "--out", path("m.model"), "--widths", "4"};
    for (const auto& word : {"--epochs", "1", "--features", "none"}) all.emplace_back(word);
    all.insert(all.end(), more.begin(), more.end());
    const CliResult result = run_cli(all);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.err;
  };
  import_links({"--link-label", "kind"});
  const std::string unused =
      warnings({"--negatives", "4", "--negative-sampling", "degree", "--transductive"});
  EXPECT_NE(unused.find("--negatives has no effect, because labels"), std::string::npos) << unused;
  EXPECT_NE(unused.find("--negative-sampling has no effect"), std::string::npos) << unused;
  EXPECT_NE(unused.find("--transductive has no effect"), std::string::npos) << unused;
  const Strings splits = {"--task", "link-prediction", "--link-split", "50/25/25"};
  EXPECT_EQ(warnings(splits), "");
  import_links({"--link-label", "kind", "--link-split", "60/20/20"});
  EXPECT_NE(warnings(splits).find("--link-split has no effect, because the graph has a split"),
            std::string::npos);
}

}  // namespace
}  // namespace lase
