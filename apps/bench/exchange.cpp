#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lase/base/context.h"
#include "lase/base/error.h"
#include "lase/base/thread_processes.h"
#include "lase/graph/divided_graph.h"
#include "lase/ops/workspace.h"
#include "lase/train/epoch.h"
#include "lase/train/trainer.h"
#include "lase/train/training_data.h"

#include "cli/option_flags.h"
#include "cli/session.h"

// Measures the communication between processes that train on a partitioned graph. Each process is
// simulated by a thread, so that any number of them can be measured on one machine.

namespace {

struct ExchangeFlags {
  std::string graph;
  int64_t processes = 8;
  int64_t steps = 20;
  lase::TrainOptions train;
};

// Counts of one process, per step.
struct Counts {
  double for_batches = 0;    // bytes for sampled arcs, features and baseline states
  double for_gradients = 0;  // bytes
  double for_refreshes = 0;  // bytes
  double exchanges = 0;      // with all other processes
  double links = 0;          // visited in the own chunks
};

Counts count_steps(const lase::DividedGraph& graph, const lase::TrainOptions& options,
                   int64_t steps) {
  const auto data = lase::prepare_training(graph, options);
  lase::ProcessGroup& group = *lase::current_processes();
  std::atomic<bool> stop = false;
  lase::TrainOptions stopping = options;
  stopping.stop = &stop;
  stopping.batch_progress = [&](const lase::BatchReport& report) {
    if (report.batch >= steps) stop = true;
  };
  lase::EpochRunner runner(stopping, *data);
  const int64_t exchanges = group.exchanges() + data->divided->exchanges();
  const int64_t before = data->divided->bytes_sent();
  runner.run(0, options.learning_rate);
  const auto done = static_cast<double>(runner.steps());
  Counts counts;
  counts.for_batches = static_cast<double>(data->divided->bytes_sent() - before) / done;
  // Every process sends and receives its slice of the gradient once.
  int64_t parameters = 0;
  for (const auto& [name, w] : data->trained.model->parameters().all()) parameters += w.numel();
  const auto others = static_cast<double>(group.size() - 1);
  counts.for_gradients =
      2 * sizeof(float) * static_cast<double>(parameters) * others / (others + 1);
  counts.for_refreshes = std::max(0.0, static_cast<double>(runner.bytes_sent()) / done -
                                           counts.for_batches - counts.for_gradients);
  counts.exchanges =
      static_cast<double>(group.exchanges() + data->divided->exchanges() - exchanges) / done;
  counts.links = static_cast<double>(runner.links()) / done / static_cast<double>(group.size());
  return counts;
}

nlohmann::json run_exchange(const ExchangeFlags& flags, const Session& session) {
  lase::require(lase::is_partitioned(flags.graph), flags.graph,
                ": is not a partitioned graph; create one with lase partition");
  lase::check_partitioned(flags.train);
  lase::TrainOptions options = flags.train;
  options.predicts = lase::Predicts::kNodes;
  options.features.embed.method = lase::EmbedMethod::kNone;
  options.label_inputs = lase::LabelInputs::kOff;
  constexpr int64_t kChunks = 16;
  if (options.chunks == 0) options.chunks = std::max(kChunks, flags.processes);
  lase::require_option(options.chunks >= flags.processes, lase::OptionName{"chunks"}, " ",
                       options.chunks, ": too few for ", flags.processes, " processes");
  std::vector<Counts> all(static_cast<size_t>(flags.processes));
  lase::run_processes(flags.processes, [&](int64_t rank) {
    const lase::ThreadLimit one(1);
    const lase::Workspace workspace;
    const lase::DividedGraph graph(flags.graph);
    all[static_cast<size_t>(rank)] = count_steps(graph, options, flags.steps);
  });
  const auto mean_and_most = [&](double Counts::*member) {
    double sum = 0;
    double most = 0;
    for (const Counts& counts : all) {
      sum += counts.*member;
      most = std::max(most, counts.*member);
    }
    return std::pair(sum / static_cast<double>(all.size()), most);
  };
  nlohmann::json result = {{"processes", flags.processes}, {"chunks", options.chunks}};
  auto& out = session.out();
  out << fmt::format("{} processes, {} chunks; per step and process      mean   largest\n",
                     flags.processes, options.chunks);
  const auto show = [&](const std::string& key, const std::string& name, double Counts::*member,
                        double unit) {
    const auto [mean, most] = mean_and_most(member);
    result[key] = {{"mean", mean}, {"largest", most}};
    out << fmt::format("{:<50}{:10.3f}{:10.3f}\n", name, mean / unit, most / unit);
  };
  constexpr double kMega = 1e6;
  show("batch_bytes", "MB for sampled links, features and states", &Counts::for_batches, kMega);
  show("gradient_bytes", "MB for gradients", &Counts::for_gradients, kMega);
  show("refresh_bytes", "MB for refreshes", &Counts::for_refreshes, kMega);
  show("exchanges", "exchanges with all other processes", &Counts::exchanges, 1);
  show("links", "links visited (thousands)", &Counts::links, 1e3);
  return result;
}

}  // namespace

void add_bench_exchange(CLI::App& bench, Session& session) {
  auto flags = std::make_shared<ExchangeFlags>();
  CLI::App* command = session.add_command(
      bench, "exchange",
      "Measure the communication between processes that train on a partitioned graph, simulating "
      "each process with a thread; the training steps are those of lase train",
      [flags, &session] { return run_exchange(*flags, session); });
  lase::OptionTable<ExchangeFlags> table;
  table.add("graph", &ExchangeFlags::graph, lase::any(), "Folder written by lase partition")
      .required()
      .positional();
  table.add("processes", &ExchangeFlags::processes, lase::between(1, 4096),
            "Number of processes; at most the number of parts");
  table.add("steps", &ExchangeFlags::steps, lase::at_least(1), "Number of training steps");
  add_flags(*command, table.bind(*flags));
  add_flags(*command, lase::train_option_table().bind(flags->train));
  command->footer(
      "Example:\n"
      "  lase partition big.graph --parts 64 --out big.parts\n"
      "  lase bench exchange big.parts --processes 64 --batch-size 4096");
}
