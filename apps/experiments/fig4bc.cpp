#include <array>
#include <functional>

#include "lase/base/error.h"
#include "lase/base/format.h"

#include "experiments/experiments.h"
#include "experiments/statistics.h"
#include "report/chart.h"

namespace lase {
namespace {

// Neighbor sampling of one curve.
struct Setting {
  Strategy strategy = Strategy::kUniform;
  int64_t samples = 0;         // fan-out of every layer; 0: whole neighborhoods
  int64_t refresh_every = 10;  // batches

  std::string name() const {
    return samples == 0 ? std::string("whole neighborhoods") : std::string(name_of(strategy));
  }
};

struct Curve {
  Setting setting;
  std::vector<double> mean;   // [epochs], validation micro-F1
  std::vector<double> error;  // [epochs]
  MeanAndError test;
};

std::vector<Curve> measure(Lab& lab, const ExperimentData& data,
                           const std::vector<Setting>& settings) {
  const int64_t seeds = lab.effort(data.name).curve_seeds;
  std::vector<Run> runs;
  for (const auto& setting : settings) {
    for (int64_t seed = 1; seed <= seeds; ++seed) {
      TrainOptions options = options_for("sage", {}, static_cast<uint64_t>(seed));
      options.epochs = lab.limit_epochs(lab.quick() ? 60 : 200);
      options.patience = 0;
      options.sampling.strategy = setting.strategy;
      options.sampling.refresh_every = setting.refresh_every;
      options.sampling.fanout = {setting.samples == 0 ? kWholeNeighborhood : setting.samples};
      runs.push_back(lab.train_run(data, options, setting.name()));
    }
  }
  const auto results = lab.run_all(std::move(runs));
  std::vector<Curve> curves;
  size_t at = 0;
  for (const auto& setting : settings) {
    Curve curve{.setting = setting, .mean = {}, .error = {}, .test = {}};
    std::vector<std::vector<double>> values;
    std::vector<double> test;
    for (int64_t seed = 1; seed <= seeds; ++seed, ++at) {
      values.push_back(results[at].at("curve").get<std::vector<double>>());
      test.push_back(results[at].at("test").get<double>());
    }
    for (size_t epoch = 0; epoch < values[0].size(); ++epoch) {
      std::vector<double> of_epoch;
      of_epoch.reserve(values.size());
      for (const auto& one : values) of_epoch.push_back(one.at(epoch));
      const auto found = mean_and_error(of_epoch);
      curve.mean.push_back(found.mean);
      curve.error.push_back(found.error);
    }
    curve.test = mean_and_error(test);
    curves.push_back(std::move(curve));
  }
  return curves;
}

// A panel of a figure and a filter for its curves.
struct Part {
  std::string title;
  std::function<bool(const Setting&)> shows;
};

struct Figure {
  std::string name;
  std::string title;
  std::string text;  // continues "… during training, "
  std::string by;    // the quantity that differs between curves
  std::function<std::string(const Setting&)> curve_name;
  std::vector<Setting> settings = {};
  std::vector<Part> parts = {};
};

LineChart chart_of(const Part& part, const Figure& figure, const std::vector<Curve>& curves) {
  LineChart chart{.title = part.title,
                  .x_label = "epoch",
                  .y_label = "validation micro-F1",
                  .y_range = Range{0.5, 0.85},
                  .errors = ErrorStyle::kBand,
                  .width = 340,
                  .height = 260};
  for (const Curve& curve : curves) {
    if (!part.shows(curve.setting)) continue;
    chart.series.push_back(
        {.name = figure.curve_name(curve.setting), .y = curve.mean, .error = curve.error});
  }
  return chart;
}

void fill_tables(Document& document, const std::vector<Curve>& curves) {
  document.table.columns = {"sampled neighbors", "strategy", "refresh interval",
                            "validation micro-F1, last epoch", "test micro-F1, best epoch"};
  document.values.columns = {"strategy", "samples", "refresh_every", "epoch", "val", "val_error"};
  for (const Curve& curve : curves) {
    const Setting& setting = curve.setting;
    const bool all = setting.samples == 0;
    const bool refreshes = !all && setting.strategy != Strategy::kUniform;
    document.table.rows.push_back(
        {all ? "all" : std::to_string(setting.samples), setting.name(),
         refreshes ? std::to_string(setting.refresh_every) + " batches" : "–",
         score_text(curve.mean.back(), curve.error.back()),
         score_text(curve.test.mean, curve.test.error)});
    for (size_t epoch = 0; epoch < curve.mean.size(); ++epoch) {
      document.values.rows.push_back(
          {setting.name(), std::to_string(setting.samples), std::to_string(setting.refresh_every),
           std::to_string(epoch + 1), fixed(curve.mean[epoch], 5), fixed(curve.error[epoch], 5)});
    }
  }
}

Document document_of(Lab& lab, const Figure& figure) {
  const ExperimentData* email = lab.data("email");
  require_option(email != nullptr, "--data-sets: must include email for ", figure.name);
  const ExperimentData& data = *email;
  const auto curves = measure(lab, data, figure.settings);
  Document document{.name = figure.name,
                    .title = figure.title,
                    .text = join("Validation micro-F1 of LASE-SAGE on ", data.marked_title(),
                                 " during training, ", figure.text),
                    .notes = data.stand_in ? kStandInNote : ""};
  fill_tables(document, curves);
  std::vector<Panel> panels;
  for (const Part& part : figure.parts) panels.emplace_back(chart_of(part, figure, curves));
  document.svg = svg_panels(
      panels, {.title = join("Validation micro-F1 on ", data.marked_title(), " by ", figure.by),
               .subtitle = "mean and standard error over seeds",
               .columns = 3,
               .shared_legend = true});
  return document;
}

constexpr std::array<int64_t, 3> kSamples = {1, 3, 10};

}  // namespace

Document fig4b(Lab& lab) {
  Figure figure{
      .name = "fig4b",
      .title = "Figure 4b: sampling strategies",
      .text =
          "with a refresh every 10 batches. The paper's figure, which gives no numbers, shows "
          "min_var above uniform and gate; snapshot is not in the paper.",
      .by = "strategy",
      .curve_name = [](const Setting& one) { return one.name(); },
      .settings = {{}}};
  for (const int64_t samples : kSamples) {
    for (const auto strategy :
         {Strategy::kUniform, Strategy::kGate, Strategy::kMinVar, Strategy::kSnapshot}) {
      figure.settings.push_back({.strategy = strategy, .samples = samples});
    }
    figure.parts.push_back(
        {join(samples, samples == 1 ? " sampled neighbor" : " sampled neighbors"),
         [=](const Setting& one) { return one.samples == samples || one.samples == 0; }});
  }
  return document_of(lab, figure);
}

Document fig4c(Lab& lab) {
  Figure figure{
      .name = "fig4c",
      .title = "Figure 4c: refresh intervals",
      .text =
          "by the number of batches between refreshes of the probabilities or the snapshot. In the "
          "paper, the scores of min_var drop slightly as the interval grows.",
      .by = "refresh interval",
      .curve_name = [](const Setting& one) {
        return join("every ", one.refresh_every, " batches");
      }};
  for (const auto strategy : {Strategy::kMinVar, Strategy::kSnapshot}) {
    for (const int64_t samples : kSamples) {
      for (const int64_t refresh_every : {1, 5, 20, 100}) {
        figure.settings.push_back(
            {.strategy = strategy, .samples = samples, .refresh_every = refresh_every});
      }
      figure.parts.push_back(
          {join(name_of(strategy), ", fan-out ", samples),
           [=](const Setting& one) { return one.samples == samples && one.strategy == strategy; }});
    }
  }
  return document_of(lab, figure);
}

}  // namespace lase
