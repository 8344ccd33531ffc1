#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/format.h"
#include "lase/embed/features.h"
#include "lase/graph/graph.h"
#include "lase/inference/explain.h"
#include "lase/inference/metrics.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/model/model.h"
#include "lase/model/model_file.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/paths.h"
#include "report/explanation.h"

namespace {

// A model and a graph with the inputs that it expects.
struct Pair {
  lase::TrainedModel trained;
  lase::Graph graph;
};

struct Files {
  std::string model;
  std::string graph;
  std::vector<int64_t> fanout = {lase::kWholeNeighborhood};
  uint64_t seed = 1;
};

const lase::OptionTable<Files>& files_table() {
  static const auto table = [] {
    lase::OptionTable<Files> all;
    all.add("model", &Files::model, lase::any(), "Model file").required().positional();
    all.add("graph", &Files::graph, lase::any(), "Graph file").required().positional();
    all.add(
        "fanout", &Files::fanout, lase::fanout(),
        "Number of neighbors to sample in each layer, such as 5,10, in the order of the layers, "
        "or all for exact inference");
    all.add("seed", &Files::seed, lase::any(), "Random seed for sampling");
    return all;
  }();
  return table;
}

// Learned features belong to nodes by name; those of other nodes are less useful.
void show_known_nodes(const Pair& pair, const Session& session) {
  if (!pair.trained.learned.present()) return;
  const int64_t nodes = pair.graph.node_count();
  const int64_t known = lase::known_nodes(pair.trained.learned, pair.graph.nodes.names);
  session.out() << "learned features " << lase::grouped(known) << " of " << lase::grouped(nodes)
                << " nodes known\n";
  if (2 * known >= nodes) return;
  std::cerr << "lase: warning: " << lase::grouped(known) << " of " << lase::grouped(nodes)
            << " nodes are known to the learned features of the model, by their ids; the features "
               "of the others are learned from their links and fit less well. Check that the ids "
               "are those of the training graph, or train a model without --features\n";
}

Pair open_pair(const Files& files, const Session& session) {
  Pair pair;
  pair.trained = lase::load_model(files.model);
  pair.graph = lase::load_graph(files.graph);
  show_known_nodes(pair, session);
  pair.graph = lase::prepare_graph(pair.trained, std::move(pair.graph), files.graph);
  return pair;
}

struct Timed {
  lase::Predictions predictions;
  double seconds = 0;
  double links_per_second = 0;
};

Timed predict(const Files& files, const Pair& pair) {
  const auto start = std::chrono::steady_clock::now();
  const bool whole = files.fanout == std::vector<int64_t>{lase::kWholeNeighborhood};
  Timed timed;
  timed.predictions = lase::predict(pair.trained, pair.graph,
                                    whole ? std::span<const int64_t>() : files.fanout, files.seed);
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  timed.links_per_second =
      static_cast<double>(pair.graph.arc_count() * pair.trained.model->block_count()) /
      timed.seconds;
  return timed;
}

void add_files(CLI::App& command, Files& files) { add_flags(command, files_table().bind(files)); }

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
                     const std::string& path) {
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
}

void print_scores(const lase::Scores& scores, const lase::Objective& objective, std::ostream& out) {
  const lase::StringTable& names = objective.labels().names;
  for (const auto& metric : objective.metrics(scores)) {
    out << fmt::format("{:<17}{:.4f}\n", metric.title, metric.value);
  }
  if (scores.classes.empty()) return;
  out << fmt::format("\n{:<20}  precision  recall      F1  nodes\n", "class");
  for (size_t c = 0; c < scores.classes.size(); ++c) {
    const auto& of_class = scores.classes[c];
    if (of_class.support() + of_class.false_positives == 0) continue;
    out << fmt::format("{:<20}{:11.3f}{:8.3f}{:8.3f}{:7}\n", names[static_cast<int64_t>(c)],
                       of_class.precision(), of_class.recall(), of_class.f1(), of_class.support());
  }
}

nlohmann::json run_evaluate(const Files& files, const std::string& split,
                            const std::string& confusion, const Session& session) {
  require_distinct_files({files.model, files.graph}, {confusion});
  const Pair pair = open_pair(files, session);
  lase::require(pair.graph.nodes.labels.classes() > 0, files.graph,
                ": has no labels to evaluate against");
  const auto nodes = nodes_of(pair.graph, split);
  lase::require(!nodes.empty(), files.graph, ": has no labeled nodes in split ",
                lase::quote(split));
  const auto objective = lase::make_objective(lase::labels_as_trained(pair.trained, pair.graph));
  const lase::Labels& labels = objective->labels();
  const Timed timed = predict(files, pair);
  const lase::Scores scores = objective->score(timed.predictions.outputs, nodes);
  session.out() << "nodes            " << nodes.size() << " in split " << split << "\n";
  print_scores(scores, *objective, session.out());
  if (!confusion.empty()) {
    lase::require(!scores.confusion.empty(),
                  "--confusion: only single-label tasks have a confusion matrix");
    write_confusion(scores, labels.names, confusion);
    session.out() << "written          " << confusion << "\n";
  }
  nlohmann::json classes = nlohmann::json::array();
  for (size_t c = 0; c < scores.classes.size(); ++c) {
    const auto& of_class = scores.classes[c];
    classes.push_back({{"class", std::string(labels.names[static_cast<int64_t>(c)])},
                       {"precision", of_class.precision()},
                       {"recall", of_class.recall()},
                       {"f1", of_class.f1()},
                       {"nodes", of_class.support()}});
  }
  nlohmann::json confused = nlohmann::json::array();
  for (const auto& [classes_of, count] : scores.confusion) {
    confused.push_back({{"label", labels.names[classes_of.first]},
                        {"predicted", labels.names[classes_of.second]},
                        {"nodes", count}});
  }
  const auto& training = pair.trained.training;
  nlohmann::json result = {{"split", split},
                           {"nodes", nodes.size()},
                           {"classes", classes},
                           {"confusion", confused},
                           {"epochs", training.value("epochs", 0)},
                           {"best_epoch", training.value("best_epoch", 0)},
                           {"seconds", timed.seconds},
                           {"links_per_second", timed.links_per_second}};
  for (const auto& metric : objective->metrics(scores)) result[metric.key] = metric.value;
  return result;
}

struct ExplainFlags {
  std::string node;
  std::string of_class;
  lase::ExplainOptions options;
  std::string svg;
};

const lase::OptionTable<lase::ExplainOptions>& explain_table() {
  static const auto table = [] {
    using O = lase::ExplainOptions;
    lase::OptionTable<O> all;
    all.add("neighbors", &O::neighbors, lase::between(1, 1'000'000),
            "Number of neighbors to show per layer");
    all.add("attributes", &O::attributes, lase::between(0, 1'000'000),
            "Number of attributes to show per neighbor");
    return all;
  }();
  return table;
}

nlohmann::json run_explain(const Files& files, const ExplainFlags& flags, const Session& session) {
  require_distinct_files({files.model, files.graph}, {flags.svg});
  const Pair pair = open_pair(files, session);
  auto options = flags.options;
  const auto find = [](const lase::StringTable& names, const std::string& name) -> int64_t {
    for (int64_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return i;
    }
    return -1;
  };
  options.node = find(pair.graph.nodes.names, flags.node);
  lase::require(options.node >= 0, files.graph, ": has no node ", lase::quote(flags.node));
  if (!flags.of_class.empty()) {
    options.output = find(pair.trained.label_names, flags.of_class);
    lase::require(options.output >= 0, files.model, ": has no class or regression target ",
                  lase::quote(flags.of_class));
  }
  const auto explanation = lase::explain(pair.trained, pair.graph, options);
  std::optional<double> target;
  if (pair.trained.task == lase::Task::kRegression) {
    const int64_t output = std::max<int64_t>(0, options.output);
    target = pair.trained.target_mean[output].item<double>() +
             explanation.score / pair.trained.target_scale[output].item<double>();
  }
  session.out() << lase::explanation_text(explanation, target);
  if (!flags.svg.empty()) {
    lase::write_file(flags.svg, lase::explanation_svg(explanation, target));
    session.out() << "\nwritten          " << flags.svg << "\n";
  }
  return lase::explanation_json(explanation);
}

}  // namespace

void add_evaluate(CLI::App& app, Session& session) {
  struct Options {
    Files files;
    std::string split = "test";
    std::string confusion;
  };
  lase::OptionTable<Options> table;
  table.add("split", &Options::split, lase::one_of({"train", "val", "test", "none", "all"}),
            "Split to evaluate");
  auto options = std::make_shared<Options>();
  CLI::App* command =
      session.add_command(app, "evaluate", command_summary("evaluate"), [options, &session] {
        return run_evaluate(options->files, options->split, options->confusion, session);
      });
  add_files(*command, options->files);
  add_flags(*command, table.bind(*options));
  command->add_option("--confusion", options->confusion,
                      "CSV file to write the confusion matrix to");
  command->footer(
      "Examples:\n"
      "  lase evaluate mail.model mail.graph\n"
      "  lase evaluate mail.model mail.graph --split val --confusion confusion.csv");
}

void add_predict(CLI::App& app, Session& session) {
  struct Options {
    Files files;
    std::string out;
    int64_t top_k = 1;
  };
  lase::OptionTable<Options> table;
  table
      .add("out", &Options::out, lase::any(),
           "CSV file to write. Classification: node, label, probability, and label2, probability2, "
           "... with --top-k. Regression: node and one column per target")
      .required();
  table.add("top_k", &Options::top_k, lase::between(1, 1'000'000),
            "Number of most probable classes to list per node (not for regression)");
  auto options = std::make_shared<Options>();
  CLI::App* command =
      session.add_command(app, "predict", command_summary("predict"), [options, &app, &session] {
        require_distinct_files({options->files.model, options->files.graph}, {options->out});
        const Pair pair = open_pair(options->files, session);
        const bool ranks = app.get_subcommand("predict")->count("--top-k") > 0;
        lase::require(!ranks || pair.trained.task != lase::Task::kRegression,
                      "--top-k: the model predicts numbers, not classes");
        const Timed timed = predict(options->files, pair);
        lase::write_predictions(pair.trained, pair.graph, timed.predictions, options->top_k,
                                options->out);
        session.out() << pair.graph.node_count() << " nodes written to " << options->out << "\n";
        return nlohmann::json{{"nodes", pair.graph.node_count()},
                              {"out", options->out},
                              {"seconds", timed.seconds},
                              {"links_per_second", timed.links_per_second}};
      });
  add_files(*command, options->files);
  add_flags(*command, table.bind(*options));
  command->footer(
      "Examples:\n"
      "  lase predict mail.model mail.graph --out predictions.csv\n"
      "  lase predict mail.model new.graph --top-k 3 --out predictions.csv");
}

void add_embed(CLI::App& app, Session& session) {
  struct Options {
    Files files;
    std::string out;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command =
      session.add_command(app, "embed", command_summary("embed"), [options, &session] {
        require_distinct_files({options->files.model, options->files.graph}, {options->out});
        const Pair pair = open_pair(options->files, session);
        const Timed timed = predict(options->files, pair);
        lase::write_embeddings(pair.graph, timed.predictions.embedding, options->out);
        const int64_t width = timed.predictions.embedding.size(1);
        session.out() << pair.graph.node_count() << " embeddings of width " << width
                      << " written to " << options->out << "\n";
        return nlohmann::json{{"nodes", pair.graph.node_count()},
                              {"width", width},
                              {"out", options->out},
                              {"seconds", timed.seconds},
                              {"links_per_second", timed.links_per_second}};
      });
  add_files(*command, options->files);
  command->add_option("--out", options->out, "File to write: .npy, or CSV with node names")
      ->required();
  command->footer(
      "Examples:\n"
      "  lase embed mail.model mail.graph --out embeddings.npy\n"
      "  lase embed mail.model new.graph --fanout 10,10 --out embeddings.csv");
}

void add_explain(CLI::App& app, Session& session) {
  struct Options {
    Files files;
    ExplainFlags flags;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = session.add_command(
      app, "explain", command_summary("explain"),
      [options, &session] { return run_explain(options->files, options->flags, session); });
  add_flags(*command, without(files_table().bind(options->files), {"fanout", "seed"}));
  command->add_option("--node", options->flags.node, "Name of the node to explain")->required();
  command->add_option(
      "--class", options->flags.of_class,
      "Class or regression target to explain (default: the predicted class, or the first target)");
  add_flags(*command, explain_table().bind(options->flags.options));
  command->add_option("--svg", options->flags.svg, "SVG file to write the explanation to");
  command->footer(
      "Examples:\n"
      "  lase explain mail.model mail.graph --node p0001\n"
      "  lase explain mail.model mail.graph --node p0001 --class design --svg p0001.svg");
}
