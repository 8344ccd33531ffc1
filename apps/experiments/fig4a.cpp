#include <algorithm>
#include <cmath>
#include <limits>

#include "lase/base/error.h"
#include "lase/base/format.h"

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

Run treated_run(const Lab& lab, const ExperimentData& data, const Treatment& treatment,
                uint64_t seed) {
  const TrainOptions options = options_for("sage", lab.effort(data.name), seed);
  const Graph* graph = &data.graph;
  return lab.run(data, options, {{"attributes", treatment.name}},
                 "LASE-SAGE on " + data.title + ", " + treatment.name,
                 [graph, treatment, seed](const TrainOptions& watched) {
                   return train(treatment.apply(*graph, seed), watched);
                 });
}

LineChart chart_of(const ExperimentData& data, const std::vector<Treatment>& all,
                   const std::vector<MeanAndError>& scores) {
  LineChart chart{.title = data.marked_title(),
                  .x_label = "signal-to-noise ratio of the link attributes",
                  .y_label = "test micro-F1",
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

}  // namespace

Document fig4a(Lab& lab) {
  const auto all = treatments(lab.quick());
  std::vector<const ExperimentData*> sets;
  for (const char* name : {"email", "workplace", "reddit"}) {
    // reddit takes long and is synthetic.
    if (lab.quick() && std::string(name) == "reddit") continue;
    if (const auto* data = lab.data(name)) sets.push_back(data);
  }
  std::vector<Run> runs;
  const auto seeds_of = [&](const ExperimentData& data) {
    const Effort effort = lab.effort(data.name);
    const int64_t seeds = lab.quick() ? effort.curve_seeds : effort.seeds;
    return data.name == "reddit" ? std::min<int64_t>(1, seeds) : seeds;
  };
  for (const auto* data : sets) {
    for (const auto& treatment : all) {
      for (int64_t seed = 1; seed <= seeds_of(*data); ++seed) {
        runs.push_back(treated_run(lab, *data, treatment, static_cast<uint64_t>(seed)));
      }
    }
  }
  const auto results = lab.run_all(std::move(runs));

  Document document{.name = "fig4a",
                    .title = "Figure 4a: value of link attributes",
                    .text =
                        "Test micro-F1 of LASE-SAGE with Gaussian noise added to the link "
                        "attributes, with attributes shuffled among links, and without "
                        "attributes. The signal-to-noise ratio (SNR) is the standard deviation of "
                        "the attributes divided by that of the noise. The paper shows this for "
                        "reddit, without numbers: the score drops as the noise grows."};
  const bool synthetic =
      std::any_of(sets.begin(), sets.end(), [](const auto* data) { return data->stand_in; });
  if (synthetic) document.notes = kStandInNote;
  document.table.columns = {"link attributes"};
  document.values.columns = {"data", "stand_in", "attributes", "seeds", "test", "test_error"};
  for (const auto& treatment : all) document.table.rows.push_back({treatment.name});
  std::vector<Panel> panels;
  size_t at = 0;
  for (const auto* data : sets) {
    document.table.columns.push_back(data->marked_title());
    std::vector<MeanAndError> scores;
    for (size_t t = 0; t < all.size(); ++t) {
      std::vector<double> test;
      for (int64_t seed = 1; seed <= seeds_of(*data); ++seed) {
        test.push_back(results[at++].at("test").get<double>());
      }
      const MeanAndError score = mean_and_error(test);
      scores.push_back(score);
      document.table.rows[t].push_back(score_text(score.mean, score.error));
      document.values.rows.push_back({data->name, data->stand_in ? "1" : "0", all[t].name,
                                      std::to_string(score.count), fixed(score.mean, 5),
                                      fixed(score.error, 5)});
    }
    panels.emplace_back(chart_of(*data, all, scores));
  }
  document.svg = svg_panels(panels, {.title = "LASE-SAGE with noisy link attributes",
                                     .subtitle = "mean and standard error over seeds",
                                     .columns = 2});
  return document;
}

}  // namespace lase
