// Report pages of models of links.

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>

#include "link_support.h"
#include "report/browser.h"
#include "report/page_parts.h"
#include "report/run_page.h"
#include "support.h"

namespace lase {
namespace {

using nlohmann::json;

constexpr Split kAllSplits[] = {Split::kTrain, Split::kTrain, Split::kVal, Split::kTest};

class LinkPageTest : public FolderTest {
 protected:
  static Graph graph(RandomLinks::Role role, const std::vector<Split>& splits) {
    return random_links({.links = 300, .categories = 3, .role = role, .splits = splits});
  }
  static TrainResult train_on(const Graph& graph, Predicts predicts) {
    TrainOptions options;
    options.predicts = predicts;
    options.model.widths = {4};
    options.epochs = 2;
    return train(graph, options);
  }
  static json page_data(const Graph& graph, Predicts predicts) {
    return run_page_data(graph, train_on(graph, predicts), {.title = "g", .command = ""});
  }
  static std::vector<Split> all_splits() { return {std::begin(kAllSplits), std::end(kAllSplits)}; }
};

TEST_F(LinkPageTest, ShowsDecisionsAboutLinks) {
  const Graph g = graph(RandomLinks::Role::kLabels, all_splits());
  const json data = page_data(g, Predicts::kLinks);
  EXPECT_EQ(data.at("seeds"), "links");
  EXPECT_EQ(data.at("split"), "test");
  EXPECT_EQ(data.at("map").at("names").size(), 60);
  EXPECT_EQ(data.at("map").at("values").at("list").at(0), g.degree(0));
  int64_t counted = 0;
  for (const auto& row : data.at("confusion").at("rows")) {
    for (const auto& count : row) counted += count.get<int64_t>();
  }
  const auto test = targets_in(g, Split::kTest);
  EXPECT_EQ(counted, std::ssize(test));
  ASSERT_EQ(data.at("thresholds").size(), 4);  // the micro average and each class
  EXPECT_EQ(data.at("thresholds").at(0).at("positives"), std::ssize(test));
  EXPECT_EQ(data.at("thresholds").at(0).at("negatives"), 2 * std::ssize(test));
  const auto& groups = data.at("examples").at("groups");
  ASSERT_EQ(groups.size(), 3);
  for (const auto& row : groups.at(0).at("rows")) {
    EXPECT_EQ(row.at("cells").at(0), row.at("cells").at(1)) << row;
  }
  for (const auto& row : groups.at(1).at("rows")) {
    EXPECT_NE(row.at("cells").at(0), row.at("cells").at(1)) << row;
  }
}

TEST_F(LinkPageTest, ShowsRanksOfPredictedLinks) {
  const Graph g = graph(RandomLinks::Role::kAttributes, all_splits());
  for (const Predicts predicts : {Predicts::kLinkPrediction, Predicts::kEmbedding}) {
    const TrainResult result = train_on(g, predicts);
    const json data = run_page_data(g, result, {.title = "g", .command = ""});
    const auto& ranks = data.at("ranks");
    EXPECT_EQ(ranks.at("k").at(0), 1);
    EXPECT_NEAR(ranks.at("both").at(0), result.test.hits_at_1, 1e-3);
    EXPECT_EQ(ranks.at("both").back(), 1);
    for (size_t i = 0; i < ranks.at("k").size(); ++i) {
      const double target = ranks.at("target").at(i);
      const double source = ranks.at("source").at(i);
      EXPECT_NEAR(ranks.at("both").at(i), (target + source) / 2, 1e-3);
    }
    for (const char* key : {"links", "pairs"}) {
      double sum = 0;
      for (const double fraction : data.at("distribution").at(key)) sum += fraction;
      EXPECT_NEAR(sum, 1, 1e-3) << key;
    }
    EXPECT_NEAR(data.at("thresholds").at(0).at("roc_auc"), result.test.roc_auc, 1e-3);
    const auto& groups = data.at("examples").at("groups");
    ASSERT_EQ(groups.size(), 2);
    EXPECT_LT(groups.at(0).at("rows").at(0).at("cells").at(0),
              groups.at(1).at("rows").at(0).at("cells").at(0));
  }
}

TEST_F(LinkPageTest, ShowsTheSplitsThatExist) {
  const auto role = RandomLinks::Role::kLabelsAndAttributes;
  const json val =
      page_data(graph(role, {Split::kTrain, Split::kTrain, Split::kVal}), Predicts::kLinks);
  EXPECT_EQ(val.at("split"), "val");
  EXPECT_TRUE(val.at("headline").at("test").is_null());
  const json test =
      page_data(graph(role, {Split::kTrain, Split::kTrain, Split::kTest}), Predicts::kLinks);
  EXPECT_EQ(test.at("split"), "test");
  EXPECT_TRUE(test.at("headline").at("val").is_null());
  const json none = page_data(graph(role, {Split::kTrain}), Predicts::kLinks);
  EXPECT_FALSE(none.contains("split"));
  EXPECT_FALSE(none.contains("examples"));
  EXPECT_EQ(none.at("map").at("names").size(), 60);
}

TEST_F(LinkPageTest, StopsEarly) {
  const Graph g = graph(RandomLinks::Role::kAttributes, all_splits());
  const TrainResult result = train_on(g, Predicts::kLinkPrediction);
  const std::atomic<bool> stop = true;
  RunPageOptions options{.title = "g", .command = ""};
  options.stop = &stop;
  EXPECT_TRUE(run_page_data(g, result, options).is_null());
}

TEST_F(LinkPageTest, CurvesCountPositivesAtEveryThreshold) {
  const json curves =
      page::threshold_curves("c", {{0.7F, true}, {0.9F, true}, {0.1F, false}, {0.8F, false}});
  EXPECT_EQ(curves.at("roc").at("x"), json({0, 0, 0.5, 0.5, 1}));
  EXPECT_EQ(curves.at("roc").at("y"), json({0, 0.5, 0.5, 1, 1}));
  EXPECT_EQ(curves.at("precision").at("x"), json({0, 0.5, 0.5, 1, 1}));
  const double precision[] = {1, 1, 0.5, 2.0 / 3, 0.5};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(curves.at("precision").at("y").at(i), precision[i], 1e-4) << i;
  }
  EXPECT_TRUE(page::threshold_curves("c", {{0.7F, true}}).is_null());
}

TEST_F(LinkPageTest, ShowsCalibrationIfItIsKnown) {
  const auto objective =
      make_objective(graph(RandomLinks::Role::kLabels, all_splits()).targets.labels);
  page::Evaluated evaluated;
  json page;
  page::add_predictions(page, *objective, evaluated, {});
  EXPECT_FALSE(page.contains("calibration"));
  evaluated.scores.calibration = {{.count = 5, .confidence = 0.75, .accuracy = 0.6}};
  evaluated.scores.calibration_error = 0.15;
  page::add_predictions(page, *objective, evaluated, {});
  EXPECT_EQ(page.at("calibration").at("error"), 0.15);
  EXPECT_EQ(page.at("calibration").at("bins").at(0).at("count"), 5);
}

// All cards appear, names are text, and nothing is logged.
TEST_F(LinkPageTest, WorksInABrowser) {
  if (!has_browser()) GTEST_SKIP() << "chromium is not installed";
  json data =
      page_data(graph(RandomLinks::Role::kAttributes, all_splits()), Predicts::kLinkPrediction);
  data["examples"]["groups"][0]["rows"][0]["source"] = "</script><b id=markup>";
  data["calibration"] = {{"error", 0.1},
                         {"bins", {{{"count", 5}, {"confidence", 0.75}, {"accuracy", 0.6}}}}};
  data["numbers"] = {
      {"of", 1},
      {"targets", {{{"name", "t"}, {"actual", {1}}, {"predicted", {2}}, {"names", {"a"}}}}}};
  const LoadedPage loaded = load_page(path(""), run_page(data));
  ASSERT_EQ(loaded.status, 0) << loaded.log;
  EXPECT_EQ(loaded.log.find("CONSOLE"), std::string::npos) << loaded.log;
  EXPECT_NE(loaded.dom.find("data-ready=\"yes\""), std::string::npos);
  for (const char* card :
       {"ranks", "distribution", "thresholds", "calibration", "numbers", "examples"}) {
    EXPECT_NE(loaded.dom.find(join("id=\"", card, "-card\">")), std::string::npos) << card;
  }
  EXPECT_NE(loaded.dom.find("&lt;/script&gt;&lt;b id=markup&gt;"), std::string::npos);
  EXPECT_EQ(loaded.dom.find("<b id="), std::string::npos);
}

}  // namespace
}  // namespace lase
