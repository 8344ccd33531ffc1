#include "experiments/compare.h"

#include <algorithm>
#include <set>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/text.h"
#include "lase/graph/encode_labels.h"
#include "lase/graph/split.h"
#include "lase/inference/objective.h"
#include "lase/model/layers/registry.h"
#include "lase/train/trainer.h"

#include "experiments/search.h"
#include "report/chart.h"

namespace lase {
namespace {

using nlohmann::json;

std::vector<Candidate> candidates(const CompareOptions& options) {
  std::vector<Candidate> all;
  std::set<std::string> names;
  const auto add = [&](const std::string& text) {
    all.push_back(candidate_from(text, options.train));
    check(all.back().options);
    require_option(names.insert(all.back().name).second, quote(text), " is compared twice");
  };
  for (const auto& model : options.models) add(model);
  for (const auto& variant : options.variants) add(variant);
  require_option(!all.empty(), "there is no model to compare; set ", OptionName{"models"});
  return all;
}

// The graph with its own split, or with each of the random splits.
std::vector<Graph> split_graphs(const Graph& graph, const CompareOptions& options) {
  require_option(options.splits > 0 || (options.split.empty() && !options.keep_test),
                 OptionName{options.keep_test ? "keep_test" : "split"}, ": requires ",
                 OptionName{"splits"});
  require_option(options.split.empty() || !options.keep_test, OptionName{"split"}, " and ",
                 OptionName{"keep_test"}, " are mutually exclusive");
  if (options.splits == 0) return {graph};
  const Proportions own = proportions_of(graph.nodes.split);
  require_option(!options.split.empty() || own.train > 0, "the graph has no split; set ",
                 OptionName{"split"}, ", such as 60/20/20");
  std::vector<Graph> graphs;
  for (int64_t i = 0; i < options.splits; ++i) {
    const uint64_t seed = options.train.seed + static_cast<uint64_t>(i);
    Graph copy = graph;
    const Labels& labels = graph.nodes.labels;
    if (options.keep_test) {
      constexpr double kDefault = 0.2;
      const double val = own.val > 0 ? own.val / (own.train + own.val) : kDefault;
      copy.nodes.split = redraw_validation(labels, graph.nodes.split, val, seed);
    } else {
      const auto wanted = options.split.empty() ? own : parse_proportions(options.split);
      copy.nodes.split = stratified_split(labels, graph.node_count(), wanted, seed).split;
    }
    graphs.push_back(std::move(copy));
  }
  return graphs;
}

void require_splits(const Graph& graph) {
  for (const Split split : {Split::kVal, Split::kTest}) {
    require(graph.split_size(split) > 0, "the graph has no ", split_name(split),
            " nodes to compare models on; import it with a split, or set ", OptionName{"splits"},
            " and ", OptionName{"split"});
  }
}

Run compared_run(const Graph& graph, const TrainOptions& options, const Decision& decision,
                 json key, std::string label) {
  Run run;
  run.key = std::move(key);
  run.key["options"] = to_json(options);
  run.label = std::move(label);
  run.cost = layer_type(options.model.model).cost;
  run.work = [&graph, options, decision](const std::atomic<bool>* stop) {
    TrainOptions stoppable = options;
    stoppable.stop = stop;
    const TrainResult result = train(graph, stoppable);
    // All models are compared by the same metric, whatever selected their epochs.
    const auto objective = make_objective(result.trained);
    objective->set_decision(decision);
    json metrics = json::object();
    for (const Metric& metric : objective->metrics(result.test)) metrics[metric.key] = metric.value;
    return json{{"val", objective->headline(result.val).value},
                {"test", objective->headline(result.test).value},
                {"metrics", metrics},
                {"epochs", result.epochs},
                {"seconds", result.setup_seconds + result.seconds}};
  };
  return run;
}

// One score per split, or per seed if there is one split.
std::vector<double> scores_of(const std::vector<ComparedRun>& runs, double ComparedRun::*score) {
  std::map<int64_t, std::vector<double>> by_split;
  for (const auto& run : runs) by_split[run.split].push_back(run.*score);
  if (by_split.size() == 1) return by_split.begin()->second;
  std::vector<double> means;
  for (const auto& [split, scores] : by_split) means.push_back(mean_and_error(scores).mean);
  return means;
}

std::string count_of(int64_t count, const char* what) {
  return join(count, " ", what, count == 1 ? "" : "s");
}

std::string mean_text(const MeanAndError& score) {
  return score.count > 1 ? join(fixed(score.mean, 4), " ± ", fixed(score.error, 4))
                         : fixed(score.mean, 4);
}

std::string p_text(double p) { return p < 0.001 ? "<0.001" : fixed(p, 3); }

}  // namespace

Candidate candidate_from(const std::string& text, const TrainOptions& base) try {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string model(trimmed(std::string_view(text).substr(0, colon)));
  json changes = {{"model", model}};
  std::string name = model;
  if (colon < text.size()) {
    std::string separator = ": ";
    for (const auto part : split_text(std::string_view(text).substr(colon + 1), " ")) {
      std::string_view setting = trimmed(part);
      if (setting.ends_with(',')) setting.remove_suffix(1);
      if (setting.empty()) continue;
      const auto [option, value] = setting_from(std::string(setting));
      changes[option] = value;
      name += separator + std::string(setting);
      separator = " ";
    }
  }
  return {name, train_option_table().from_json(changes, base)};
} catch (const Error& error) {
  throw OptionError(join(quote(text), ": ", error.what()));
}

Comparison compare(const Graph& graph, const std::string& identity, const CompareOptions& options,
                   const RunnerOptions& runner) {
  const auto all = candidates(options);
  const std::vector<Graph> graphs = split_graphs(graph, options);
  for (const Graph& split : graphs) require_splits(split);
  const auto objective = make_objective(graph.nodes.labels);
  objective->set_decision(
      objective->select(options.train.select, objective->seeds(graphs.front(), Split::kTrain)));

  std::vector<Run> runs;
  std::vector<ComparedRun> order;
  for (const auto& candidate : all) {
    for (size_t i = 0; i < graphs.size(); ++i) {
      for (int64_t s = 0; s < options.seeds; ++s) {
        TrainOptions train = candidate.options;
        train.seed = options.train.seed + static_cast<uint64_t>(s);
        const auto split = options.splits == 0 ? 0 : static_cast<int64_t>(i) + 1;
        json key = {
            {"graph", identity}, {"what", "compare"}, {"metric", objective->headline({}).key}};
        if (split > 0) {
          key["split"] = {{"proportions", options.split},
                          {"keep_test", options.keep_test},
                          {"seed", options.train.seed + i}};
        }
        order.push_back({.split = split, .seed = train.seed});
        runs.push_back(
            compared_run(graphs[i], train, objective->decision(), std::move(key), candidate.name));
      }
    }
  }
  const auto results = run_all(std::move(runs), runner);

  const Proportions shares = proportions_of(graphs.front().nodes.split);
  Comparison comparison{.metric = objective->headline({}),
                        .splits = options.splits,
                        .seeds = options.seeds,
                        .corrected = options.splits > 1 && !options.keep_test};
  const double test_to_train = comparison.corrected ? shares.test / shares.train : 0;
  size_t at = 0;
  for (const auto& candidate : all) {
    ComparedModel model{.candidate = candidate};
    double seconds = 0;
    for (size_t i = 0; i < graphs.size() * static_cast<size_t>(options.seeds); ++i, ++at) {
      ComparedRun run = order[at];
      const json& result = results[at];
      run.val = result.at("val").get<double>();
      run.test = result.at("test").get<double>();
      run.metrics = result.at("metrics").get<std::map<std::string, double>>();
      run.epochs = result.at("epochs").get<int64_t>();
      run.seconds = result.at("seconds").get<double>();
      seconds += run.seconds;
      model.runs.push_back(std::move(run));
    }
    model.seconds = seconds / static_cast<double>(model.runs.size());
    const auto test = scores_of(model.runs, &ComparedRun::test);
    model.val = mean_and_error(scores_of(model.runs, &ComparedRun::val));
    model.test = mean_and_error(test);
    if (!comparison.models.empty()) {
      model.to_first = paired_difference(
          test, scores_of(comparison.models.front().runs, &ComparedRun::test), test_to_train);
    }
    comparison.models.push_back(std::move(model));
  }
  return comparison;
}

json Comparison::json() const {
  auto list = nlohmann::json::array();
  for (const auto& model : models) {
    auto runs = nlohmann::json::array();
    for (const auto& run : model.runs) {
      nlohmann::json metrics = run.metrics;
      runs.push_back({{"split", run.split},
                      {"seed", run.seed},
                      {"val", run.val},
                      {"test", run.test},
                      {"metrics", metrics},
                      {"epochs", run.epochs},
                      {"seconds", run.seconds}});
    }
    nlohmann::json entry = {{"name", model.candidate.name},
                            {"val", model.val.mean},
                            {"val_error", model.val.error},
                            {"test", model.test.mean},
                            {"test_error", model.test.error},
                            {"seconds", model.seconds},
                            {"runs", runs}};
    if (&model != &models.front()) {
      entry["difference"] = model.to_first.difference.mean;
      entry["difference_error"] = model.to_first.difference.error;
      if (model.to_first.difference.count > 1) entry["p"] = model.to_first.p;
    }
    list.push_back(std::move(entry));
  }
  return {{"metric", metric.key}, {"splits", splits}, {"seeds", seeds}, {"models", list}};
}

Document Comparison::document(const std::string& graph) const {
  const std::string& first = models.front().candidate.name;
  Document document{.name = "compare", .title = join("Models on ", graph)};
  document.text =
      join(splits == 0 ? "The split of the graph" : count_of(splits, "random split"), ", ",
           count_of(seeds, "seed"), splits == 0 ? "" : " each", ". Mean ± standard error over ",
           splits > 1 ? "splits" : "seeds", "; p is from a two-sided paired t-test against ", first,
           corrected ? ", corrected for overlapping training sets" : "", ".");
  document.table.columns = {"model",
                            join("test ", metric.title),
                            join("val ", metric.title),
                            join("test − ", first),
                            "p",
                            "seconds"};
  document.values.columns = {"model", "split", "seed", "val", "test", "epochs", "seconds"};
  for (const auto& [key, value] : models.front().runs.front().metrics) {
    document.values.columns.push_back("test_" + key);
  }
  DotPlot plot{.x_label = join("test ", metric.title),
               .value_name = "mean ± standard error",
               .best = metric.lower_is_better ? Best::kLowest : Best::kHighest};
  DotPanel panel{.title = graph};
  for (const auto& model : models) {
    const auto& [difference, p] = model.to_first;
    const bool tested = difference.count > 1;
    const bool is_first = &model == &models.front();
    const std::string change = difference.count > 1 ? join(signed_fixed(difference.mean, 4), " ± ",
                                                           fixed(difference.error, 4))
                                                    : signed_fixed(difference.mean, 4);
    document.table.rows.push_back(
        {model.candidate.name, mean_text(model.test), mean_text(model.val), is_first ? "" : change,
         is_first || !tested ? "" : p_text(p), significant(model.seconds, 3)});
    for (const auto& run : model.runs) {
      std::vector<std::string> row = {model.candidate.name,     std::to_string(run.split),
                                      std::to_string(run.seed), fixed(run.val, 6),
                                      fixed(run.test, 6),       std::to_string(run.epochs),
                                      fixed(run.seconds, 2)};
      for (const auto& [key, value] : run.metrics) row.push_back(fixed(value, 6));
      document.values.rows.push_back(std::move(row));
    }
    plot.rows.push_back({.name = model.candidate.name});
    Score score{.value = model.test.mean};
    if (model.test.count > 1) score.error = model.test.error;
    panel.scores.push_back(score);
  }
  plot.panels.push_back(std::move(panel));
  document.svg = svg_picture(plot);
  return document;
}

}  // namespace lase
