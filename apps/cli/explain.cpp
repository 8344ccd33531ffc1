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
#include "lase/inference/explain_link.h"

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
  std::string source;
  std::string target;
  int64_t row = -1;
  std::string relation;
  std::string of_class;

  bool names_link() const {
    return !source.empty() || !target.empty() || row != -1 || !relation.empty();
  }
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
  lase::require_option(
      flags.nodes.empty() && !flags.names_link() && flags.of_class.empty(),
      lase::OptionName{"summary"},
      ": is for all validation nodes; omit --node, --source, --target and --class");
  const auto& table = explain_table();
  lase::require_option(table.to_json(flags.options) == table.to_json({}),
                       lase::OptionName{"summary"},
                       ": omit --neighbors, --attributes and --features, which are for one node");
  for (const auto& path : {flags.csv, flags.svg}) {
    if (!path.empty()) lase::AtomicFile probe(path);
  }
  const ModelAndGraph opened = open_model_and_graph(files, session);
  require_node_model(opened, "lase explain --summary");
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

// The number of the output named by --class; −1: not given.
int64_t output_to_explain(const lase::TrainedModel& trained, const ExplainFlags& flags,
                          const std::string& path) {
  if (flags.of_class.empty()) return -1;
  const auto& names = trained.label_names;
  lase::require_option(names.size() > 0, "--class: the model predicts links, without classes");
  std::string known;
  for (int64_t c = 0; c < names.size(); ++c) {
    if (names[c] == flags.of_class) return c;
    if (c < 20) known += lase::join(known.empty() ? "" : ", ", names[c]);
  }
  lase::fail(path, ": has no class or regression target ", lase::quote(flags.of_class), "; it has ",
             known, names.size() > 20 ? ", ..." : "");
}

nlohmann::json explain_one_link(const ModelFiles& files, const ExplainFlags& flags,
                                const ModelAndGraph& opened, const Session& session) {
  lase::require_option(flags.nodes.empty(),
                       "--node: the model predicts links; use --source and --target");
  lase::require_option(flags.source.empty() == flags.target.empty(),
                       "--source and --target: both nodes of the link are required");
  lase::require_option(flags.row >= -1, "--row ", flags.row, ": must be at least 0");
  lase::require_option(!flags.source.empty() || flags.row >= 0,
                       "--source and --target, or --row, are required for a model of links");
  lase::ExplainLinkOptions options{
      .row = flags.row, .relation = flags.relation, .shown = flags.options};
  options.shown.output = output_to_explain(opened.trained, flags, files.model);
  if (!flags.source.empty()) {
    options.source = node_named(opened.graph, flags.source, files.graph);
    options.target = node_named(opened.graph, flags.target, files.graph);
  }
  const auto explanation = lase::explain_link(opened.trained, opened.graph, files.graph, options);
  const auto target = lase::target_of(opened.trained, explanation.source);
  session.out() << lase::explanation_text(explanation, target);
  if (!flags.svg.empty()) {
    lase::write_file(flags.svg, lase::explanation_svg(explanation, target));
    session.out() << "\nwritten          " << flags.svg << "\n";
  }
  return lase::explanation_json(explanation);
}

nlohmann::json run_explain(const ModelFiles& files, const ExplainFlags& flags,
                           const Session& session) {
  require_distinct_files({files.model, files.graph}, {flags.csv, flags.svg});
  if (flags.summary) return run_summary(files, flags, session);
  lase::require_option(!flags.nodes.empty() || flags.names_link(),
                       "--node or --summary is required, or --source and --target for a model of "
                       "links");
  lase::require_option(flags.csv.empty(), lase::OptionName{"csv"}, ": requires --summary");
  lase::require_option(flags.examine == ExplainFlags().examine, lase::OptionName{"examine"},
                       ": requires --summary");
  const ModelAndGraph opened = open_model_and_graph(files, session);
  if (is_link_model(opened.trained)) return explain_one_link(files, flags, opened, session);
  lase::require_option(!flags.names_link(),
                       "--source, --target, --row and --relation: the model predicts labels of "
                       "nodes; use --node");
  const lase::TrainedModel& trained = opened.trained;
  auto options = flags.options;
  options.output = output_to_explain(trained, flags, files.model);
  const auto nodes = nodes_to_explain(opened.graph, flags, files.graph);
  lase::require_option(flags.svg.empty() || nodes.size() == 1, lase::OptionName{"svg"},
                       ": shows one node; explain one at a time");
  nlohmann::json all = nlohmann::json::array();
  for (const int64_t node : nodes) {
    options.node = node;
    const auto explanation = lase::explain(trained, opened.graph, options);
    const auto target = lase::target_of(trained, explanation);
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
  command->add_option("--source", options->flags.source,
                      "Model of links: name of the source node of the link to explain");
  command->add_option("--target", options->flags.target, "Model of links: name of the target node");
  command->add_option(
      "--row", options->flags.row,
      "Model of links: row of the predictions of lase predict, from 0, if there are "
      "several links between the nodes (default: the first one)");
  command->add_option("--relation", options->flags.relation,
                      "Model of links: relation of the link, if links have relations");
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
      "  lase explain mail.model mail.graph --summary --svg attributes.svg\n"
      "  lase explain links.model mail.graph --source p0001 --target p0017");
}
