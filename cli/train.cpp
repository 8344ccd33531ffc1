#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>

#include "lase/base/error.h"
#include "lase/base/file.h"
#include "lase/eval/event_file.h"
#include "lase/graph/graph.h"
#include "lase/model/model_file.h"
#include "lase/train/trainer.h"

#include "fanout.h"
#include "interrupt.h"
#include "memory.h"
#include "session.h"

namespace {

using lase::Task;

struct TrainFlags {
  std::string graph;
  std::string out;
  lase::TrainOptions train;
  std::string model = "sage";
  std::string combine = "add";
  std::string amplifier = "sigmoid";
  std::string aggregate = "mean";
  std::string gate = "scalar";
  std::string schedule = "constant";
  std::string scale = "standard";
  std::string select = "score";
  std::string fanout = "auto";
  std::string strategy = "auto";
  std::string draw = "without";
  std::string renewal = "auto";
  std::string features = "none";
  std::string features_order = "second";
  lase::FeatureOptions learned;
  std::string log;
  std::string tensorboard;
  bool no_normalize = false;
  bool quiet = false;
};

lase::TrainOptions resolve(const TrainFlags& flags) {
  lase::TrainOptions options = flags.train;
  options.model.architecture = lase::architecture_from(flags.model);
  options.model.combine = lase::combine_from(flags.combine);
  options.model.amplifier = lase::amplifier_from(flags.amplifier);
  options.model.aggregate = lase::aggregate_from(flags.aggregate);
  options.model.gate = flags.gate == "scalar";
  options.model.normalize = !flags.no_normalize;
  options.schedule = lase::schedule_from(flags.schedule);
  options.node_scaling = lase::node_scaling_from(flags.scale);
  options.select_by_loss = flags.select == "loss";
  if (flags.fanout != "auto") options.sampling.fanout = parse_fanout(flags.fanout);
  options.sampling.strategy = lase::strategy_from(flags.strategy);
  options.sampling.draw = lase::draw_from(flags.draw);
  options.sampling.renewal = lase::renewal_from(flags.renewal);
  if (flags.features != "none") {
    options.features = flags.learned;
    options.features->embed.method = lase::embed_method_from(flags.features);
    options.features->embed.order = lase::order_from(flags.features_order);
    options.features->embed.seed = options.seed;
  }
  if (options.checkpoint.empty()) options.checkpoint = flags.out + ".checkpoint";
  return options;
}

std::string headline_name(Task task) { return task == Task::kRegression ? "r2" : "micro-F1"; }

// One line that is written over on a terminal.
void show_progress(const lase::EpochReport& report, Task task, std::ostream& out) {
  const double left = report.seconds / static_cast<double>(report.epoch) *
                      static_cast<double>(report.epochs - report.epoch);
  out << "\r\x1b[Kepoch " << report.epoch << "/" << report.epochs << std::fixed
      << std::setprecision(4) << "  loss " << report.loss;
  if (report.best_epoch > 0) {
    out << "  val " << headline_name(task) << " " << report.val.headline(task) << " (best "
        << report.best << " in epoch " << report.best_epoch << ")";
  }
  out << std::setprecision(1) << "  " << report.links_per_second / 1e6 << " M links/s  at most "
      << left << " s left" << std::defaultfloat << std::flush;
}

// The same within a long epoch, at most twice a second.
class BatchLine {
 public:
  void show(const lase::BatchReport& report, std::ostream& out) {
    if (report.seconds < next_) return;
    next_ = report.seconds + 0.5;
    out << "\r\x1b[Kepoch " << report.epoch << "/" << report.epochs << "  batch " << report.batch
        << "/" << report.batches << std::fixed << std::setprecision(4) << "  loss " << report.loss
        << std::defaultfloat << std::flush;
  }

 private:
  double next_ = 2;  // short runs need none
};

// The log: a JSON object a line, and event files for TensorBoard.
class Log {
 public:
  Log(const TrainFlags& flags, Task task) : task_(task) {
    if (!flags.log.empty()) {
      lines_.open(flags.log, flags.train.resume ? std::ios::app : std::ios::trunc);
      lase::require(lines_.good(), flags.log, ": cannot be written");
    }
    if (!flags.tensorboard.empty()) events_.emplace(flags.tensorboard);
  }

  void add(const lase::EpochReport& report) {
    if (lines_.is_open()) {
      nlohmann::json line = {{"epoch", report.epoch},
                             {"loss", report.loss},
                             {"learning_rate", report.learning_rate},
                             {"seconds", report.seconds},
                             {"train_seconds", report.train_seconds},
                             {"links_per_second", report.links_per_second}};
      if (report.validated) {
        line["val_micro_f1"] = report.val.micro_f1;
        line["val_macro_f1"] = report.val.macro_f1;
        if (task_ == Task::kRegression) line["val_r2"] = report.val.r2;
      }
      lines_ << line.dump() << "\n" << std::flush;
    }
    if (events_) {
      events_->scalar("train/loss", report.epoch, report.loss);
      events_->scalar("train/learning_rate", report.epoch, report.learning_rate);
      events_->scalar("train/links_per_second", report.epoch, report.links_per_second);
      if (report.validated) {
        events_->scalar("val/" + headline_name(task_), report.epoch, report.val.headline(task_));
      }
    }
  }

 private:
  Task task_;
  std::ofstream lines_;
  std::optional<lase::EventFile> events_;
};

nlohmann::json result_json(const lase::TrainResult& result, Task task) {
  nlohmann::json json = {{"micro_f1", result.test.micro_f1},
                         {"macro_f1", result.test.macro_f1},
                         {"accuracy", result.test.accuracy},
                         {"val_micro_f1", result.val.micro_f1},
                         {"val_macro_f1", result.val.macro_f1},
                         {"val_loss", result.val_loss},
                         {"test_nodes", result.test.nodes},
                         {"epochs", result.epochs},
                         {"best_epoch", result.best_epoch},
                         {"setup_seconds", result.setup_seconds},
                         {"seconds", result.seconds},
                         {"train_seconds", result.train_seconds},
                         {"sampling", result.sampling},
                         {"renewals", result.renewals},
                         {"renewal_seconds", result.renewal_seconds},
                         {"links_per_second", result.links_per_second},
                         {"stopped", result.stopped}};
  if (task == Task::kRegression) {
    json.update({{"r2", result.test.r2}, {"absolute_error", result.test.absolute_error}});
  }
  return json;
}

nlohmann::json run_train(const TrainFlags& flags, const Session& session) {
  keep_freed_memory();
  const lase::Graph graph = lase::open_graph(flags.graph);
  lase::check_graph(graph, flags.graph);
  lase::TrainOptions options = resolve(flags);
  // A place that cannot be written is found before the work is done.
  for (const auto& path : {flags.out, options.checkpoint}) lase::AtomicFile probe(path);
  const Task task = graph.nodes.labels.task;
  const bool live = !flags.quiet && ::isatty(STDOUT_FILENO) != 0;
  Log log(flags, task);
  options.stop = &interrupted();
  options.progress = [&](const lase::EpochReport& report) {
    log.add(report);
    if (live) show_progress(report, task, std::cerr);
  };
  BatchLine line_of_batch;
  if (live) {
    options.batch_progress = [&](const lase::BatchReport& report) {
      line_of_batch.show(report, std::cerr);
    };
  }
  const lase::TrainResult result = [&] {
    const Interruptible interruptible;
    return lase::train(graph, options);
  }();
  if (live) std::cerr << "\r\x1b[K";
  lase::save_model(result.trained, flags.out);
  auto& out = session.out();
  const auto line = [&](const char* name, const lase::Scores& scores) {
    if (scores.nodes == 0) return;
    out << std::left << std::setw(17) << name << headline_name(task) << " " << std::fixed
        << std::setprecision(4) << scores.headline(task);
    if (task == Task::kRegression) {
      out << ", mean absolute error " << scores.absolute_error;
    } else {
      out << ", macro-F1 " << scores.macro_f1;
    }
    out << " (" << scores.nodes << " nodes)\n" << std::defaultfloat;
  };
  out << "epochs           " << result.epochs << (result.stopped ? ", stopped by hand" : "");
  if (result.best_epoch > 0) out << ", best " << result.best_epoch;
  out << ", " << std::setprecision(3) << result.seconds << " s\n"
      << "neighbourhoods   " << result.sampling << "\n";
  line("validation", result.val);
  line("test", result.test);
  out << "written          " << flags.out << "\n";
  lase::require(result.diverged.empty(), flags.graph, ": ", result.diverged, "; ", flags.out,
                " holds the last good weights");
  if (!result.checkpoint_error.empty()) {
    std::cerr << "lase: " << result.checkpoint_error << "; training went on without checkpoints\n";
  }
  if (!result.stopped) std::filesystem::remove(options.checkpoint);
  return result_json(result, task);
}

}  // namespace

void add_train(CLI::App& app, Session& session) {
  auto flags = std::make_shared<TrainFlags>();
  CLI::App* verb = session.add_verb(app, "train", "Train a model on a graph",
                                    [flags, &session] { return run_train(*flags, session); });
  auto& train = flags->train;
  auto& model = train.model;
  verb->add_option("graph", flags->graph, "The graph file")->required();
  verb->add_option("--out", flags->out, "The model file to write")
      ->default_str("GRAPH with .model in place of .graph");
  verb->add_option("--model", flags->model, "Architecture")
      ->check(CLI::IsMember({"sage", "rw", "wl", "concat", "gcn", "graphsage", "raw"}));
  verb->add_option("--widths", model.widths, "Width of each layer")
      ->delimiter(',')
      ->allow_extra_args(false);
  verb->add_option("--combine", flags->combine, "How a node and its neighbourhood join")
      ->check(CLI::IsMember({"add", "multiply", "concat"}));
  verb->add_option("--amplifier", flags->amplifier, "a(e): sigmoid of U f(e), U f(e), or none")
      ->check(CLI::IsMember({"sigmoid", "linear", "none"}));
  verb->add_option("--aggregate", flags->aggregate, "Over a neighbourhood")
      ->check(CLI::IsMember({"sum", "mean", "max"}));
  verb->add_option("--gate", flags->gate, "λ(u,v), or none")
      ->check(CLI::IsMember({"scalar", "none"}));
  verb->add_option("--depth", model.depth, "Relabellings of wl");
  verb->add_option("--project", model.project,
                   "Start from W f(u) of this width instead of f(u) (0: not)");
  verb->add_option(
      "--dropout", model.dropout,
      "Share of entries dropped from a node's own state in every layer, and before the head");
  verb->add_flag("--no-normalize", flags->no_normalize,
                 "Do not bring the last hidden state to length one");
  verb->add_option(
          "--scale", flags->scale,
          "Node features: standardised on training nodes, rows summing to one, or as they are")
      ->check(CLI::IsMember({"standard", "row", "none"}));
  verb->add_option("--features", flags->features,
                   "Node features learned from the links, beside those the graph has")
      ->check(CLI::IsMember({"none", "line", "deepwalk"}));
  verb->add_option("--features-width", flags->learned.embed.width, "Of these");
  verb->add_option("--features-order", flags->features_order, "Of line")
      ->check(CLI::IsMember({"first", "second", "both"}));
  verb->add_option("--features-epochs", flags->learned.embed.epochs,
                   "Of line: samples for every arc (0: by the size of the graph)");
  verb->add_flag("--features-weighted", flags->learned.embed.weighted,
                 "Links count by the sum of their attributes");
  verb->add_flag("--features-online", flags->learned.online,
                 "Learn them from links between training nodes, whom the others join");
  verb->add_option("--epochs", train.epochs, "At most");
  verb->add_option("--patience", train.patience,
                   "Stop after so many epochs without a better validation score (0: never)");
  verb->add_option("--batch", train.batch, "Nodes a step (0: all)");
  verb->add_option("--fanout", flags->fanout,
                   "Neighbours drawn in each layer, such as 10,10, or 'all'; auto: all of a small "
                   "graph, else 10, or 1 before the last layer of a snapshot");
  verb->add_option(
          "--strategy", flags->strategy,
          "Which neighbours are drawn: all alike, by gate, with the least variance, or all "
          "alike to estimate the change since exact sums were taken; auto: "
          "the last, where the model allows it")
      ->check(CLI::IsMember({"auto", "uniform", "gate", "min_var", "snapshot"}));
  verb->add_option("--draw", flags->draw, "With replacement, as in the paper, or without")
      ->check(CLI::IsMember({"replace", "without"}));
  verb->add_option("--renew", train.sampling.renew,
                   "Batches after which a strategy passes over the training links again");
  verb->add_option(
          "--renewal", flags->renewal,
          "Of a snapshot: by one pass, for the nodes that batches touch, or by which costs "
          "less")
      ->check(CLI::IsMember({"auto", "eager", "lazy"}));
  verb->add_flag("--transductive", train.transductive,
                 "Training sees all links, not only those between training nodes");
  verb->add_option("--learning-rate", train.learning_rate, "Of Adam");
  verb->add_option(
          "--schedule", flags->schedule,
          "Of the learning rate; plateau halves it after a quarter of --patience without a better "
          "score")
      ->check(CLI::IsMember({"constant", "cosine", "plateau"}));
  verb->add_option("--weight-decay", train.adam.weight_decay, "Of Adam");
  verb->add_option("--clip", train.adam.clip, "Gradients to this size (0: not)");
  verb->add_flag("--balance", train.balance, "Weigh classes by the inverse of their number");
  verb->add_option("--average", train.average,
                   "Keep a running average of the weights that forgets at this rate (0: the last)");
  verb->add_option("--select", flags->select,
                   "What makes an epoch the best one on validation nodes")
      ->check(CLI::IsMember({"score", "loss"}));
  verb->add_option("--eval-every", train.eval_every, "Validate every so many epochs");
  verb->add_option("--seed", train.seed, "Same seed, same weights, for any number of threads");
  verb->add_option("--checkpoint", train.checkpoint, "File for checkpoints")
      ->default_str("OUT.checkpoint");
  verb->add_option("--checkpoint-every", train.checkpoint_every, "Epochs between checkpoints");
  verb->add_flag("--resume", train.resume, "Go on from the checkpoint where there is one");
  verb->add_option("--log", flags->log, "File for a JSON object after every epoch");
  verb->add_option("--tensorboard", flags->tensorboard, "Folder for TensorBoard event files");
  verb->add_flag("--quiet", flags->quiet, "No progress line");
  verb->parse_complete_callback([flags] {
    if (!flags->out.empty()) return;
    flags->out = flags->graph.ends_with(".graph")
                     ? flags->graph.substr(0, flags->graph.size() - 6) + ".model"
                     : flags->graph + ".model";
  });
}
