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
#include "lase/inference/attribute_effects.h"

#include "cli/model_and_graph.h"
#include "cli/option_flags.h"
#include "cli/program.h"
#include "common/interrupt.h"
#include "common/paths.h"
#include "experiments/attribute_effects.h"
#include "report/explanation.h"

namespace {

struct ExplainFlags {
  std::vector<std::string> nodes;
  std::string of_class;
  lase::ExplainOptions options;
  bool summary = false;
  int64_t examine = 50;
  std::string csv;
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

const lase::OptionTable<ExplainFlags>& summary_table() {
  static const auto table = [] {
    using O = ExplainFlags;
    lase::OptionTable<O> all;
    all.add("summary", &O::summary, lase::any(),
            "Instead of a node, summarize the effect of each link attribute on the validation "
            "nodes, or on all labeled nodes if there are none: how their scores change if it is "
            "replaced on all links by its training mean");
    all.add("examine", &O::examine, lase::between(1, 1'000'000),
            "Maximum number of attributes to examine for the summary, those on most links first");
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

struct ChosenNodes {
  std::vector<int64_t> nodes;
  std::string name;
};

// Validation nodes with a label; all labeled nodes if there are none.
ChosenNodes nodes_to_summarize(const lase::Graph& graph, const std::string& path) {
  std::vector<int64_t> labeled;
  std::vector<int64_t> validation;
  const auto val = static_cast<uint8_t>(lase::Split::kVal);
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (!graph.nodes.labels.known(u)) continue;
    labeled.push_back(u);
    if (!graph.nodes.split.empty() && graph.nodes.split[u] == val) validation.push_back(u);
  }
  lase::require(!labeled.empty(), path, ": has no labeled nodes to summarize the effects for");
  if (validation.empty()) return {labeled, "labeled nodes"};
  return {validation, "validation nodes"};
}

nlohmann::json run_summary(const ModelFiles& files, const ExplainFlags& flags,
                           const Session& session) {
  lase::require_option(flags.nodes.empty() && flags.of_class.empty(), lase::OptionName{"summary"},
                       ": is for all validation nodes; omit --node and --class");
  const auto& table = explain_table();
  lase::require_option(table.to_json(flags.options) == table.to_json({}),
                       lase::OptionName{"summary"},
                       ": omit --neighbors, --attributes and --features, which are for one node");
  for (const auto& path : {flags.csv, flags.svg}) {
    if (!path.empty()) lase::AtomicFile probe(path);
  }
  const ModelAndGraph opened = open_model_and_graph(files, session);
  require_node_model(opened, "lase explain");
  const auto [nodes, name] = nodes_to_summarize(opened.graph, files.graph);
  const Interruptible interruptible;
  const auto effects = lase::attribute_effects(
      opened.trained, opened.graph, nodes,
      {.most = flags.examine, .progress = [](int64_t, int64_t) { return !interrupted().load(); }});
  session.out() << lase::attribute_effects_text(effects, name);
  if (!flags.csv.empty()) {
    lase::write_file(flags.csv, lase::attribute_effects_table(effects).csv());
    session.out() << "written          " << flags.csv << "\n";
  }
  if (!flags.svg.empty()) {
    lase::write_file(flags.svg, lase::attribute_effects_svg(effects));
    session.out() << "written          " << flags.svg << "\n";
  }
  return lase::attribute_effects_json(effects);
}

nlohmann::json run_explain(const ModelFiles& files, const ExplainFlags& flags,
                           const Session& session) {
  require_distinct_files({files.model, files.graph}, {flags.csv, flags.svg});
  if (flags.summary) return run_summary(files, flags, session);
  lase::require_option(!flags.nodes.empty(), "--node or --summary is required");
  lase::require_option(flags.csv.empty(), lase::OptionName{"csv"}, ": requires --summary");
  lase::require_option(flags.examine == ExplainFlags().examine, lase::OptionName{"examine"},
                       ": requires --summary");
  const ModelAndGraph opened = open_model_and_graph(files, session);
  require_node_model(opened, "lase explain");
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
      ->allow_extra_args(false);

  command->add_option(
      "--class", options->flags.of_class,
      "Class or regression target to explain (default: the predicted class, or the first target)");
  add_flags(*command, explain_table().bind(options->flags.options));
  add_flags(*command, summary_table().bind(options->flags));
  command->add_option("--csv", options->flags.csv, "CSV file to write the summary to");
  command->add_option("--svg", options->flags.svg,
                      "SVG file to write the explanation or the summary to");
  command->footer(
      "Examples:\n"
      "  lase explain mail.model mail.graph --node p0001\n"
      "  lase explain mail.model mail.graph --node p0001 --class design --svg p0001.svg\n"
      "  lase explain mail.model mail.graph --summary --svg attributes.svg");
}
