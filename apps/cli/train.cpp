#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/base/format.h"
#include "lase/graph/divided_graph.h"
#include "lase/graph/graph.h"
#include "lase/inference/link_task.h"
#include "lase/inference/objective.h"
#include "lase/model/layers/registry.h"
#include "lase/model/model_file.h"
#include "lase/train/trainer.h"

#include "cli/event_file.h"
#include "cli/model_and_graph.h"
#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/thresholds.h"
#include "common/interrupt.h"
#include "common/paths.h"
#include "common/shell.h"

namespace {

using lase::Objective;

struct Flags {
  std::string graph;
  std::string out;
  lase::TrainOptions train;
  std::string log;
  std::string tensorboard;
  std::string report;
  bool quiet = false;
};

lase::TrainOptions resolve(const Flags& flags) {
  lase::TrainOptions options = flags.train;
  if (options.checkpoint.empty()) options.checkpoint = flags.out + ".checkpoint";
  return options;
}

// Rewrites one line of the terminal.
void show_progress(const lase::EpochReport& report, std::ostream& out) {
  const double left = report.seconds / static_cast<double>(report.epoch) *
                      static_cast<double>(report.epochs - report.epoch);
  out << fmt::format("\r\x1b[Kepoch {}/{}  loss {:.4f}", report.epoch, report.epochs, report.loss);
  if (report.best_epoch > 0) {
    out << fmt::format("  val {} {:.4f} (best {:.4f} in epoch {})", report.headline.title,
                       report.headline.value, report.best, report.best_epoch);
  }
  out << fmt::format("  {:.1f} M links/s  at most {:.1f} s left", report.links_per_second / 1e6,
                     left)
      << std::flush;
}

// Progress within a long epoch, at most two updates per second.
class BatchLine {
 public:
  void show(const lase::BatchReport& report, std::ostream& out) {
    if (report.seconds < next_) return;
    next_ = report.seconds + 0.5;
    out << fmt::format("\r\x1b[Kepoch {}/{}  batch {}/{}  loss {:.4f}", report.epoch, report.epochs,
                       report.batch, report.batches, report.loss)
        << std::flush;
  }

 private:
  double next_ = 2;  // seconds; short runs show nothing
};

// Training log: one JSON object per epoch, and TensorBoard event files.
class Log {
 public:
  Log(const Flags& flags, const Objective& objective) : objective_(objective), path_(flags.log) {
    if (!lase::is_first_process()) return;
    if (!flags.log.empty()) {
      lase::require(!std::filesystem::is_fifo(flags.log), flags.log,
                    ": is a pipe, expected a regular file");
      resumed_ = flags.train.resume;
      lines_.open(flags.log, std::ios::app);  // an older log is replaced by the first epoch
      lase::require(lines_.good(), flags.log, ": cannot be written: ", std::strerror(errno));
    }
    if (!flags.tensorboard.empty()) events_.emplace(flags.tensorboard);
  }

  // The first write that failed; empty: none. Training goes on without the log.
  const std::string& error() const { return error_; }

  void add(const lase::EpochReport& report) {
    if (!error_.empty()) return;
    try {
      write(report);
    } catch (const std::exception& error) {
      error_ = error.what();
    }
  }

 private:
  void write(const lase::EpochReport& report) {
    if (lines_.is_open()) {
      if (!started_) drop_lines_from(resumed_ ? report.epoch : 0);
      nlohmann::json line = {{"epoch", report.epoch},
                             {"loss", report.loss},
                             {"learning_rate", report.learning_rate},
                             {"seconds", report.seconds},
                             {"train_seconds", report.train_seconds},
                             {"links_per_second", report.links_per_second},
                             {"bytes_sent", report.bytes_sent}};
      if (report.validated) {
        for (const auto& metric : objective_.metrics(report.val)) {
          line["val_" + metric.key] = metric.value;
        }
      }
      lines_ << line.dump() << "\n" << std::flush;
      lase::require(lines_.good(), path_, ": cannot be written: ", std::strerror(errno));
    }
    if (events_) {
      events_->scalar("train/loss", report.epoch, report.loss);
      events_->scalar("train/learning_rate", report.epoch, report.learning_rate);
      events_->scalar("train/links_per_second", report.epoch, report.links_per_second);
      if (report.validated) {
        events_->scalar("val/" + report.headline.title, report.epoch, report.headline.value);
      }
    }
  }

  // Epochs after the checkpoint that training resumed from are trained again.
  void drop_lines_from(int64_t epoch) {
    started_ = true;
    if (!std::filesystem::is_regular_file(path_)) return;
    std::istringstream all(lase::read_file(path_));
    std::string kept;
    for (std::string line; std::getline(all, line);) {
      const auto object = nlohmann::json::parse(line, nullptr, false);
      const bool earlier = object.is_object() && object.contains("epoch") &&
                           object["epoch"].is_number_integer() && object["epoch"] < epoch;
      if (earlier) kept += line + "\n";
    }
    lines_.close();
    lase::write_file(path_, kept);
    lines_.open(path_, std::ios::app);
  }

  const Objective& objective_;
  std::string path_;
  std::ofstream lines_;
  bool resumed_ = false;
  bool started_ = false;  // writing
  std::optional<lase::EventFile> events_;
  std::string error_;
};

nlohmann::json result_json(const lase::TrainResult& result, const Objective& objective) {
  const bool links = lase::predicts_links(result.trained.predicts);
  nlohmann::json json = {{"task", lase::name_of(result.trained.predicts)},
                         {"val_loss", result.val_loss},
                         {links ? "test_links" : "test_nodes", result.test.nodes},
                         {"epochs", result.epochs},
                         {"best_epoch", result.best_epoch},
                         {"setup_seconds", result.setup_seconds},
                         {"seconds", result.seconds},
                         {"train_seconds", result.train_seconds},
                         {"processes", result.processes},
                         {"bytes_per_step", result.bytes_per_step},
                         {"training_links", result.training_links},
                         {"links", result.links},
                         {"device", result.device},
                         {"on_cpu", result.on_cpu},
                         {"sampling", result.sampling},
                         {"label_inputs", result.trained.label_inputs},
                         {"common_neighbors", result.trained.common_neighbors},
                         {"refreshes", result.refreshes},
                         {"refresh_seconds", result.refresh_seconds},
                         {"val_seconds", result.val_seconds},
                         {"eval_every", result.eval_every},
                         {"metric", objective.headline({}).key},
                         {"links_per_second", result.links_per_second},
                         {"stopped", result.stopped}};
  for (const auto& metric : objective.metrics(result.test)) json[metric.key] = metric.value;
  for (const auto& metric : objective.metrics(result.val)) {
    json["val_" + metric.key] = metric.value;
  }
  if (links && result.trained.predicts != lase::Predicts::kLinks) {
    json["ranking"] = result.trained.link_task.at("ranking");
  }
  if (result.calibration) {
    json["temperature"] = result.calibration->temperature;
    json["val_log_loss_before"] = result.calibration->log_loss_before;
  }
  return json;
}

// Where the time went: "time  3.21 s: setup 12 %, training 70 %, validation 18 %".
std::string time_text(const lase::TrainResult& result) {
  const double all = result.setup_seconds + result.seconds;
  const auto part = [&](double seconds) { return 100 * seconds / std::max(all, 1e-9); };
  return fmt::format(
      "time             {:.3g} s: setup {:.0f} %, training {:.0f} %, validation {:.0f} %{}\n", all,
      part(result.setup_seconds), part(result.train_seconds), part(result.val_seconds),
      result.eval_every > 1 ? fmt::format(" (every {} epochs)", result.eval_every) : std::string());
}

// Tells which features were chosen for a graph without node features or with sparse ones, whether
// common neighbors and known labels are inputs, and what follows for new nodes.
void print_inputs(const lase::TrainResult& result, std::ostream& out) {
  if (!result.features.empty()) {
    out << "node features    " << result.features << "\n";
    if (result.trained.learned.present()) {
      out << "                 The model knows nodes by their ids; for graphs with other ids, "
             "train with --features none\n";
    }
  }
  if (!result.common_neighbors.empty()) {
    out << "common neighbors " << result.common_neighbors << "\n";
  }
  if (!result.label_inputs.empty()) {
    out << "label inputs     " << result.label_inputs << "\n";
    if (result.trained.label_inputs) {
      out << "                 Predictions depend on the known labels of a graph; to train without "
             "them, use --label-inputs off\n";
    }
  }
}

// `graph`: the whole graph; for a partitioned graph, only names, labels and splits.
nlohmann::json train_with(
    const Flags& flags, const Session& session, const lase::Graph& graph,
    const std::function<lase::TrainResult(const lase::TrainOptions& options)>& train) {
  lase::TrainOptions options = resolve(flags);
  require_targets(graph, options.predicts, flags.graph);
  const lase::PreparedTask task = lase::prepare_task(graph, lase::task_options(options));
  const bool links = lase::predicts_links(task.predicts);
  require_distinct_files({flags.graph}, {flags.out, options.checkpoint, flags.report, flags.log});
  // Fail before training if an output file cannot be written.
  for (const auto& path : {flags.out, options.checkpoint, flags.report}) {
    if (!path.empty()) lase::AtomicFile probe(path);
  }
  const bool live = !flags.quiet && ::isatty(STDOUT_FILENO) != 0;
  Log log(flags, *task.objective);
  options.stop = &interrupted();
  options.progress = [&](const lase::EpochReport& report) {
    log.add(report);
    if (live) show_progress(report, std::cerr);
  };
  BatchLine batch_line;
  if (live) {
    options.feature_progress = [](double fraction) {
      std::cerr << fmt::format("\r\x1b[Klearning node features {:.0f}%", 100 * fraction)
                << std::flush;
    };
    options.batch_progress = [&](const lase::BatchReport& report) {
      batch_line.show(report, std::cerr);
    };
  }
  for (const auto& name : lase::unused_options(options.model)) {
    std::cerr << "lase: warning: " << flag_of(name) << " has no effect on the model "
              << options.model.model << "\n";
  }
  for (const auto& [name, reason] :
       lase::unused_task_options(options, task.predicts, !graph.targets.split.empty())) {
    std::cerr << "lase: warning: " << flag_of(name) << " has no effect, because " << reason << "\n";
  }
  const Interruptible interruptible;
  const lase::TrainResult result = train(options);
  const auto objective = lase::make_objective(result.trained, task.objective->labels());
  if (live) std::cerr << "\r\x1b[K";
  if (!links && 10 * result.training_links < result.links) {
    std::cerr << "lase: warning: training used only " << lase::grouped(result.training_links)
              << " of " << lase::grouped(result.links) << " links, those between training nodes"
              << (options.strict_inductive ? "" : " and nodes that belong to no split")
              << "; use --transductive to train on all links\n";
  }
  const bool validates = result.val.nodes > 0;
  const std::string seeds = links ? "links" : "nodes";
  lase::require(!result.stopped || result.best_epoch > 0 || (!validates && result.epochs > 0),
                "interrupted before the first epoch ended; ", flags.out, " was not written");
  lase::save_model(result.trained, flags.out);
  auto& out = session.out();
  const auto line = [&](const char* name, const lase::Scores& scores) {
    if (scores.nodes == 0) return;
    const auto metrics = objective->metrics(scores);
    out << fmt::format("{:<17}{} {:.4f}, {} {:.4f} ({} {})\n", name, metrics[0].title,
                       metrics[0].value, metrics[1].title, metrics[1].value, scores.nodes, seeds);
  };
  out << "epochs           " << result.epochs << (result.stopped ? ", interrupted" : "");
  if (!validates) {
    out << "; the last weights are kept, because the graph has no validation " << seeds
        << " (see --" << (links ? "link-" : "") << "split of lase import)";
  } else if (result.best_epoch > 0) {
    out << ", best " << result.best_epoch << " by "
        << (options.select == "loss" ? "loss" : objective->headline({}).title) << " on validation "
        << seeds;
    const bool improving = result.best_epoch == result.epochs && result.epochs == options.epochs;
    if (improving && options.patience > 0) out << "; more epochs may be better";
  }
  out << "\n" << time_text(result);
  print_inputs(result, out);
  out << "training links   " << lase::grouped(result.training_links) << " of "
      << lase::grouped(result.links) << "\n";
  out << "sampling         " << result.sampling << "\n";
  if (result.device != "cpu") {
    out << "device           " << result.device;
    if (!result.on_cpu.empty()) out << "; in memory of the CPU: " << result.on_cpu;
    out << "\n";
  }
  line("validation", result.val);
  line("test", result.test);
  if (result.calibration) {
    out << fmt::format("temperature      {:.4g} (validation log loss {:.4g}, before {:.4g})\n",
                       result.calibration->temperature, result.calibration->log_loss,
                       result.calibration->log_loss_before);
  }
  print_thresholds(*objective, out);
  out << "written          " << flags.out << "\n";
  lase::require(result.diverged.empty(), flags.graph, ": ", result.diverged, "; ", flags.out,
                " contains the last good weights");
  if (!result.checkpoint_error.empty()) {
    std::cerr << "lase: " << result.checkpoint_error
              << "; training continued without checkpoints\n";
  }
  if (!result.stopped && lase::is_first_process()) std::filesystem::remove(options.checkpoint);
  lase::require(log.error().empty(), log.error(), "; the log is incomplete, but ", flags.out,
                " was written");
  out.flush();
  if (!flags.report.empty()) {
    std::vector<std::string> words = {"lase", "train", flags.graph, "--out", flags.out};
    for (auto& word : command_words(lase::train_option_table(), flags.train)) {
      words.push_back(std::move(word));
    }
    write_report({.path = flags.report,
                  .graph_path = flags.graph,
                  .command = shell_line(words),
                  .seed = options.seed,
                  .live = live},
                 graph, result, session);
  }
  return result_json(result, *objective);
}

nlohmann::json run_train(const Flags& flags, const Session& session) {
  if (!lase::is_partitioned(flags.graph)) {
    const lase::Graph graph = lase::load_graph(flags.graph);
    return train_with(flags, session, graph,
                      [&](const auto& options) { return lase::train(graph, options); });
  }
  lase::check_partitioned(flags.train);
  lase::require_option(flags.report.empty(), lase::OptionName{"report"},
                       ": not supported for partitioned graphs");
  const lase::DividedGraph graph(flags.graph);
  return train_with(flags, session, graph.whole().graph,
                    [&](const auto& options) { return lase::train(graph, options); });
}

}  // namespace

void add_train(CLI::App& app, Session& session) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = session.add_command(
      app, "train", command_summary("train"),
      [flags, &session] { return run_train(*flags, session); }, Processes::kTogether);
  command->add_option("graph", flags->graph, "Graph file")->required();
  command->add_option("--out", flags->out,
                      "Model file to write (default: GRAPH with the extension .model)");
  add_flags(*command, lase::train_option_table().bind(flags->train));
  add_flags(*command, lase::checkpoint_option_table().bind(flags->train));
  command->add_option("--log", flags->log, "Log file to write: one JSON object per epoch");
  command->add_option("--tensorboard", flags->tensorboard,
                      "Folder to write TensorBoard event files to");
  command->add_option(
      "--report", flags->report,
      "HTML report to write: learning curves, scores, a map of the nodes, and explanations of the "
      "predictions, or examples if links are predicted");
  command->add_flag("--quiet", flags->quiet, "Do not show progress");
  command->footer(
      "Examples:\n"
      "  lase train mail.graph --out mail.model --report mail.html\n"
      "  lase train mail.graph --model graphsage --widths 64,64 --epochs 100 --out baseline.model");
  command->parse_complete_callback([flags] {
    if (!flags->out.empty()) return;
    flags->out = flags->graph.ends_with(".graph")
                     ? flags->graph.substr(0, flags->graph.size() - 6) + ".model"
                     : flags->graph + ".model";
  });
}
