#include "experiments/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/base/text.h"
#include "lase/graph/encode_labels.h"
#include "lase/graph/split.h"
#include "lase/inference/link_task.h"
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
  const auto add = [&](const std::string& text, const char* option) {
    try {
      all.push_back(candidate_from(text, options.train));
      check(all.back().options);
    } catch (const Error& error) {
      throw OptionError(join(OptionName{option}, " ", quote(text), ": ", error.marked()));
    }
    require_option(names.insert(all.back().name).second, OptionName{option}, " ", quote(text),
                   ": is compared twice");
  };
  for (const auto& model : options.models) add(model, "models");
  for (const auto& variant : options.variants) add(variant, "variant");
  require_option(!all.empty(), "no models to compare; set ", OptionName{"models"});
  return all;
}

}  // namespace

std::vector<Graph> compared_graphs(const Graph& graph, const CompareOptions& options) {
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

namespace {

void require_splits(const PreparedTask& task) {
  for (const Split split : {Split::kVal, Split::kTest}) {
    require(!task.seeds(split).empty(), "no ", split_name(split),
            predicts_links(task.predicts) ? " link is a target" : " node has a label",
            "; import the graph with another split, or set ", OptionName{"splits"}, " and ",
            OptionName{"split"}, ", such as 60/20/20");
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
    const Metric val = objective->headline(result.val);
    const Metric test = objective->headline(result.test);
    require(std::isfinite(val.value) && std::isfinite(test.value), test.title,
            " is not defined for the ", std::isfinite(val.value) ? "test" : "validation",
            " nodes of a split; choose another metric with ", OptionName{"select"});
    json metrics = json::object();
    for (const Metric& metric : objective->metrics(result.test)) metrics[metric.key] = metric.value;
    return json{{"title", test.title},
                {"val", val.value},
                {"test", test.value},
                {"metrics", metrics},
                {"diverged", !result.diverged.empty()},
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
  means.reserve(by_split.size());
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

Candidate candidate_from(const std::string& text, const TrainOptions& base) {
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
      require(!changes.contains(option), option, " is set twice");
      changes[option] = value;
      name += separator + std::string(setting);
      separator = " ";
    }
  }
  const TrainOptions options = train_option_table().from_json(changes, base);
  for (const auto& unused : unused_options(options.model)) {
    require(!changes.contains(unused), unused, " has no effect on the model ", model);
  }
  return {name, options};
}

Comparison compare(const Graph& graph, const std::string& identity, const CompareOptions& options,
                   const RunnerOptions& runner) {
  const auto all = candidates(options);
  const std::vector<Graph> graphs = compared_graphs(graph, options);
  for (const Graph& split : graphs) {
    require_splits(prepare_task(split, task_options(options.train)));
  }
  const PreparedTask task = prepare_task(graphs.front(), task_options(options.train));
  const auto& objective = task.objective;
  require_option(options.splits == 0 || !predicts_links(task.predicts), OptionName{"splits"},
                 ": splits nodes, but the task predicts links; every seed has its own split of "
                 "links, unless the graph has one");

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
      const std::string title = result.value("title", comparison.metric.title);
      if (at == 0) comparison.metric.title = title;
      require(title == comparison.metric.title, "the models have different metrics, ",
              comparison.metric.title, " and ", title, ", which are not comparable; set ",
              OptionName{"ranking"}, " sampled");
      run.val = result.at("val").get<double>();
      run.test = result.at("test").get<double>();
      run.metrics = result.at("metrics").get<std::map<std::string, double>>();
      run.epochs = result.at("epochs").get<int64_t>();
      run.diverged = result.at("diverged").get<bool>();
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
                      {"diverged", run.diverged},
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
      if (model.to_first.p) entry["p"] = *model.to_first.p;
    }
    list.push_back(std::move(entry));
  }
  return {{"metric", metric.key}, {"splits", splits}, {"seeds", seeds}, {"models", list}};
}

Document Comparison::document(const std::string& graph) const {
  const std::string& first = models.front().candidate.name;
  Document document{.name = "compare", .title = join("Models on ", graph)};
  document.text = join(splits == 0 ? "The split of the graph" : count_of(splits, "random split"),
                       ", ", count_of(seeds, "seed"), splits == 0 ? "" : " each", ".");
  if (models.front().test.count > 1) {
    document.text +=
        join(" Mean ± standard error over ", splits > 1 ? "splits" : "seeds",
             "; p is from a two-sided paired t-test against ", first,
             corrected    ? ", whose standard error is corrected for overlapping training sets"
             : splits > 1 ? ", on the same test nodes, not corrected for overlapping training sets"
                          : "",
             models.size() > 2 ? ", and not adjusted for the number of models." : ".");
  }
  document.table.columns = {"model",
                            join("test ", metric.title),
                            join("val ", metric.title),
                            join("test − ", first),
                            "p",
                            "seconds"};
  document.values.columns = {"model", "split", "seed", "val", "test", "epochs", "seconds"};
  std::set<std::string> metrics;  // a metric may be undefined in some runs
  for (const auto& model : models) {
    for (const auto& run : model.runs) {
      for (const auto& [key, value] : run.metrics) metrics.insert(key);
    }
  }
  for (const auto& key : metrics) document.values.columns.push_back("test_" + key);
  DotPlot plot{.x_label = join("test ", metric.title),
               .value_name = "mean ± standard error",
               .best = metric.lower_is_better ? Best::kLowest : Best::kHighest};
  DotPanel panel{.title = graph};
  for (const auto& model : models) {
    const auto& [difference, p] = model.to_first;
    const bool is_first = &model == &models.front();
    const std::string change = difference.count > 1 ? join(signed_fixed(difference.mean, 4), " ± ",
                                                           fixed(difference.error, 4))
                                                    : signed_fixed(difference.mean, 4);
    document.table.rows.push_back({model.candidate.name, mean_text(model.test),
                                   mean_text(model.val), is_first ? "" : change,
                                   p ? p_text(*p) : "", significant(model.seconds, 3)});
    for (const auto& run : model.runs) {
      std::vector<std::string> row = {model.candidate.name,     std::to_string(run.split),
                                      std::to_string(run.seed), fixed(run.val, 6),
                                      fixed(run.test, 6),       std::to_string(run.epochs),
                                      fixed(run.seconds, 2)};
      for (const auto& key : metrics) {
        const auto found = run.metrics.find(key);
        row.push_back(found == run.metrics.end() ? "" : fixed(found->second, 6));
      }
      document.values.rows.push_back(std::move(row));
    }
    const auto diverged = std::count_if(model.runs.begin(), model.runs.end(),
                                        [](const ComparedRun& run) { return run.diverged; });
    if (diverged > 0) {
      document.notes += join(document.notes.empty() ? "" : " ", model.candidate.name,
                             " diverged in ", diverged, " of ", model.runs.size(), " runs.");
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
