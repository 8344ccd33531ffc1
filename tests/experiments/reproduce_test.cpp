#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>

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

TEST_F(ReproduceTest, RejectsUnknownExperiments) {
  expect_error([&] { reproduce({"theorem1", "table9"}, options()); }, {"table9"});
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(ReproduceTest, GeneratesStandInsAndMarksThem) {
  Lab lab(options());
  const ExperimentData* data = lab.data("email");
  ASSERT_NE(data, nullptr);
  EXPECT_TRUE(data->stand_in);
  EXPECT_EQ(data->marked_title(), "email†");
  EXPECT_EQ(data->graph.node_count(), 986);
  EXPECT_EQ(lab.data("workplace"), nullptr);
}

// One data set and one epoch per run: every table and figure is computed and written.
TEST_F(ReproduceTest, WritesTheTablesAndFigures) {
  ReproduceOptions small = options();
  small.data_sets = {"email"};
  small.epochs = 1;
  small.seeds = 1;
  const std::vector<std::string> names = {"table3", "fig4a", "fig4b", "fig4c"};
  const auto documents = reproduce(names, small);
  ASSERT_EQ(documents.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    const Document& document = documents[i];
    EXPECT_EQ(document.name, names[i]);
    ASSERT_FALSE(document.values.rows.empty()) << names[i];
    for (const auto& values : document.values.rows) {
      EXPECT_EQ(values.size(), document.values.columns.size()) << names[i];
    }
    EXPECT_EQ(document.svg.rfind("<svg", 0), 0) << names[i];
    EXPECT_NE(document.markdown().find("email†"), std::string::npos) << names[i];
    for (const char* ending : {".md", ".csv", ".svg"}) {
      EXPECT_TRUE(std::filesystem::exists(path("out/" + names[i] + ending)));
    }
  }
  // The methods of table 3, each with a score between 0 and 1.
  const auto& columns = documents[0].values.columns;
  const auto test = std::find(columns.begin(), columns.end(), "test") - columns.begin();
  ASSERT_LT(test, std::ssize(columns));
  std::set<std::string> scores;
  for (const auto& values : documents[0].values.rows) {
    const double score = std::stod(values[static_cast<size_t>(test)]);
    EXPECT_GT(score, 0);
    EXPECT_LE(score, 1);
    scores.insert(values[static_cast<size_t>(test)]);
  }
  EXPECT_GE(scores.size(), 3);  // the methods differ
}

// People who meet only within two groups, at times that tell the group.
TEST_F(ReproduceTest, WritesTheResultsForDataWithInformativeLinks) {
  std::string contacts;
  std::string groups;
  for (int person = 0; person < 40; ++person) {
    groups += join(person, " ", person % 2 == 0 ? "even" : "odd", "\n");
    for (int i = 1; i < 8; ++i) {
      contacts += join(1000 * (person % 2) + i, " ", person, " ", (person + 2 * i) % 40, "\n");
    }
  }
  ReproduceOptions small = options();
  small.data = path("data");
  std::filesystem::create_directories(path("data/workplace"));
  write_file(path("data/workplace/contacts.dat.gz"), contacts);
  write_file(path("data/workplace/departments.txt"), groups);
  small.epochs = 30;
  small.seeds = 2;
  const auto documents = reproduce({"fig4a-links", "ablation"}, small);
  ASSERT_EQ(documents.size(), 2);
  const auto score = [](const Document& document, const std::string& name) {
    const auto& columns = document.values.columns;
    const auto test = std::find(columns.begin(), columns.end(), "test") - columns.begin();
    for (const auto& row : document.values.rows) {
      EXPECT_EQ(row[0], "workplace-bare");
      EXPECT_EQ(row.back(), "micro-F1");
      const bool found = std::find(row.begin(), row.end(), name) != row.end();
      if (found) return std::stod(row[static_cast<size_t>(test)]);
    }
    ADD_FAILURE() << name;
    return 0.0;
  };
  EXPECT_GT(score(documents[0], "no noise"), 0.9);
  EXPECT_LT(score(documents[0], "no link attributes"), 0.8);
  EXPECT_EQ(documents[0].svg.rfind("<svg", 0), 0);
  EXPECT_GT(score(documents[1], "lase"), 0.9);
  EXPECT_LT(score(documents[1], "graphsage"), 0.8);
  EXPECT_EQ(documents[1].table.rows.size(), 9);
}

TEST(ReproduceOptions, LeaveOutKnownLabelsAndCommonNeighbors) {
  const ExperimentData data;
  for (const TrainOptions& options : {options_for("sage", {}, 1), link_options(data, {}, 1)}) {
    EXPECT_EQ(options.label_inputs, LabelInputs::kOff);
    EXPECT_EQ(options.common_neighbors, CommonNeighbors::kOff);
  }
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

TEST(ScoreText, OmitsAZeroError) {
  EXPECT_EQ(score_text(0.78319, 0.0023), "0.783 ± 0.002");
  EXPECT_EQ(score_text(0.5, 0), "0.500");
}

}  // namespace
}  // namespace lase
