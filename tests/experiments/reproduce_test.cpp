#include <filesystem>
#include <gtest/gtest.h>

#include "lase/base/file.h"

#include "experiments/experiments.h"
#include "support.h"

namespace lase {
namespace {

class ReproduceTest : public FolderTest {
 protected:
  ReproduceOptions options() const {
    return {.data = path("no data"), .out = path("out"), .quick = true, .say = {}, .progress = {}};
  }
};

TEST_F(ReproduceTest, WritesTheTheorem) {
  const auto documents = reproduce({"theorem1"}, options());
  ASSERT_EQ(documents.size(), 1);
  EXPECT_NE(documents[0].notes.find("holds for the walk form"), std::string::npos);
  for (const char* name :
       {"out/theorem1.md", "out/theorem1.csv", "out/theorem1.svg", "out/index.html"}) {
    EXPECT_TRUE(std::filesystem::exists(path(name))) << name;
  }
}

TEST_F(ReproduceTest, RefusesWhatIsNoExperiment) {
  expect_error([&] { reproduce({"theorem1", "table9"}, options()); }, {"table9"});
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(ReproduceTest, MakesStandInsAndMarksThem) {
  Lab lab(options());
  const ExperimentData* data = lab.data("email");
  ASSERT_NE(data, nullptr);
  EXPECT_TRUE(data->stand_in);
  EXPECT_EQ(data->marked_title(), "email†");
  EXPECT_EQ(data->graph.node_count(), 986);
  EXPECT_EQ(lab.data("workplace"), nullptr);
}

TEST(PaperScore, KnowsTheTables) {
  EXPECT_EQ(paper_score("email", "sage"), 0.7310);
  EXPECT_EQ(paper_score("email", "raw"), std::nullopt);
  EXPECT_EQ(paper_score("workplace", "sage"), std::nullopt);
  EXPECT_EQ(paper_sizes("dblp")->links, 111858);
}

TEST(Document, IsWrittenAsMarkdownCsvAndHtml) {
  Document document{.name = "x",
                    .title = "A <title>",
                    .text = "One.\n\nTwo & three.",
                    .table = {{"a|b", "c"}, {{"1", "2"}}},
                    .values = {{"name", "value"}, {{"with, comma", "with \"quotes\""}}},
                    .svg = "<svg></svg>",
                    .notes = "note"};
  EXPECT_EQ(document.markdown(),
            "# A <title>\n\nOne.\n\nTwo & three.\n\n| a\\|b | c |\n|---|---|\n| 1 | 2 |\n\n"
            "![A <title>](x.svg)\n\nnote\n");
  EXPECT_EQ(document.values.csv(), "name,value\n\"with, comma\",\"with \"\"quotes\"\"\"\n");
  const std::string page = html_page("P", {document});
  EXPECT_NE(page.find("<p>Two &amp; three.</p>"), std::string::npos);
  EXPECT_NE(page.find("<h2>A &lt;title&gt;</h2>"), std::string::npos);
  EXPECT_NE(page.find("<svg></svg>"), std::string::npos);
}

TEST(ScoreText, HasAnErrorWhereThereIsOne) {
  EXPECT_EQ(score_text(0.78319, 0.0023), "0.783 ± 0.002");
  EXPECT_EQ(score_text(0.5, 0), "0.500");
}

}  // namespace
}  // namespace lase
