#include "lase/inference/predict.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <numeric>
#include <string>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/format.h"
#include "lase/inference/predict_links.h"
#include "lase/model/model.h"

#include "cli/model_and_graph.h"
#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/report.h"
#include "common/paths.h"

namespace {

struct Options {
  ModelFiles files;
  std::string out;
  lase::PredictionColumns columns;
  int64_t top = 0;
  std::string relation;
  std::string report;
};

// Predictions for the target links, or the best partners of every node.
nlohmann::json predict_links(const Options& options, const ModelAndGraph& opened,
                             const Session& session) {
  const lase::LinkPredictor predictor(opened.trained, opened.graph, options.files.graph,
                                      options.files.device);
  const lase::StringTable& names = predictor.graph().nodes.names;
  if (options.top == 0) {
    lase::require_option(options.relation.empty(), lase::OptionName{"relation"},
                         ": requires --top");
    lase::write_link_predictions(predictor, options.columns, options.out);
    const int64_t links = predictor.graph().targets.size();
    session.out() << links << " links written to " << options.out << "\n";
    return {{"links", links}, {"out", options.out}};
  }
  std::vector<int64_t> nodes(static_cast<size_t>(names.size()));
  std::iota(nodes.begin(), nodes.end(), int64_t{0});
  const auto partners = predictor.partners(nodes, options.top, options.relation);
  lase::TextWriter out(options.out);
  out << "source,target,score\n";
  for (const auto& partner : partners) {
    out.field(names[partner.source]) << ',';
    out.field(names[partner.target]) << ',' << partner.score << '\n';
  }
  out.commit();
  session.out() << options.top << " partners of " << names.size() << " nodes written to "
                << options.out << "\n";
  return {{"nodes", names.size()}, {"top", options.top}, {"out", options.out}};
}

// Throws Error if an option for classes is given, but the model does not predict any.
void require_classes(const CLI::App& app, const lase::TrainedModel& trained) {
  const bool classes =
      trained.task == lase::Task::kSingleLabel || trained.task == lase::Task::kMultiLabel;
  for (const std::string flag : {"--top-k", "--probabilities"}) {
    const bool given = app.get_subcommand("predict")->count(flag) > 0;
    lase::require(!given || classes, flag, ": the model does not predict classes");
  }
}

// Predictions for the nodes of a partitioned graph.
nlohmann::json predict_parts(const CLI::App& app, const Options& options, const Session& session) {
  const ModelAndParts opened = open_model_and_parts(options.files, options.report);
  require_classes(app, opened.trained);
  const TimedParts timed = timed_predictions(opened, lase::Keep::kLogits);
  timed.predictor.write(options.columns, options.out);
  const int64_t nodes = opened.graph.node_count();
  session.out() << nodes << " nodes written to " << options.out << "\n";
  return {{"nodes", nodes},
          {"out", options.out},
          {"seconds", timed.seconds},
          {"links_per_second", timed.links_per_second}};
}

}  // namespace

void add_predict(CLI::App& app, Session& session) {
  lase::OptionTable<Options> table;
  table
      .add("out", &Options::out, lase::any(),
           "CSV file to write. Classification: node, label, probability, and label2, probability2, "
           "... with --top-k; with several labels per node also labels, which lists all labels "
           "above their thresholds. Regression: node and one column per target. Models of links: "
           "source and target in place of node, and a score if links are predicted")
      .required();
  lase::OptionTable<lase::PredictionColumns> columns;
  columns.add("top_k", &lase::PredictionColumns::top_k, lase::between(1, 1'000'000),
              "Number of most probable classes to list per node (not for regression)");
  columns.add("probabilities", &lase::PredictionColumns::probabilities, lase::any(),
              "Also write the probability of every class, in columns probability_CLASS");
  table.include(columns, &Options::columns);
  table.add("top", &Options::top, lase::between(0, 1'000'000),
            "Link prediction: write the nodes most likely to be linked to each node, this many, "
            "and not linked to it yet (0 = write the scores of the graph's target links)");
  table.add("relation", &Options::relation, lase::any(),
            "Link prediction: relation of the links that --top predicts, if links have relations");
  auto options = std::make_shared<Options>();
  CLI::App* command = session.add_command(
      app, "predict", command_summary("predict"),
      [options, &app, &session] {
        require_distinct_files({options->files.model, options->files.graph},
                               {options->out, options->report});
        if (lase::is_partitioned(options->files.graph)) {
          lase::require_option(options->top == 0 && options->relation.empty(),
                               "--top and --relation: the model does not predict links");
          return predict_parts(app, *options, session);
        }
        const ModelAndGraph opened = open_model_and_graph(options->files, session);
        require_classes(app, opened.trained);
        if (is_link_model(opened.trained)) {
          nlohmann::json result = predict_links(*options, opened, session);
          if (!options->report.empty()) {
            write_report({.path = options->report,
                          .graph_path = options->files.graph,
                          .command = session.line()},
                         opened.graph, run_of_model(opened.trained), session);
          }
          return result;
        }
        lase::require_option(options->top == 0 && options->relation.empty(),
                             "--top and --relation: the model does not predict links");
        const TimedPredictions timed = timed_predictions(options->files, opened);
        lase::write_predictions(opened.trained, opened.graph, timed.predictions, options->columns,
                                options->out);
        session.out() << opened.graph.node_count() << " nodes written to " << options->out << "\n";
        if (!options->report.empty()) {
          write_report({.path = options->report,
                        .graph_path = options->files.graph,
                        .command = session.line()},
                       opened.graph,
                       run_of_model(opened.trained, opened.graph, timed.predictions.outputs),
                       session);
        }
        return nlohmann::json{{"nodes", opened.graph.node_count()},
                              {"out", options->out},
                              {"seconds", timed.seconds},
                              {"links_per_second", timed.links_per_second}};
      },
      Processes::kTogether);
  add_flags(*command, model_files_table().bind(options->files));
  add_flags(*command, table.bind(*options));
  add_flags(*command, lase::device_option_table().bind(options->files.device));
  command->add_option("--report", options->report,
                      "HTML report to write, as in lase train --report, for this graph");
  command->footer(
      "Examples:\n"
      "  lase predict mail.model mail.graph --out predictions.csv\n"
      "  lase predict mail.model new.graph --top-k 3 --out predictions.csv");
}

void add_embed(CLI::App& app, Session& session) {
  struct Options {
    ModelFiles files;
    std::string out;
  };
  auto options = std::make_shared<Options>();
  const auto embedded = [options, &session](int64_t nodes, int64_t width, const auto& timed) {
    session.out() << nodes << " embeddings of width " << width << " written to " << options->out
                  << "\n";
    return nlohmann::json{{"nodes", nodes},
                          {"width", width},
                          {"out", options->out},
                          {"seconds", timed.seconds},
                          {"links_per_second", timed.links_per_second}};
  };
  CLI::App* command = session.add_command(
      app, "embed", command_summary("embed"),
      [options, embedded, &session] {
        require_distinct_files({options->files.model, options->files.graph}, {options->out});
        if (lase::is_partitioned(options->files.graph)) {
          const ModelAndParts opened = open_model_and_parts(options->files);
          const TimedParts timed = timed_predictions(opened, lase::Keep::kEmbedding);
          timed.predictor.write_embeddings(options->out);
          return embedded(opened.graph.node_count(), timed.predictor.width(), timed);
        }
        const ModelAndGraph opened = open_model_and_graph(options->files, session);
        if (is_link_model(opened.trained)) {
          const lase::LinkPredictor predictor(opened.trained, opened.graph, options->files.graph,
                                              options->files.device);
          const at::Tensor embedding = predictor.embedding();
          lase::write_embeddings(opened.graph, embedding, options->out);
          session.out() << opened.graph.node_count() << " embeddings of width " << embedding.size(1)
                        << " written to " << options->out << "\n";
          return nlohmann::json{{"nodes", opened.graph.node_count()},
                                {"width", embedding.size(1)},
                                {"out", options->out}};
        }
        const TimedPredictions timed = timed_predictions(options->files, opened);
        lase::write_embeddings(opened.graph, timed.predictions.embedding, options->out);
        return embedded(opened.graph.node_count(), timed.predictions.embedding.size(1), timed);
      },
      Processes::kTogether);
  add_flags(*command, model_files_table().bind(options->files));
  add_flags(*command, lase::device_option_table().bind(options->files.device));
  command->add_option("--out", options->out, "File to write: .npy, or CSV with node names")
      ->required();
  command->footer(
      "Examples:\n"
      "  lase embed mail.model mail.graph --out embeddings.npy\n"
      "  lase embed mail.model new.graph --fanout 10,10 --out embeddings.csv");
}
