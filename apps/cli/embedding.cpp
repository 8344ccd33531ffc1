#include <iomanip>
#include <iostream>
#include <memory>
#include <string>
#include <unistd.h>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/embed/embed.h"
#include "lase/graph/export.h"
#include "lase/graph/graph.h"

#include "cli/program.h"
#include "cli/session.h"
#include "common/interrupt.h"
#include "common/paths.h"
#include "common/timing.h"

namespace {

struct EmbeddingFlags {
  std::string graph;
  std::string out;
  std::string order = "second";
  bool online = false;
  lase::EmbedOptions options;
};

// A line that is written over on a terminal, at most twice a second.
void show_progress(lase::EmbedOptions& options, Clock::time_point start) {
  if (::isatty(STDERR_FILENO) == 0) return;
  auto next = std::make_shared<double>(1);
  options.progress = [start, next](double share, double samples) {
    const double seconds = seconds_since(start);
    if (seconds < *next) return;
    *next = seconds + 0.5;
    std::cerr << "\r\x1b[K" << std::fixed << std::setprecision(0) << 100 * share << "%  "
              << std::setprecision(1) << samples / seconds / 1e6 << " M samples/s  about "
              << seconds / share - seconds << " s left" << std::defaultfloat << std::flush;
  };
}

nlohmann::json run_embedding(const EmbeddingFlags& flags, const Session& session) {
  lase::Graph graph = lase::open_graph(flags.graph);
  lase::check_graph(graph, flags.graph);
  const bool as_graph = flags.out.ends_with(".graph");
  require_apart({flags.graph}, {flags.out});
  const lase::AtomicFile probe(flags.out);  // a place that cannot be written is found now
  auto options = flags.options;
  options.order = lase::order_from(flags.order);
  const Interruptible interruptible;
  options.stop = &interrupted();
  const auto start = Clock::now();
  show_progress(options, start);
  const lase::Embedding embedding =
      flags.online ? lase::embed_online(graph, lase::training_nodes(graph), options)
                   : lase::embed(graph, graph, options);
  const double seconds = seconds_since(start);
  if (options.progress) std::cerr << "\r\x1b[K";
  lase::require(!embedding.stopped, "stopped; nothing was written");
  const int64_t width = embedding.width();
  std::vector<float> rows = embedding.rows();
  if (as_graph) {
    graph.nodes.features = lase::Attributes::dense(std::move(rows), graph.node_count(), width);
    graph.nodes.feature_names = lase::numbered_names(lase::name_of(options.method), width);
    graph.node_reduction = {};
    lase::save_graph(graph, flags.out);
  } else {
    lase::write_rows(graph.nodes.names, rows, flags.out);
  }
  session.out() << embedding.nodes << " embeddings of width " << width << " written to "
                << flags.out << "\n"
                << std::setprecision(3) << embedding.samples / 1e6 << " M samples in " << seconds
                << " s: " << embedding.samples / seconds / 1e6 << " M a second\n";
  return {{"nodes", embedding.nodes}, {"width", width},
          {"out", flags.out},         {"samples", embedding.samples},
          {"seconds", seconds},       {"samples_per_second", embedding.samples / seconds}};
}

// What both verbs have.
CLI::App* add_embedding(CLI::App& app, Session& session, const std::string& help,
                        const std::shared_ptr<EmbeddingFlags>& flags) {
  const std::string name(lase::name_of(flags->options.method));
  CLI::App* verb = session.add_verb(app, name, help,
                                    [flags, &session] { return run_embedding(*flags, session); });
  auto& options = flags->options;
  verb->add_option("graph", flags->graph, "The graph file")->required();
  verb->add_option("--out", flags->out,
                   "The file to write: .npy, csv with the node names, or .graph: the graph with "
                   "these features in place of its own")
      ->required();
  verb->add_option("--width", options.width, "Of the embeddings");
  verb->add_option("--negatives", options.negatives, "Nodes drawn as noise with every sample");
  verb->add_option("--rate", options.rate, "Of learning, falling to almost nothing");
  verb->add_flag("--weighted", options.weighted, "Links count by the sum of their attributes");
  verb->add_flag("--online", flags->online,
                 "Learn from links between training nodes; then the others join, the embeddings of "
                 "training nodes fixed");
  verb->add_option("--seed", options.seed, "Same seed, same embeddings, for any number of threads");
  return verb;
}

}  // namespace

void add_line(CLI::App& app, Session& session) {
  auto flags = std::make_shared<EmbeddingFlags>();
  CLI::App* verb = add_embedding(app, session, verb_summary("line"), flags);
  verb->add_option("--order", flags->order,
                   "Close are nodes that are linked (first), that have the same neighbours "
                   "(second), or half the width each (both)")
      ->check(CLI::IsMember({"first", "second", "both"}));
  verb->add_option("--epochs", flags->options.epochs,
                   "Samples for every arc of the graph (0: by its size, 50 to 1000)");
}

void add_deepwalk(CLI::App& app, Session& session) {
  auto flags = std::make_shared<EmbeddingFlags>();
  flags->options.method = lase::EmbedMethod::kDeepWalk;
  CLI::App* verb = add_embedding(app, session, verb_summary("deepwalk"), flags);
  verb->add_option("--walks", flags->options.walks, "From each node");
  verb->add_option("--length", flags->options.length, "Nodes of a walk");
  verb->add_option("--window", flags->options.window, "Steps apart on a walk, at most");
}
