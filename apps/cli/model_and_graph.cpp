#include "cli/model_and_graph.h"

#include <chrono>
#include <iostream>
#include <span>

#include "lase/base/checksum.h"
#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/format.h"
#include "lase/base/process_group.h"
#include "lase/embed/features.h"
#include "lase/inference/link_task.h"
#include "lase/model/model.h"
#include "lase/ops/same_processes.h"

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

// Several processes compute different rows of one result.
void require_same_files(const std::string& graph, const ModelFiles& files) {
  if (lase::current_processes() == nullptr) return;
  const std::string model = lase::read_file(files.model);
  lase::ops::require_same_processes(
      {{"graph", graph},
       {"model", lase::checksum_text(lase::checksum(std::as_bytes(std::span(model))))},
       {"fan-out", files.fanout},
       {"seed", files.seed}},
      "predict together");
}

bool is_whole(const std::vector<int64_t>& fanout) {
  return fanout == std::vector<int64_t>{lase::kWholeNeighborhood};
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

ModelAndGraph open_model_and_graph(const ModelFiles& files, const Session& session) {
  ModelAndGraph opened{lase::load_model(files.model), lase::load_graph(files.graph)};
  require_same_files(lase::fingerprint(opened.graph), files);
  if (is_link_model(opened.trained)) {
    lase::require_option(is_whole(files.fanout), lase::OptionName{"fanout"},
                         ": not supported by models of links, which use whole neighborhoods");
  } else {
    opened.graph = lase::prepare_graph(opened.trained, std::move(opened.graph), files.graph);
  }
  show_known_nodes(opened, session);
  return opened;
}

ModelAndParts open_model_and_parts(const ModelFiles& files, const std::string& report) {
  const auto require_supported = [](bool supported, const std::string& option,
                                    const std::string& reason) {
    lase::require_option(supported, lase::OptionName{option},
                         ": not supported for partitioned graphs", reason);
  };
  require_supported(is_whole(files.fanout), "fanout", ", which are predicted exactly");
  require_supported(files.device.device != lase::DeviceChoice::kCuda, "device",
                    ", which are predicted on the CPU");
  require_supported(report.empty(), "report", "");
  ModelAndParts opened{lase::load_model(files.model), lase::DividedGraph(files.graph)};
  require_same_files(lase::fingerprint(opened.graph.whole().graph), files);
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
  const auto start = Clock::now();
  TimedPredictions timed;
  timed.predictions =
      lase::predict(opened.trained, opened.graph,
                    {.fanout = is_whole(files.fanout) ? std::vector<int64_t>() : files.fanout,
                     .seed = files.seed,
                     .device = files.device});
  timed.seconds = seconds_since(start);
  timed.links_per_second =
      static_cast<double>(opened.graph.arc_count() * opened.trained.model->block_count()) /
      timed.seconds;
  return timed;
}

TimedParts timed_predictions(const ModelAndParts& opened, lase::Keep keep) {
  const auto start = Clock::now();
  TimedParts timed{lase::DividedPredictor(opened.trained, opened.graph, keep)};
  timed.seconds = seconds_since(start);
  timed.links_per_second =
      static_cast<double>(opened.graph.whole().arcs * opened.trained.model->block_count()) /
      timed.seconds;
  return timed;
}

int64_t node_named(const lase::Graph& graph, const std::string& name, const std::string& path) {
  for (int64_t u = 0; u < graph.node_count(); ++u) {
    if (graph.nodes.names[u] == name) return u;
  }
  lase::fail(path, ": has no node ", lase::quote(name));
}
