#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/inference/objective.h"
#include "lase/model/layers/registry.h"

#include "experiments/contaminate.h"
#include "experiments/experiments.h"
#include "experiments/statistics.h"
#include "report/chart.h"

namespace lase {
namespace {

// A modification of the link attributes.
struct Treatment {
  std::string name;
  double snr = std::numeric_limits<double>::infinity();
  enum class Kind : uint8_t { kNoise, kShuffled, kNone } kind = Kind::kNoise;

  Graph apply(const Graph& graph, uint64_t seed) const {
    if (kind == Kind::kShuffled) return with_shuffled_attributes(graph, seed);
    if (kind == Kind::kNone) return without_attributes(graph);
    return with_noise(graph, snr, seed);
  }
};

std::vector<Treatment> treatments(bool quick) {
  std::vector<Treatment> all = {{"no noise"}};
  const auto ratios = quick ? std::vector<double>{1, 0.1} : std::vector<double>{10, 3, 1, 0.3, 0.1};
  for (const double snr : ratios) {
    all.push_back({"SNR " + std::string(svg::short_number(snr)), snr});
  }
  all.push_back({"shuffled among links", 0, Treatment::Kind::kShuffled});
  all.push_back({"no link attributes", 0, Treatment::Kind::kNone});
  return all;
}

// A data set and the runs that modify its link attributes.
struct NoiseTest {
  const ExperimentData* data = nullptr;
  int64_t seeds = 1;
  std::string metric = "micro-F1";
  std::function<TrainOptions(uint64_t seed)> options;
};

Run treated_run(const Lab& lab, const NoiseTest& test, const Treatment& treatment, uint64_t seed) {
  const TrainOptions options = test.options(seed);
  const Graph* graph = &test.data->graph;
  const std::string model = layer_type(options.model.model).title;
  return lab.run(*test.data, options, {{"attributes", treatment.name}},
                 model + " on " + test.data->title + ", " + treatment.name,
                 [graph, treatment, seed](const TrainOptions& watched) {
                   return train(treatment.apply(*graph, seed), watched);
                 });
}

LineChart chart_of(const NoiseTest& test, const std::vector<Treatment>& all,
                   const std::vector<MeanAndError>& scores) {
  LineChart chart{.title = test.data->marked_title(),
                  .x_label = "signal-to-noise ratio of the link attributes",
                  .y_label = "test " + test.metric,
                  .x_log = true};
  Series series{.name = "with noise"};
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].kind != Treatment::Kind::kNoise || !std::isfinite(all[i].snr)) {
      chart.references.push_back({scores[i].mean, all[i].name});
      continue;
    }
    series.x.push_back(all[i].snr);
    series.y.push_back(scores[i].mean);
    series.error.push_back(scores[i].error);
  }
  chart.series.push_back(series);
  return chart;
}

// Runs all tests and adds their scores to the document: one column per data set, one row per
// treatment.
void add_scores(const Lab& lab, const std::vector<NoiseTest>& tests, const std::string& model,
                Document& document) {
  const auto all = treatments(lab.quick());
  std::vector<Run> runs;
  for (const auto& test : tests) {
    for (const auto& treatment : all) {
      for (int64_t seed = 1; seed <= test.seeds; ++seed) {
        runs.push_back(treated_run(lab, test, treatment, static_cast<uint64_t>(seed)));
      }
    }
  }
  const auto results = lab.run_all(std::move(runs));
  document.table.columns = {"link attributes"};
  document.values.columns = {"data", "stand_in",   "attributes", "seeds",
                             "test", "test_error", "metric"};
  for (const auto& treatment : all) {
    document.table.rows.push_back({treatment.name});
  }
  std::vector<Panel> panels;
  size_t at = 0;
  for (const auto& test : tests) {
    const ExperimentData& data = *test.data;
    document.table.columns.push_back(data.marked_title());
    std::vector<MeanAndError> scores;
    for (size_t t = 0; t < all.size(); ++t) {
      std::vector<double> found;
      for (int64_t seed = 1; seed <= test.seeds; ++seed) {
        found.push_back(results[at++].at("headline").get<double>());
      }
      const MeanAndError score = mean_and_error(found);
      scores.push_back(score);
      document.table.rows[t].push_back(score_text(score.mean, score.error));
      document.values.rows.push_back({data.name, data.stand_in ? "1" : "0", all[t].name,
                                      std::to_string(score.count), fixed(score.mean, 5),
                                      fixed(score.error, 5), test.metric});
    }
    panels.emplace_back(chart_of(test, all, scores));
  }
  if (panels.empty()) return;
  document.svg = svg_panels(panels, {.title = model + " with noisy link attributes",
                                     .subtitle = "mean and standard error over seeds",
                                     .columns = 2});
}

}  // namespace

Document fig4a(Lab& lab) {
  std::vector<NoiseTest> tests;
  for (const char* name : {"email", "workplace", "reddit"}) {
    // reddit takes long and is synthetic.
    const bool is_reddit = std::string(name) == "reddit";
    if (lab.quick() && is_reddit) continue;
    const auto* data = lab.data(name);
    if (data == nullptr) continue;
    const Effort effort = lab.effort(name);
    const int64_t seeds = lab.quick() ? effort.curve_seeds : effort.seeds;
    tests.push_back(
        {.data = data,
         .seeds = is_reddit ? std::min<int64_t>(1, seeds) : seeds,
         .options = [effort](uint64_t seed) { return options_for("sage", effort, seed); }});
  }
  Document document{.name = "fig4a",
                    .title = "Figure 4a: value of link attributes",
                    .text =
                        "Test micro-F1 of LASE-SAGE with Gaussian noise added to the link "
                        "attributes, with attributes shuffled among links, and without "
                        "attributes. The signal-to-noise ratio (SNR) is the standard deviation of "
                        "the attributes divided by that of the noise. The paper shows this for "
                        "reddit, without numbers: the score drops as the noise grows."};
  const bool synthetic =
      std::any_of(tests.begin(), tests.end(), [](const auto& test) { return test.data->stand_in; });
  if (synthetic) document.notes = kStandInNote;
  add_scores(lab, tests, "LASE-SAGE", document);
  return document;
}

Document fig4a_links(Lab& lab) {
  std::vector<NoiseTest> tests;
  for (const auto& name : link_data_names()) {
    const auto* data = lab.data(name);
    if (data == nullptr) continue;
    const Effort effort = lab.effort(name);
    NoiseTest test{
        .data = data, .seeds = effort.curve_seeds, .options = [data, effort](uint64_t seed) {
          return link_options(*data, effort, seed);
        }};
    const auto objective = make_objective(data->graph.nodes.labels);
    const auto nodes = objective->seeds(data->graph, Split::kTrain);
    objective->set_decision(objective->select("auto", nodes));
    test.metric = objective->headline({}).title;
    tests.push_back(std::move(test));
  }
  Document document{.name = "fig4a-links",
                    .title = "Figure 4a for data with informative links",
                    .text =
                        "Test scores of the default model (lase) with Gaussian noise added to the "
                        "link attributes, with attributes shuffled among links, and without "
                        "attributes: micro-F1, or average precision for amlsim20k. Nodes have no "
                        "features, except in the Heterogeneous Graph Benchmark (HGB), where they "
                        "have types and words, without features learned from links. The paper does "
                        "not use these data sets."};
  add_scores(lab, tests, "LASE", document);
  return document;
}

}  // namespace lase
