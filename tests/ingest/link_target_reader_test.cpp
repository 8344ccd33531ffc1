// Options for links as prediction targets, in every format with one link per row.

#include <cmath>

#include "lase/graph/schema.h"
#include "lase/ingest/export.h"

#include "support.h"

namespace lase {
namespace {

using Parts = std::vector<uint8_t>;
using Ids = std::vector<int32_t>;

class LinkTargetOptionsTest : public FolderTest {
 protected:
  RawGraph raw(const std::string& format, const std::string& text, Strings more,
               const Schema* schema = nullptr) const {
    more.insert(more.begin(), write("links.csv", text));
    return read_format(format, more, schema);
  }
  Graph read(const std::string& format, const std::string& text, const Strings& more,
             const Schema* schema = nullptr) const {
    Graph graph = build_graph(raw(format, text, more, schema)).graph;
    EXPECT_NO_THROW(check_graph(graph, "g"));
    EXPECT_NO_THROW(check_structure(graph, "g"));
    return graph;
  }
  void rejects(const std::string& format, const std::string& text, const Strings& more,
               std::initializer_list<std::string> parts,
               std::source_location where = std::source_location::current()) const {
    expect_error([&] { raw(format, text, more); }, parts, where);
  }
};

Parts stages(const Array<uint8_t>& split) { return {split.begin(), split.end()}; }
Ids numbers(const Array<int32_t>& values) { return {values.begin(), values.end()}; }

const std::string kLabeledRows =
    "source,target,amount,fraud,part,day\n"
    "a,b,1,no,train,1\n"
    "b,a,2,yes,test,9\n"
    "a,a,9,yes,train,2\n"
    "a,b,4,,valid,5\n"
    "b,c,8,no,,3\n";

TEST_F(LinkTargetOptionsTest, ReadsAClassPerRow) {
  const auto graph =
      read("links", kLabeledRows, {"--link-label", "fraud", "--attributes", "amount"});
  EXPECT_EQ(graph.links, 2);  // without a split, all rows are merged
  EXPECT_TRUE(graph.link_split.empty());
  EXPECT_EQ(graph.targets.labels.task, Task::kSingleLabel);
  EXPECT_EQ(texts(graph.targets.labels.names), (Strings{"no", "yes"}));
  EXPECT_EQ(numbers(graph.targets.labels.label), (Ids{0, 1, -1, 0}));
  EXPECT_EQ(numbers(graph.targets.source), (Ids{0, 1, 0, 1}));
  EXPECT_EQ(numbers(graph.targets.target), (Ids{1, 0, 1, 2}));
  EXPECT_EQ(texts(graph.targets.attribute_names), Strings{"amount"});
  EXPECT_EQ(row(graph.targets.attributes, 1), Floats{2});
  EXPECT_TRUE(graph.targets.split.empty());
  EXPECT_FALSE(graph.targets.relations);
}

TEST_F(LinkTargetOptionsTest, LeavesItsColumnsOutOfTheAttributes) {
  const auto imported =
      raw("links", kLabeledRows,
          {"--link-label", "fraud", "--link-split", "part", "--label-separator", "|"});
  EXPECT_EQ(texts(imported.attribute_names), (Strings{"amount", "day"}));
  const auto& roles = imported.tables.at(0).roles;
  const auto role = [&](const std::string& name) {
    for (const auto& [option, columns] : roles) {
      if (option == name) return columns;
    }
    return Strings{};
  };
  EXPECT_EQ(role("link_label"), Strings{"fraud"});
  EXPECT_EQ(role("link_split"), Strings{"part"});
  EXPECT_EQ(imported.tables.at(0).ignored, Strings{});
  const auto regressed = raw("links", kLabeledRows, {"--link-regress", "amount,day"});
  EXPECT_EQ(regressed.tables.at(0).roles.at(2),
            (std::pair<std::string, Strings>{"link_regress", {"amount", "day"}}));
}

TEST_F(LinkTargetOptionsTest, ReadsSeveralClassesAndNumbers) {
  const std::string text = "source,target,tags,score,w\na,b,x;y,1.5,1\nb,c,,,2\nc,a,;,2,3\n";
  const auto multi = read("links", text, {"--link-multi-label", "tags"});
  EXPECT_EQ(multi.targets.labels.task, Task::kMultiLabel);
  EXPECT_EQ(texts(multi.targets.labels.names), (Strings{"x", "y"}));
  EXPECT_TRUE(multi.targets.labels.known(0));
  EXPECT_FALSE(multi.targets.labels.known(1));
  EXPECT_TRUE(multi.targets.labels.known(2));  // no class
  EXPECT_EQ(multi.targets.labels.target[0], 1);
  EXPECT_EQ(multi.targets.labels.target[4], 0);
  const auto scores = read("links", text, {"--link-regress", "score,w"});
  EXPECT_EQ(scores.targets.labels.task, Task::kRegression);
  EXPECT_EQ(texts(scores.targets.labels.names), (Strings{"score", "w"}));
  EXPECT_EQ(scores.targets.labels.target[0], 1.5F);
  EXPECT_TRUE(std::isnan(scores.targets.labels.target[2]));
  EXPECT_EQ(scores.targets.labels.target[5], 3);
}

TEST_F(LinkTargetOptionsTest, ReadsAColumnWithTheSplit) {
  const auto graph =
      read("links", kLabeledRows, {"--link-split", "part", "--attributes", "amount"});
  EXPECT_EQ(graph.targets.labels.task, Task::kNone);
  EXPECT_EQ(stages(graph.targets.split), (Parts{1, 3, 2, 0}));
  // Rows without a split pass messages in the training split.
  EXPECT_EQ(stages(graph.link_split), (Parts{1, 3, 2, 1}));
  EXPECT_EQ(neighbors(graph, "a"), (Strings{"b", "b", "b"}));
  EXPECT_EQ(arc(graph, "a", "b"), Floats{1});
  rejects("links", "source,target,part\na,b,train\nb,c,holdout\n", {"--link-split", "part"},
          {"line 3", "'holdout'", "train, val, test"});
}

TEST_F(LinkTargetOptionsTest, SplitsAtRandomByPairs) {
  std::string text = "source,target,w\n";
  for (int i = 0; i < 300; ++i) {
    text += join("n", i % 40, ",m", i % 23, ",1\n", "m", i % 23, ",n", i % 40, ",2\n");
  }
  const auto graph = read("links", text, {"--link-split", "60/20/20"});
  std::map<std::pair<int32_t, int32_t>, uint8_t> known;
  for (int64_t i = 0; i < graph.targets.size(); ++i) {
    const auto pair = std::minmax(graph.targets.source[i], graph.targets.target[i]);
    EXPECT_EQ(known.emplace(pair, graph.targets.split[i]).first->second, graph.targets.split[i]);
  }
  EXPECT_EQ(graph.links, std::ssize(known));  // one link per pair: no pair is in two splits
  const auto seeded = read("links", text, {"--link-split", "60/20/20", "--seed", "2"});
  EXPECT_NE(stages(graph.targets.split), stages(seeded.targets.split));
}

TEST_F(LinkTargetOptionsTest, SplitsByTime) {
  const auto graph = read("links", kLabeledRows,
                          {"--link-split", "60/20/20", "--link-split-by", "time", "--link-time",
                           "day", "--attributes", "amount"});
  EXPECT_EQ(stages(graph.targets.split), (Parts{1, 3, 2, 1}));  // days 1, 9, 5 and 3
  EXPECT_EQ(stages(graph.link_split), (Parts{1, 3, 2, 1}));
  const auto dates =
      read("links", "source,target,when\na,b,2024-02-01\nb,c,2024-01-01\n",
           {"--link-split", "50/0/50", "--link-split-by", "time", "--link-time", "when"});
  EXPECT_EQ(stages(dates.targets.split), (Parts{3, 1}));
  EXPECT_EQ(dates.link_attributes.columns, 0);
}

const std::string kTimedRows = "source,target,time\na,b,1\nc,d,2\ne,f,3\ng,h,4\nb,a,3\nh,g,5\n";

TEST_F(LinkTargetOptionsTest, SplitsByTheFirstTimeOfPairs) {
  const auto imported =
      raw("contacts", kTimedRows, {"--link-split", "50/25/25", "--link-split-by", "first_time"});
  ASSERT_FALSE(imported.notes.empty());
  EXPECT_NE(imported.notes.back().find("1 rows between nodes that an earlier split links"),
            std::string::npos);
  const auto graph = read("contacts", kTimedRows,
                          {"--link-split", "50/25/25", "--link-split-by", "first_time", "--slices",
                           "2", "--counts", "none"});
  EXPECT_EQ(stages(graph.targets.split), (Parts{1, 1, 2, 3, 0, 3}));
  EXPECT_EQ(stages(graph.link_split), (Parts{1, 1, 2, 3, 2}));
  EXPECT_EQ(row(graph.link_attributes, 3), (Floats{0, 2}));
  EXPECT_EQ(row(graph.targets.attributes, 3), (Floats{0, 1}));
}

TEST_F(LinkTargetOptionsTest, UsesTheTimeOfTheFormat) {
  const Strings by_time = {"--link-split", "50/0/50", "--link-split-by", "time"};
  auto named = by_time;
  named.insert(named.end(), {"--link-time", "time"});
  const auto graph = read("contacts", kTimedRows, named);
  EXPECT_EQ(contents(graph), contents(read("contacts", kTimedRows, by_time)));
  auto timed = by_time;
  timed.insert(timed.end(), {"--time", "day", "--attributes", "amount"});
  EXPECT_EQ(stages(read("links", kLabeledRows, timed).targets.split), (Parts{1, 3, 3, 1}));
}

const std::string kRelations =
    "source,target,relation,part\n"
    "a,b,knows,train\nb,a,likes,test\na,b,knows,train\nb,c,,train\nc,d,likes,valid\n";

TEST_F(LinkTargetOptionsTest, KeepsTheRelationsOfRows) {
  const auto graph = read("typed", kRelations, {"--link-split", "part"});
  EXPECT_TRUE(graph.targets.relations);
  EXPECT_EQ(graph.targets.labels.task, Task::kNone);
  EXPECT_EQ(texts(graph.targets.attribute_names), (Strings{"knows", "likes"}));
  EXPECT_EQ(row(graph.targets.attributes, 0), (Floats{1, 0}));
  EXPECT_EQ(row(graph.targets.attributes, 1), (Floats{0, 1}));
  EXPECT_EQ(row(graph.targets.attributes, 3), (Floats{0, 0}));
  EXPECT_EQ(arc(graph, "a", "b"), (Floats{2, 0}));  // rows 1 and 3, not the test row
}

TEST_F(LinkTargetOptionsTest, MayPredictTheRelation) {
  for (const auto& text :
       {kRelations, std::string("a b knows\nb a likes\na b knows\nb c likes\n")}) {
    const bool header = text == kRelations;
    const auto graph = read("typed", text, {"--link-label", header ? "relation" : "3"});
    EXPECT_EQ(texts(graph.attribute_names), (Strings{"knows", "likes"}));
    EXPECT_EQ(arc(graph, "a", "b"), (Floats{2, 1}));
    EXPECT_EQ(texts(graph.targets.labels.names), (Strings{"knows", "likes"}));
    EXPECT_EQ(graph.targets.labels.label[1], 1);
    EXPECT_EQ(graph.targets.attributes.columns, 0);
    EXPECT_TRUE(graph.targets.relations);
  }
}

TEST_F(LinkTargetOptionsTest, LeavesAttributesFromTheLabelOutOfTargets) {
  const auto graph =
      read("links", kLabeledRows,
           {"--link-label", "fraud", "--attributes", "amount", "--categorical", "fraud"});
  EXPECT_EQ(texts(graph.attribute_names), (Strings{"amount", "fraud=no", "fraud=yes", "fraud="}));
  EXPECT_EQ(texts(graph.targets.attribute_names), Strings{"amount"});
  const auto timed = read("links", kLabeledRows,
                          {"--link-regress", "amount", "--attributes", "amount", "--categorical",
                           "fraud", "--time", "day", "--slices", "2"});
  EXPECT_EQ(texts(timed.targets.attribute_names),
            (Strings{"count", "day_first", "day_last", "fraud=no", "fraud=yes", "fraud=", "slice 0",
                     "slice 1"}));
  EXPECT_EQ(timed.attribute_names.size(), 13);
  // A column that is a label is not detected as the column of weights, unless it is named as such.
  const std::string weighted = "source,target,relation,amount\na,b,x,2\na,b,x,3\n";
  const auto detected = read("typed", weighted, {"--link-regress", "amount"});
  EXPECT_EQ(arc(detected, "a", "b"), Floats{2});
  EXPECT_EQ(texts(detected.targets.attribute_names), Strings{"x"});
  const auto named = read("typed", weighted, {"--link-regress", "amount", "--weight", "amount"});
  EXPECT_EQ(arc(named, "a", "b"), Floats{5});
  EXPECT_EQ(named.targets.attributes.columns, 0);
}

TEST_F(LinkTargetOptionsTest, FillsMissingNumbersWithTheMeanOfTrainingLinks) {
  const auto graph = read("links",
                          "source,target,w,part\na,b,1,train\nb,c,3,train\nc,d,,train\n"
                          "d,e,100,test\n",
                          {"--link-split", "part"});
  EXPECT_EQ(row(graph.targets.attributes, 2), (Floats{2, 1}));
}

TEST_F(LinkTargetOptionsTest, RejectsContradictions) {
  rejects("links", kLabeledRows, {"--link-label", "fraud", "--link-regress", "amount"},
          {"link_label", "link_regress", "mutually exclusive"});
  rejects("links", kLabeledRows, {"--link-label", "fraud", "--link-multi-label", "part"},
          {"mutually exclusive"});
  rejects("links", kLabeledRows, {"--link-label", "froud"}, {"'froud'", "link_label"});
  rejects("links", kLabeledRows, {"--link-split", "sett"}, {"'sett'", "link_split"});
  rejects("links", kLabeledRows, {"--link-split", "80"}, {"write percentages with slashes"});
  rejects("links", kLabeledRows, {"--link-split", "80/10/20"}, {"link_split", "sums to 110"});
  rejects("links", kLabeledRows, {"--link-split", "80/10/10", "--link-split-by", "time"},
          {"link_split_by time: requires link_time"});
  rejects("typed", kRelations, {"--link-split", "80/10/10", "--link-split-by", "first_time"},
          {"link_split_by first_time: requires link_time"});
  rejects("links", kLabeledRows,
          {"--link-split", "part", "--link-split-by", "time", "--link-time", "day"},
          {"link_split_by time: requires proportions in link_split"});
  rejects("links", kLabeledRows, {"--link-split-by", "time", "--link-time", "day"},
          {"requires proportions"});
  rejects("links", kLabeledRows, {"--link-split", "80/10/10", "--link-time", "day"},
          {"link_time 'day': requires link_split_by"});
  rejects("links", kLabeledRows,
          {"--link-split", "80/10/10", "--link-split-by", "time", "--link-time", "fraud"},
          {"line 2", "'no'"});
  rejects("contacts", "a b 5\nb c 5\n", {"--link-split", "50/0/50", "--link-split-by", "time"},
          {"no row is left for the split train"});
  rejects("links", "source,target,y\na,b,1\nb,c,x1\n", {"--link-regress", "y"}, {"line 3", "'x1'"});
}

TEST_F(LinkTargetOptionsTest, WarnsOfEmptySplits) {
  const auto imported =
      raw("contacts", "a b 5\nb c 5\n", {"--link-split", "80/0/20", "--link-split-by", "time"});
  ASSERT_EQ(imported.warnings.size(), 1u);
  EXPECT_NE(imported.warnings[0].find("no row is left for the split test"), std::string::npos);
}

TEST_F(LinkTargetOptionsTest, FollowsTheLabelsOfAnEarlierGraph) {
  const Strings options = {"--link-label", "fraud", "--attributes", "amount"};
  const Graph earlier = read("links", kLabeledRows, options);
  const Schema schema = schema_of(earlier);
  // Another class gets the next number.
  const std::string text = "source,target,amount,fraud\nx,y,1,maybe\ny,z,2,yes\n";
  const Graph graph = read("links", text, {}, &schema);
  EXPECT_EQ(texts(graph.targets.labels.names), (Strings{"no", "yes", "maybe"}));
  EXPECT_EQ(numbers(graph.targets.labels.label), (Ids{2, 1}));
  EXPECT_NO_THROW(require_schema(graph, earlier));
  // Without the column, all labels are unknown.
  const Graph unlabeled = read("links", "source,target,amount\nx,y,1\n", {}, &schema);
  EXPECT_EQ(unlabeled.targets.labels.task, Task::kSingleLabel);
  EXPECT_EQ(numbers(unlabeled.targets.labels.label), Ids{-1});
  EXPECT_EQ(texts(unlabeled.targets.labels.names), (Strings{"no", "yes"}));
  expect_error(
      [&] {
        raw("links", text, {"--link-regress", "amount"}, &schema);
      },
      {"regression", "single-label"});
  const Graph others =
      read("links", kLabeledRows, {"--link-label", "fraud", "--attributes", "amount,day"});
  expect_error([&] { require_schema(others, earlier); }, {"link attributes"});
}

TEST_F(LinkTargetOptionsTest, FollowsTheTargetsOfAnEarlierGraph) {
  const std::string text = "source,target,tags,y,z\na,b,p;q,1,2\n";
  const std::string bare = "source,target\nu,v\n";
  const Graph multi = read("links", text, {"--link-multi-label", "tags", "--attributes", "none"});
  const Schema tags = schema_of(multi);
  EXPECT_TRUE(read("links", text, {}, &tags).targets.labels.known(0));
  const auto unknown = read("links", bare, {}, &tags).targets;
  EXPECT_EQ(unknown.labels.classes(), 2);
  EXPECT_FALSE(unknown.labels.known(0));
  const Graph regression = read("links", text, {"--link-regress", "y,z", "--attributes", "none"});
  const Schema yz = schema_of(regression);
  EXPECT_EQ(read("links", text, {}, &yz).targets.labels.target[1], 2);
  EXPECT_FALSE(read("links", bare, {}, &yz).targets.labels.known(0));
  const Schema links = schema_of(read("links", bare, {"--link-split", "100/0/0"}));
  EXPECT_EQ(read("links", bare, {}, &links).targets.size(), 1);
}

TEST_F(LinkTargetOptionsTest, RemembersColumnsGivenByPosition) {
  const Graph header = read("links", kLabeledRows, {"--link-label", "4", "--attributes", "3"});
  const Schema labels = schema_of(header);
  EXPECT_EQ(labels.text("link_label_column"), "fraud");
  EXPECT_EQ(read("links", kLabeledRows, {}, &labels).targets.labels.label[1], 1);
  const Graph regression = read("links", kLabeledRows, {"--link-regress", "3"});
  EXPECT_EQ(texts(regression.targets.labels.names), Strings{"amount"});
}

TEST_F(LinkTargetOptionsTest, ExportsTheSplitOfLinks) {
  for (const Strings& options : {Strings{}, Strings{"--separate-directions"}}) {
    auto given = options;
    given.insert(given.end(), {"--link-split", "part"});
    const auto graph = read("typed", kRelations, given);
    const auto tables = std::get<TypedOptions>(export_graph(graph, path("out")));
    const auto imported = build_graph(read_typed(tables)).graph;
    EXPECT_EQ(stages(imported.link_split), stages(graph.link_split));
    auto found = contents(imported);
    auto expected = contents(graph);
    for (auto* part : {&found, &expected}) {
      part->erase("preprocessing");
      part->erase("targets");
    }
    EXPECT_EQ(found, expected);
  }
}

}  // namespace
}  // namespace lase
