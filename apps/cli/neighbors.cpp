#include <fmt/format.h>
#include <memory>
#include <string>

#include "lase/inference/nearest.h"
#include "lase/inference/predict.h"

#include "cli/model_and_graph.h"
#include "cli/option_flags.h"
#include "cli/program.h"

namespace {

struct NeighborsOptions {
  ModelFiles files;
  std::string node;
  int64_t count = 10;
};

const lase::OptionTable<NeighborsOptions>& neighbors_table() {
  static const auto table = [] {
    using O = NeighborsOptions;
    lase::OptionTable<O> all;
    all.include(model_files_table(), &O::files);
    all.add("node", &O::node, lase::any(), "Name of the node").required();
    all.add("count", &O::count, lase::between(1, 1'000'000), "Number of nodes to list");
    return all;
  }();
  return table;
}

std::string label_of(const lase::Graph& graph, int64_t node) {
  const lase::Labels& labels = graph.nodes.labels;
  const bool known = labels.task == lase::Task::kSingleLabel && labels.known(node);
  return known ? std::string(labels.names[labels.label[node]]) : "";
}

nlohmann::json run_neighbors(const NeighborsOptions& options, const Session& session) {
  const ModelAndGraph opened = open_model_and_graph(options.files, session);
  const lase::Graph& graph = opened.graph;
  const int64_t node = node_named(graph, options.node, options.files.graph);
  const auto timed = timed_predictions(options.files, opened);
  auto& out = session.out();
  out << fmt::format("{:<20}  similarity  label\n", "node");
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [other, similarity] :
       lase::nearest_nodes(timed.predictions.embedding, node, options.count)) {
    const std::string name(graph.nodes.names[other]);
    const std::string label = label_of(graph, other);
    out << fmt::format("{:<20}  {:10.4f}  {}\n", name, similarity, label);
    list.push_back({{"node", name}, {"similarity", similarity}, {"label", label}});
  }
  return {{"node", options.node}, {"label", label_of(graph, node)}, {"neighbors", list}};
}

}  // namespace

void add_neighbors(CLI::App& app, Session& session) {
  auto options = std::make_shared<NeighborsOptions>();
  CLI::App* command =
      session.add_command(app, "neighbors", command_summary("neighbors"),
                          [options, &session] { return run_neighbors(*options, session); });
  add_flags(*command, neighbors_table().bind(*options));
  command->footer(
      "Compares the embeddings that the model computes, by their cosine.\n\n"
      "Example:\n"
      "  lase neighbors mail.model mail.graph --node p0001 --count 5");
}
