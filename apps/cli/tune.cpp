#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/graph/graph.h"
#include "lase/inference/link_task.h"
#include "lase/inference/objective.h"
#include "lase/train/trainer.h"

#include "cli/model_and_graph.h"
#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/run_progress.h"
#include "cli/session.h"
#include "common/interrupt.h"
#include "common/paths.h"
#include "common/sha256.h"
#include "experiments/runs.h"
#include "experiments/search.h"
#include "experiments/statistics.h"

namespace {

struct TuneFlags {
  std::string graph;
  std::string out;
  std::string keep;
  std::vector<std::string> vary;
  int64_t trials = 20;
  int64_t seeds = 1;
  lase::TrainOptions train;
};

const lase::OptionTable<TuneFlags>& tune_table() {
  static const auto table = [] {
    using O = TuneFlags;
    lase::OptionTable<O> all;
    all.add("trials", &O::trials, lase::between(1, 100'000),
            "Number of configurations to try, starting with the given one");
    all.add("seeds", &O::seeds, lase::between(1, 100'000),
            "Number of runs per configuration, with consecutive seeds from --seed");
    return all;
  }();
  return table;
}

struct Trial {
  nlohmann::json configuration;  // the options that differ from the given ones
  lase::MeanAndError val;
};

lase::Run trial_run(const lase::Graph& graph, const lase::TrainOptions& options,
                    const lase::Decision& decision, const std::string& identity,
                    const std::string& label) {
  lase::Run run;
  run.key = {{"graph", identity}, {"options", lase::to_json(options)}};
  run.label = label;
  run.work = [&graph, options, decision](const std::atomic<bool>* stop) {
    lase::TrainOptions stoppable = options;
    stoppable.stop = stop;
    const auto result = lase::train(graph, stoppable);
    // All trials are compared by the same metric, whatever selected their epochs.
    const auto objective = lase::make_objective(result.trained);
    objective->set_decision(decision);
    return nlohmann::json{{"val", objective->headline(result.val).value}};
  };
  return run;
}

nlohmann::json run_tune(const TuneFlags& flags, const Session& session) {
  const lase::Graph graph = lase::load_graph(flags.graph);
  require_distinct_files({flags.graph}, {flags.out});
  if (!flags.out.empty()) lase::AtomicFile probe(flags.out);
  const auto& base = flags.train;
  require_targets(graph, base.predicts, flags.graph);
  lase::check(base);
  const lase::PreparedTask task = lase::prepare_task(graph, lase::task_options(base));
  lase::require(!task.seeds(lase::Split::kVal).empty(), flags.graph, ": has no validation ",
                lase::predicts_links(task.predicts) ? "links" : "nodes",
                " to score configurations on");
  const lase::Metric metric = task.objective->headline({});
  std::vector<lase::Choice> choices;
  for (const auto& text : flags.vary) choices.push_back(lase::choice_from(text));
  if (choices.empty()) choices = lase::default_choices(base.model.model);
  // Kept runs are reused only for exactly the same graph.
  const std::string identity = flags.keep.empty() ? "" : lase::sha256_of_file(flags.graph);
  const auto configurations = lase::sample_configurations(choices, flags.trials, base.seed);
  std::vector<lase::Run> runs;
  for (const auto& configuration : configurations) {
    for (int64_t i = 0; i < flags.seeds; ++i) {
      auto options = lase::train_option_table().from_json(configuration, base);
      options.seed = base.seed + static_cast<uint64_t>(i);
      runs.push_back(trial_run(graph, options, task.objective->decision(), identity,
                               lase::configuration_text(configuration)));
    }
  }
  RunLine line;
  const Interruptible interruptible;
  const auto results =
      lase::run_all(std::move(runs), {.folder = flags.keep,
                                      .threads = 0,
                                      .progress = [&](const auto& p) { line.show(p); },
                                      .stop = &interrupted()});
  line.clear();
  std::vector<Trial> trials;
  size_t at = 0;
  for (const auto& configuration : configurations) {
    std::vector<double> val;
    for (int64_t i = 0; i < flags.seeds; ++i, ++at) {
      val.push_back(results[at].at("val").get<double>());
    }
    trials.push_back({configuration, lase::mean_and_error(val)});
  }
  std::stable_sort(trials.begin(), trials.end(), [&](const auto& a, const auto& b) {
    return metric.lower_is_better ? a.val.mean < b.val.mean : a.val.mean > b.val.mean;
  });
  auto& out = session.out();
  const std::string score = "val " + metric.title;
  out << fmt::format("{:>12}  configuration\n", score);
  nlohmann::json list = nlohmann::json::array();
  for (const auto& trial : trials) {
    out << fmt::format("{:12.4f}  {}\n", trial.val.mean,
                       lase::configuration_text(trial.configuration));
    list.push_back({{"val", trial.val.mean},
                    {"val_error", trial.val.error},
                    {"configuration", trial.configuration}});
  }
  if (!flags.out.empty()) {
    const auto& table = lase::train_option_table();
    lase::write_file(flags.out, table.to_toml(table.from_json(trials[0].configuration, base)));
    out << "written          " << flags.out << "; use it with: lase train " << flags.graph
        << " --config " << flags.out << "\n";
  }
  return {{"trials", list}, {"best", trials[0].configuration}, {"val", trials[0].val.mean}};
}

}  // namespace

void add_tune(CLI::App& app, Session& session) {
  auto flags = std::make_shared<TuneFlags>();
  CLI::App* command = session.add_command(app, "tune", command_summary("tune"),
                                          [flags, &session] { return run_tune(*flags, session); });
  command->add_option("graph", flags->graph, "Graph file")->required();
  command
      ->add_option("--vary", flags->vary,
                   "Training option and the values to try, such as learning_rate=0.003:0.01, "
                   "widths=64,64:128,128 or learning_rate=0.001..0.03; LOW..HIGH is sampled "
                   "log-uniformly; may be repeated (default: learning_rate, dropout, widths and "
                   "combine)")
      ->allow_extra_args(false)
      ->default_str("");
  add_flags(*command, tune_table().bind(*flags));
  command->add_option("--out", flags->out,
                      "TOML file to write the best configuration to, for lase train --config");
  command->add_option(
      "--keep", flags->keep,
      "Folder that stores finished runs, so that an interrupted search can continue");
  add_flags(*command, lase::train_option_table().bind(flags->train));
  command->footer(
      "Examples:\n"
      "  lase tune mail.graph --trials 10 --out best.toml\n"
      "  lase tune mail.graph --vary learning_rate=0.001..0.03 --vary dropout=0:0.5 --seeds 3");
}
