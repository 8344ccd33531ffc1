#include "report/run_page.h"

#include <gtest/gtest.h>

#include "lase/graph/generate.h"

#include "report/browser.h"
#include "support.h"

namespace lase {
namespace {

class RunPageTest : public FolderTest {
 protected:
  Graph graph() const {
    PlantedOptions options;
    options.nodes = 120;
    options.links = 600;
    options.node_dim = 8;
    options.link_dim = 4;
    generate_graph(options, path("g.graph"));
    return open_graph(path("g.graph"));
  }

  nlohmann::json page_data(const Graph& graph, const std::string& architecture,
                           int64_t most = 20000) const {
    TrainOptions options;
    options.model.model = architecture;
    options.epochs = 3;
    RunPageOptions page{.title = "g.graph", .command = "lase train g.graph", .most_nodes = most};
    options.progress = [&](const EpochReport& report) {
      page.curve.push_back({report.epoch, report.loss, report.val.micro_f1, report.validated});
    };
    const TrainResult result = train(graph, options);
    page.settings = to_json(options);
    return run_page_data(graph, result, page);
  }
};

TEST_F(RunPageTest, ContainsAllDataOfThePage) {
  const Graph g = graph();
  const auto data = page_data(g, "sage");
  EXPECT_EQ(data.at("model"), "LASE-SAGE");
  EXPECT_EQ(data.at("curves").at("loss").size(), 3);
  EXPECT_EQ(data.at("map").at("names").size(), 120);
  EXPECT_EQ(data.at("map").at("layouts").size(), 2);
  for (const auto& layout : data.at("map").at("layouts")) EXPECT_EQ(layout.at("x").size(), 120);
  ASSERT_EQ(data.at("explanations").size(), 120);
  const auto& first = data.at("explanations").at(0);
  EXPECT_EQ(first.at("node"), std::string(g.nodes.names[0]));
  EXPECT_EQ(first.at("links"), g.degree(0));
  EXPECT_GT(data.at("importance").at("attributes").size(), 0);
  int64_t counted = 0;
  for (const auto& row : data.at("confusion").at("rows")) {
    for (const auto& count : row) counted += count.get<int64_t>();
  }
  EXPECT_EQ(counted, g.split_size(Split::kTest));
}

TEST_F(RunPageTest, SamplesTheNodesOfALargeGraph) {
  const auto data = page_data(graph(), "graphsage", 50);
  EXPECT_EQ(data.at("map").at("names").size(), 50);
  EXPECT_EQ(data.at("map").at("of"), 120);
  EXPECT_EQ(data.at("explanations").size(), 50);
}

TEST_F(RunPageTest, HasNoExplanationsForAModelWithoutLayers) {
  const auto data = page_data(graph(), "raw");
  EXPECT_TRUE(data.at("explanations").at(0).is_null());
  EXPECT_TRUE(data.at("importance").is_null());
}

TEST_F(RunPageTest, DataCannotEndTheScript) {
  const std::string page = run_page({{"title", "</script><b>"}});
  EXPECT_EQ(page.find("</script><b>"), std::string::npos);
  EXPECT_NE(page.find("\\u003c/script>"), std::string::npos);
  EXPECT_EQ(page.find("@DATA@"), std::string::npos);
}

// Loads the page in a browser and clicks a node: its explanation appears and nothing is logged.
TEST_F(RunPageTest, WorksInABrowser) {
  if (!has_browser()) GTEST_SKIP() << "chromium is not installed";
  const auto data = page_data(graph(), "sage");
  std::string page = run_page(data);
  // Clicks on node 7. setPointerCapture is stubbed because synthetic events have no real pointer.
  const std::string click =
      "<script>addEventListener('load', () => {"
      "const canvas = document.getElementById('map'), box = canvas.getBoundingClientRect();"
      "const [x, y] = lase.where(7);"
      "canvas.setPointerCapture = () => {};"
      "for (const type of ['pointerdown', 'pointerup']) canvas.dispatchEvent("
      "new PointerEvent(type, {clientX: box.left + x, clientY: box.top + y, bubbles: true,"
      "pointerId: 1, button: 0, isPrimary: true}));"
      "document.body.dataset.picked = lase.pick(x, y);"
      "document.body.dataset.shown = document.getElementById('explanation').innerText;"
      "});</script></body>";
  const size_t end = page.rfind("</body>");
  ASSERT_NE(end, std::string::npos);
  page.replace(end, 7, click);
  const LoadedPage loaded = load_page(path(""), page);
  ASSERT_EQ(loaded.status, 0) << loaded.log;
  const std::string& dom = loaded.dom;
  EXPECT_NE(dom.find("data-ready=\"yes\""), std::string::npos);
  EXPECT_NE(dom.find("data-picked=\"7\""), std::string::npos);
  EXPECT_EQ(loaded.log.find("CONSOLE"), std::string::npos) << loaded.log;
  const size_t begin = dom.find("data-shown=\"");
  ASSERT_NE(begin, std::string::npos);
  const std::string shown = dom.substr(begin + 12, dom.find('"', begin + 12) - begin - 12);
  const auto& explanation = data.at("explanations").at(7);
  EXPECT_NE(shown.find("\n" + explanation.at("node").get<std::string>() + "\n"), std::string::npos);
  for (const auto& neighbor : explanation.at("shown")) {
    const auto name = neighbor.at("node").get<std::string>();
    EXPECT_NE(shown.find("\n" + name + "\n"), std::string::npos) << name << " in " << shown;
  }
}

}  // namespace
}  // namespace lase
