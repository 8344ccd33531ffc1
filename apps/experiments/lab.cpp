#include "experiments/lab.h"

#include <algorithm>
#include <filesystem>

#include "lase/base/file.h"
#include "lase/inference/objective.h"
#include "lase/model/layers/registry.h"

namespace lase {
namespace {

using nlohmann::json;

json result_of(const TrainResult& result, const std::vector<double>& curve) {
  return {{"headline", make_objective(result.trained)->headline(result.test).value},
          {"val", result.val.micro_f1},
          {"test", result.test.micro_f1},
          {"macro", result.test.macro_f1},
          {"epochs", result.epochs},
          {"best", result.best_epoch},
          {"seconds", result.seconds + result.setup_seconds},
          {"curve", curve}};
}

// Of the Heterogeneous Graph Benchmark.
bool is_benchmark(const std::string& name) {
  return name == "acm" || name == "dblp-hgb" || name == "imdb";
}

}  // namespace

Lab::Lab(const ReproduceOptions& options) : options_(options) { make_folder(options_.out); }

const ExperimentData* Lab::data(const std::string& name) {
  if (options_.stop != nullptr && options_.stop->load()) throw stopped_runs(true);
  auto found = data_.find(name);
  if (found == data_.end()) {
    const auto& wanted = options_.data_sets;
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) {
      return nullptr;
    }
    if (!std::filesystem::exists(options_.out + "/graphs")) say("preparing the data sets");
    found = data_.emplace(name, open_experiment_data(name, options_.data, options_.out + "/graphs"))
                .first;
    if (!found->second) {
      say(name + ": skipped, its files are not in " + options_.data);
    } else if (found->second->stand_in) {
      say(name + ": files not found, using a synthetic stand-in of the paper's size");
    }
  }
  return found->second ? &*found->second : nullptr;
}

Effort Lab::effort(const std::string& name) const {
  const bool quick = options_.quick;
  Effort effort{.seeds = quick ? 3 : 10,
                .curve_seeds = quick ? 2 : 5,
                .trials = quick ? 1 : 12,
                .cost = 0.03};
  if (name.starts_with("dblp") && !is_benchmark(name)) {
    effort = {.seeds = quick ? 1 : 5,
              .trials = quick ? 1 : 4,
              .epochs = quick ? 8 : 40,
              .patience = 10,
              .cost = 3};
  } else if (name == "reddit") {
    effort = {
        .seeds = quick ? 1 : 2, .trials = 1, .epochs = quick ? 1 : 4, .patience = 0, .cost = 15};
  } else if (name == "fmobile") {
    effort = {.seeds = quick ? 1 : 5,
              .trials = quick ? 1 : 4,
              .epochs = quick ? 15 : 60,
              .patience = 15,
              .cost = 0.5};
  } else if (name == "amlsim20k") {
    effort = {.seeds = quick ? 1 : 5,
              .curve_seeds = quick ? 1 : 3,
              .epochs = quick ? 5 : 40,
              .patience = 0,
              .cost = 0.5};
  } else if (is_benchmark(name)) {
    effort = {.seeds = quick ? 1 : 3,
              .curve_seeds = quick ? 1 : 2,
              .epochs = quick ? 3 : 40,
              .patience = 15,
              .cost = 1};
  }
  if (options_.seeds > 0) effort.seeds = effort.curve_seeds = options_.seeds;
  effort.epochs = limit_epochs(effort.epochs);
  return effort;
}

void Lab::say(const std::string& text) const {
  if (options_.say) options_.say(text);
}

Run Lab::run(const ExperimentData& data, const TrainOptions& options, const json& what,
             std::string label, Work work) const {
  Run run;
  run.key = {{"data", data.tag}, {"what", what}, {"options", to_json(options)}};
  run.label = std::move(label);
  const double factor = layer_type(options.model.model).cost;
  run.cost = factor * effort(data.name).cost * static_cast<double>(options.epochs);
  run.work = [options, work = std::move(work)](const std::atomic<bool>* stop) {
    std::vector<double> curve;
    TrainOptions watched = options;
    watched.stop = stop;
    watched.progress = [&](const EpochReport& report) {
      if (report.validated) curve.push_back(report.val.micro_f1);
    };
    return result_of(work(watched), curve);
  };
  return run;
}

Run Lab::train_run(const ExperimentData& data, const TrainOptions& options,
                   std::string label) const {
  const Graph* graph = &data.graph;
  return run(data, options, "train", std::move(label),
             [graph](const TrainOptions& watched) { return train(*graph, watched); });
}

RunnerOptions Lab::runner() const {
  return {.folder = options_.out + "/runs",
          .threads = 0,
          .progress = options_.progress,
          .stop = options_.stop};
}

std::vector<json> Lab::run_all(std::vector<Run> runs) const {
  return lase::run_all(std::move(runs), runner());
}

void Lab::write(const std::string& name, const std::string& text) const {
  write_file(options_.out + "/" + name, text);
}

TrainOptions options_for(const std::string& model, const Effort& effort, uint64_t seed) {
  TrainOptions options;
  options.strict_inductive = true;
  options.eval_every = 1;
  options.features.embed.method = EmbedMethod::kNone;
  options.label_inputs = LabelInputs::kOff;
  options.common_neighbors = CommonNeighbors::kOff;
  options.node_scaling = NodeScaling::kStandard;
  options.model.project = 0;
  options.sampling.link_dropout = 0;
  options.batch = 512;
  options.model.model = model;
  options.epochs = effort.epochs;
  options.patience = effort.patience;
  options.seed = seed;
  return options;
}

TrainOptions link_options(const ExperimentData& data, const Effort& effort, uint64_t seed) {
  TrainOptions options;
  options.features.embed.method = EmbedMethod::kNone;
  options.label_inputs = LabelInputs::kOff;
  options.common_neighbors = CommonNeighbors::kOff;
  options.transductive = data.transductive;
  options.epochs = effort.epochs;
  options.patience = effort.patience;
  options.seed = seed;
  return options;
}

}  // namespace lase
