#include "cli/model_and_graph.h"

#include <chrono>
#include <iostream>

#include "lase/base/error.h"
#include "lase/base/format.h"
#include "lase/embed/features.h"
#include "lase/inference/link_task.h"
#include "lase/model/model.h"

const lase::OptionTable<ModelFiles>& model_files_table() {
  static const auto table = [] {
    using O = ModelFiles;
    lase::OptionTable<O> all;
    all.add("model", &O::model, lase::any(), "Model file").required().positional();
    all.add("graph", &O::graph, lase::any(), "Graph file").required().positional();
    all.add(
        "fanout", &O::fanout, lase::fanout(),
        "Number of neighbors to sample in each layer, such as 5,10, in the order of the layers, "
        "or all for exact inference");
    all.add("seed", &O::seed, lase::any(), "Random seed for sampling");
    return all;
  }();
  return table;
}

namespace {

// Learned features belong to nodes by name; those of other nodes are less useful.
void show_known_nodes(const ModelAndGraph& opened, const Session& session) {
  if (!opened.trained.learned.present()) return;
  const int64_t nodes = opened.graph.node_count();
  const int64_t known = lase::known_nodes(opened.trained.learned, opened.graph.nodes.names);
  session.out() << "learned features " << lase::grouped(known) << " of " << lase::grouped(nodes)
                << " nodes known\n";
  if (2 * known >= nodes) return;
  std::cerr << "lase: warning: " << lase::grouped(known) << " of " << lase::grouped(nodes)
            << " nodes are known to the learned features of the model, by their ids; the features "
               "of the others are learned from their links and fit less well. Check that the ids "
               "are those of the training graph, or train a model with --features none\n";
}

}  // namespace

ModelAndGraph open_model_and_graph(const ModelFiles& files, const Session& session) {
  ModelAndGraph opened{lase::load_model(files.model), lase::load_graph(files.graph)};
  if (is_link_model(opened.trained)) {
    const bool whole = files.fanout == std::vector<int64_t>{lase::kWholeNeighborhood};
    lase::require_option(whole, lase::OptionName{"fanout"},
                         ": not supported by models of links, which use whole neighborhoods");
  } else {
    opened.graph = lase::prepare_graph(opened.trained, std::move(opened.graph), files.graph);
  }
  show_known_nodes(opened, session);
  return opened;
}

bool is_link_model(const lase::TrainedModel& trained) {
  return lase::predicts_links(trained.predicts);
}

void require_node_model(const ModelAndGraph& opened, const std::string& command) {
  lase::require(!is_link_model(opened.trained), command,
                ": not supported by a model of links, only by a model of nodes");
}

void require_targets(const lase::Graph& graph, lase::Predicts predicts, const std::string& path) {
  const bool labeled = graph.nodes.labels.task != lase::Task::kNone || graph.targets.size() > 0;
  lase::require(labeled || predicts != lase::Predicts::kAuto, path,
                ": has no labels; import it with --label, --multi-label, --regress or "
                "--link-label, or set --task to link-prediction or embedding");
}

TimedPredictions timed_predictions(const ModelFiles& files, const ModelAndGraph& opened) {
  const auto start = std::chrono::steady_clock::now();
  const bool whole = files.fanout == std::vector<int64_t>{lase::kWholeNeighborhood};
  TimedPredictions timed;
  timed.predictions = lase::predict(opened.trained, opened.graph,
                                    {.fanout = whole ? std::vector<int64_t>() : files.fanout,
                                     .seed = files.seed,
                                     .device = files.device});
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  timed.links_per_second =
      static_cast<double>(opened.graph.arc_count() * opened.trained.model->block_count()) /
      timed.seconds;
  return timed;
}

int64_t node_named(const lase::Graph& graph, const std::string& name, const std::string& path) {
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (graph.nodes.names[u] == name) return u;
  }
  lase::fail(path, ": has no node ", lase::quote(name));
}
