#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <unistd.h>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/embed/embed.h"
#include "lase/graph/graph.h"
#include "lase/graph/write_rows.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/interrupt.h"
#include "common/paths.h"
#include "common/timing.h"

namespace {

struct EmbeddingFlags {
  std::string graph;
  std::string out;
  bool online = false;
  lase::EmbedOptions options;
};

// One line, rewritten on a terminal at most twice per second.
void show_progress(lase::EmbedOptions& options, Clock::time_point start) {
  if (::isatty(STDERR_FILENO) == 0) return;
  auto next = std::make_shared<double>(1);
  options.progress = [start, next](double fraction, double samples) {
    const double seconds = seconds_since(start);
    if (seconds < *next) return;
    *next = seconds + 0.5;
    std::cerr << fmt::format("\r\x1b[K{:.0f}%  {:.1f} M samples/s  about {:.1f} s left",
                             100 * fraction, samples / seconds / 1e6, seconds / fraction - seconds)
              << std::flush;
  };
}

nlohmann::json run_embedding(const EmbeddingFlags& flags, const Session& session) {
  lase::Graph graph = lase::load_graph(flags.graph);
  const bool as_graph = flags.out.ends_with(".graph");
  require_distinct_files({flags.graph}, {flags.out});
  const lase::AtomicFile probe(flags.out);  // fails now if the file cannot be written
  auto options = flags.options;
  const Interruptible interruptible;
  options.stop = &interrupted();
  const auto start = Clock::now();
  show_progress(options, start);
  const lase::Embedding embedding =
      flags.online ? lase::embed_online(graph, lase::training_nodes(graph), options)
                   : lase::embed(graph, graph, options);
  const double seconds = seconds_since(start);
  if (options.progress) std::cerr << "\r\x1b[K";
  lase::require(!embedding.stopped, "interrupted; nothing was written");
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
  session.out() << fmt::format(
      "{} embeddings of width {} written to {}\n{:.3g} M samples in {:.3g} s: {:.3g} M samples/s\n",
      embedding.nodes, width, flags.out, embedding.samples / 1e6, seconds,
      embedding.samples / seconds / 1e6);
  return {{"nodes", embedding.nodes}, {"width", width},
          {"out", flags.out},         {"samples", embedding.samples},
          {"seconds", seconds},       {"samples_per_second", embedding.samples / seconds}};
}

// `unused`: options that the method does not have.
CLI::App* add_embedding(CLI::App& app, Session& session, const std::string& help,
                        const std::shared_ptr<EmbeddingFlags>& flags,
                        const std::set<std::string>& unused) {
  const std::string name(lase::name_of(flags->options.method));
  CLI::App* command = session.add_command(
      app, name, help, [flags, &session] { return run_embedding(*flags, session); });
  command->add_option("graph", flags->graph, "Graph file")->required();
  command
      ->add_option("--out", flags->out,
                   "File to write: .npy, CSV with node names, or .graph (the graph with the "
                   "embeddings as its node features)")
      ->required();
  command->add_flag("--online", flags->online,
                    "Learn from links between training nodes, then embed the other nodes while the "
                    "embeddings of training nodes stay fixed");
  add_flags(*command, without(lase::embed_option_table().bind(flags->options), unused));
  return command;
}

}  // namespace

void add_line(CLI::App& app, Session& session) {
  auto flags = std::make_shared<EmbeddingFlags>();
  add_embedding(app, session, command_summary("line"), flags,
                {"method", "walks", "length", "window"})
      ->footer(
          "Examples:\n"
          "  lase line mail.graph --out line.npy\n"
          "  lase line mail.graph --order both --width 64 --out mail-line.graph");
}

void add_deepwalk(CLI::App& app, Session& session) {
  auto flags = std::make_shared<EmbeddingFlags>();
  flags->options.method = lase::EmbedMethod::kDeepWalk;
  add_embedding(app, session, command_summary("deepwalk"), flags, {"method", "order", "epochs"})
      ->footer(
          "Examples:\n"
          "  lase deepwalk mail.graph --out deepwalk.npy\n"
          "  lase deepwalk mail.graph --walks 20 --length 80 --out mail-deepwalk.graph");
}
