#include "lase/inference/explain.h"

#include <algorithm>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/format.h"

#include "cli/model_and_graph.h"
#include "cli/option_flags.h"
#include "cli/program.h"
#include "common/paths.h"
#include "report/explanation.h"

namespace {

struct ExplainFlags {
  std::vector<std::string> nodes;
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
    all.add("features", &O::features, lase::between(0, 1'000'000),
            "Number of features of the node to show");
    return all;
  }();
  return table;
}

// The nodes to explain: each argument is a name, or several names separated by commas.
std::vector<int64_t> nodes_to_explain(const lase::Graph& graph, const ExplainFlags& flags,
                                      const std::string& path) {
  std::vector<int64_t> nodes;
  for (const auto& text : flags.nodes) {
    const auto& names = graph.nodes.names;
    const bool whole = [&] {
      for (int64_t u = 0; u < names.size(); ++u) {
        if (names[u] == text) return true;
      }
      return false;
    }();
    if (whole) {
      nodes.push_back(node_named(graph, text, path));
      continue;
    }
    std::istringstream parts(text);
    for (std::string name; std::getline(parts, name, ',');) {
      nodes.push_back(node_named(graph, name, path));
    }
  }
  return nodes;
}

nlohmann::json run_explain(const ModelFiles& files, const ExplainFlags& flags,
                           const Session& session) {
  require_distinct_files({files.model, files.graph}, {flags.svg});
  const ModelAndGraph opened = open_model_and_graph(files, session);
  const lase::TrainedModel& trained = opened.trained;
  auto options = flags.options;
  if (!flags.of_class.empty()) {
    const auto& names = trained.label_names;
    for (int64_t c = 0; c < names.size(); ++c) {
      if (names[c] == flags.of_class) options.output = c;
    }
    std::string known;
    for (int64_t c = 0; c < std::min<int64_t>(names.size(), 20); ++c) {
      known += lase::join(known.empty() ? "" : ", ", names[c]);
    }
    lase::require(options.output >= 0, files.model, ": has no class or regression target ",
                  lase::quote(flags.of_class), "; it has ", known,
                  names.size() > 20 ? ", ..." : "");
  }
  const auto nodes = nodes_to_explain(opened.graph, flags, files.graph);
  lase::require_option(flags.svg.empty() || nodes.size() == 1, lase::OptionName{"svg"},
                       ": shows one node; explain one at a time");
  nlohmann::json all = nlohmann::json::array();
  for (const int64_t node : nodes) {
    options.node = node;
    const auto explanation = lase::explain(trained, opened.graph, options);
    std::optional<double> target;
    if (trained.task == lase::Task::kRegression) {
      const int64_t output = std::max<int64_t>(0, options.output);
      target = trained.target_mean[output].item<double>() +
               explanation.score / trained.target_scale[output].item<double>();
    }
    session.out() << (all.empty() ? "" : "\n") << lase::explanation_text(explanation, target);
    if (!flags.svg.empty()) {
      lase::write_file(flags.svg, lase::explanation_svg(explanation, target));
      session.out() << "\nwritten          " << flags.svg << "\n";
    }
    all.push_back(lase::explanation_json(explanation));
  }
  if (all.size() == 1) return all[0];
  return {{"explanations", all}};
}

}  // namespace

void add_explain(CLI::App& app, Session& session) {
  struct Options {
    ModelFiles files;
    ExplainFlags flags;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = session.add_command(
      app, "explain", command_summary("explain"),
      [options, &session] { return run_explain(options->files, options->flags, session); });
  add_flags(*command, without(model_files_table().bind(options->files), {"fanout", "seed"}));
  command
      ->add_option("--node", options->flags.nodes,
                   "Name of the node to explain, or several names as A,B,C")
      ->required()
      ->allow_extra_args(false);
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
