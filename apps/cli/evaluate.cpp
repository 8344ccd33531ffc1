#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <string>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/format.h"
#include "lase/inference/metrics.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict_links.h"
#include "lase/sampler/sampler.h"

#include "cli/model_and_graph.h"
#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/thresholds.h"
#include "common/paths.h"

namespace {

std::vector<int64_t> nodes_of(const lase::Graph& graph, const std::string& split) {
  std::vector<int64_t> nodes;
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    const auto own = graph.nodes.split.empty() ? lase::Split::kNone
                                               : static_cast<lase::Split>(graph.nodes.split[u]);
    if ((split == "all" || lase::split_name(own) == split) && graph.nodes.labels.known(u)) {
      nodes.push_back(u);
    }
  }
  return nodes;
}

void write_confusion(const lase::Scores& scores, const lase::StringTable& names,
                     const std::string& path, const Session& session) {
  lase::require(!scores.confusion.empty(),
                "--confusion: only single-label tasks have a confusion matrix");
  lase::TextWriter out(path);
  out << "label";
  for (int64_t c = 0; c < names.size(); ++c) (out << ',').field(names[c]);
  out << '\n';
  for (int64_t label = 0; label < names.size(); ++label) {
    out.field(names[label]);
    for (int64_t predicted = 0; predicted < names.size(); ++predicted) {
      out << ',' << scores.confused(label, predicted);
    }
    out << '\n';
  }
  out.commit();
  session.out() << "written          " << path << "\n";
}

void print_scores(const lase::Scores& scores, const lase::Objective& objective,
                  std::string_view seeds, std::ostream& out) {
  const lase::StringTable& names = objective.labels().names;
  for (const auto& metric : objective.metrics(scores)) {
    out << fmt::format("{:<27} {:.4f}\n", metric.title, metric.value);
  }
  if (scores.classes.empty()) return;
  out << fmt::format("\n{:<20}  precision  recall      F1  {}\n", "class", seeds);
  for (size_t c = 0; c < scores.classes.size(); ++c) {
    const auto& of_class = scores.classes[c];
    if (of_class.support() + of_class.false_positives == 0) continue;
    out << fmt::format("{:<20}{:11.3f}{:8.3f}{:8.3f}{:7}\n", names[static_cast<int64_t>(c)],
                       of_class.precision(), of_class.recall(), of_class.f1(), of_class.support());
  }
}

// Scores by class and pairs of classes.
nlohmann::json scores_json(const lase::Scores& scores, const lase::Objective& objective,
                           const std::string& seeds) {
  const lase::StringTable& names = objective.labels().names;
  nlohmann::json classes = nlohmann::json::array();
  for (size_t c = 0; c < scores.classes.size(); ++c) {
    const auto& of_class = scores.classes[c];
    classes.push_back({{"class", std::string(names[static_cast<int64_t>(c)])},
                       {"precision", of_class.precision()},
                       {"recall", of_class.recall()},
                       {"f1", of_class.f1()},
                       {seeds, of_class.support()}});
  }
  nlohmann::json confused = nlohmann::json::array();
  for (const auto& [classes_of, count] : scores.confusion) {
    confused.push_back({{"label", names[classes_of.first]},
                        {"predicted", names[classes_of.second]},
                        {seeds, count}});
  }
  nlohmann::json result = {{seeds, scores.nodes}, {"classes", classes}, {"confusion", confused}};
  for (const auto& metric : objective.metrics(scores)) result[metric.key] = metric.value;
  return result;
}

struct EvaluateOptions {
  ModelFiles files;
  std::string split = "test";
  lase::Ranking ranking = lase::Ranking::kAuto;
  std::string confusion;
  std::string report;
};

nlohmann::json evaluate_links(const EvaluateOptions& options, const ModelAndGraph& opened,
                              const Session& session) {
  const auto& [files, split, ranking, confusion, report] = options;
  const lase::TrainedModel trained = lase::with_ranking(opened.trained, ranking);
  const lase::LinkPredictor predictor(trained, opened.graph, files.graph, files.device);
  const lase::Objective& objective = predictor.objective();
  lase::require_option(split != "all", lase::OptionName{"split"},
                       " all: not supported by models of links; evaluate one split at a time");
  const auto number = [&split = split] {
    for (const auto each : {lase::Split::kTrain, lase::Split::kVal, lase::Split::kTest}) {
      if (lase::split_name(each) == split) return each;
    }
    return lase::Split::kNone;
  }();
  const lase::Scores scores = predictor.score(number);
  session.out() << "links            " << scores.nodes << " in split " << split << "\n";
  print_scores(scores, objective, "links", session.out());
  print_thresholds(objective, session.out());
  if (!confusion.empty()) {
    write_confusion(scores, objective.labels().names, confusion, session);
  }
  if (!report.empty()) {
    write_report({.path = report, .graph_path = files.graph, .command = session.line()},
                 opened.graph, run_of_model(trained), session);
  }
  nlohmann::json result = scores_json(scores, objective, "links");
  result["split"] = split;
  if (const auto used = predictor.ranking()) result["ranking"] = lase::name_of(*used);
  return result;
}

// The labeled nodes to evaluate a model of nodes on.
std::vector<int64_t> evaluated_nodes(const EvaluateOptions& options, const lase::Graph& graph) {
  const std::string& path = options.files.graph;
  lase::require_option(options.ranking == lase::Ranking::kAuto, lase::OptionName{"ranking"},
                       ": the model does not predict links");
  lase::require(graph.nodes.labels.classes() > 0, path, ": has no labels to evaluate against");
  std::vector<int64_t> nodes = nodes_of(graph, options.split);
  lase::require(!nodes.empty(), path, ": has no labeled nodes in split ",
                lase::quote(options.split),
                options.split == "all" ? "" : "; to evaluate all labeled nodes, use --split all");
  return nodes;
}

nlohmann::json show_scores(const EvaluateOptions& options, const lase::TrainedModel& trained,
                           const lase::Scores& scores, const lase::Objective& objective,
                           const Session& session) {
  session.out() << "nodes            " << scores.nodes << " in split " << options.split << "\n";
  print_scores(scores, objective, "nodes", session.out());
  print_thresholds(objective, session.out());
  if (!options.confusion.empty()) {
    write_confusion(scores, objective.labels().names, options.confusion, session);
  }
  nlohmann::json result = scores_json(scores, objective, "nodes");
  result["split"] = options.split;
  result["epochs"] = trained.training.value("epochs", 0);
  result["best_epoch"] = trained.training.value("best_epoch", 0);
  return result;
}

nlohmann::json evaluate_parts(const EvaluateOptions& options, const Session& session) {
  const ModelAndParts opened = open_model_and_parts(options.files, options.report);
  const lase::Graph& graph = opened.graph.whole().graph;
  const std::vector<int64_t> nodes = evaluated_nodes(options, graph);
  const TimedParts timed = timed_predictions(opened, lase::Keep::kLogits);
  const auto objective = lase::make_objective(
      opened.trained, lase::labels_as_trained(opened.trained, graph.nodes.labels));
  const lase::Scores scores = objective->score(timed.predictor.outputs(nodes), nodes);
  nlohmann::json result = show_scores(options, opened.trained, scores, *objective, session);
  result["seconds"] = timed.seconds;
  result["links_per_second"] = timed.links_per_second;
  return result;
}

nlohmann::json run_evaluate(const EvaluateOptions& options, const Session& session) {
  const auto& [files, split, ranking, confusion, report] = options;
  require_distinct_files({files.model, files.graph}, {confusion, report});
  if (lase::is_partitioned(files.graph)) return evaluate_parts(options, session);
  const ModelAndGraph opened = open_model_and_graph(files, session);
  if (is_link_model(opened.trained)) return evaluate_links(options, opened, session);
  const auto nodes = evaluated_nodes(options, opened.graph);
  const auto objective = lase::make_objective(
      opened.trained, lase::labels_as_trained(opened.trained, opened.graph.nodes.labels));
  const TimedPredictions timed = timed_predictions(files, opened);
  const lase::Scores scores =
      objective->score(timed.predictions.outputs.index_select(0, lase::index_of(nodes)), nodes);
  nlohmann::json result = show_scores(options, opened.trained, scores, *objective, session);
  if (!report.empty()) {
    write_report({.path = report, .graph_path = files.graph, .command = session.line()},
                 opened.graph,
                 run_of_model(opened.trained, opened.graph, timed.predictions.outputs), session);
  }
  result["seconds"] = timed.seconds;
  result["links_per_second"] = timed.links_per_second;
  return result;
}

}  // namespace

void add_evaluate(CLI::App& app, Session& session) {
  lase::OptionTable<EvaluateOptions> table;
  table.add("split", &EvaluateOptions::split, lase::one_of({"train", "val", "test", "none", "all"}),
            "Split to evaluate");
  table.add("ranking", &EvaluateOptions::ranking, lase::one_of<lase::Ranking>(),
            "Link prediction: rank a link among all nodes that are not known to be linked "
            "(filtered), among all nodes (raw), or among 100 that are not known to be linked "
            "(sampled); auto = as in training");
  auto options = std::make_shared<EvaluateOptions>();
  CLI::App* command = session.add_command(
      app, "evaluate", command_summary("evaluate"),
      [options, &session] { return run_evaluate(*options, session); }, Processes::kTogether);
  add_flags(*command, model_files_table().bind(options->files));
  add_flags(*command, table.bind(*options));
  add_flags(*command, lase::device_option_table().bind(options->files.device));
  command->add_option("--confusion", options->confusion,
                      "CSV file to write the confusion matrix to");
  command->add_option("--report", options->report,
                      "HTML report to write, as in lase train --report, for this graph");
  command->footer(
      "Examples:\n"
      "  lase evaluate mail.model mail.graph\n"
      "  lase evaluate mail.model mail.graph --split val --confusion confusion.csv");
}
