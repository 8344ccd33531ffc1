#include "lase/train/step.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <sys/resource.h>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/base/shuffle.h"
#include "lase/graph/random_graph.h"
#include "lase/inference/inference.h"
#include "lase/inference/link_task.h"
#include "lase/inference/objective.h"
#include "lase/kernels/kernels.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/precision.h"
#include "lase/ops/recording.h"
#include "lase/ops/workspace.h"
#include "lase/train/batch_stream.h"
#include "lase/train/estimator.h"

#include "cli/option_flags.h"
#include "cli/program.h"
#include "cli/session.h"
#include "common/memory.h"
#include "common/timing.h"

namespace {

using nlohmann::json;
int64_t peak_rss() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

struct StepFlags {
  lase::RandomGraphOptions random;
  std::string graph;
  lase::Predicts predicts = lase::Predicts::kNodes;
  std::vector<int64_t> fanout = {30};
  std::vector<int64_t> widths = {64, 48};
  int64_t batch = 512;
  double dropout = 0;
  int64_t steps = 5;
  uint64_t seed = 1;
  bool reference = false;
  bool inference = false;
  lase::DeviceOptions device;
};

const lase::OptionTable<StepFlags>& step_table() {
  static const auto table = [] {
    using lase::any;
    using lase::at_least;
    using O = StepFlags;
    lase::OptionTable<O> all;
    all.include(lase::random_graph_option_table(), &O::random, {.skip = {"classes", "seed"}});
    all.add("graph", &O::graph, any(), "Graph file instead of a random graph");
    all.add("task", &O::predicts, lase::one_of<lase::Predicts>(),
            "What to predict: labels of nodes (nodes), or which nodes are linked "
            "(link-prediction), with all links of the graph as targets");
    all.add("batch_size", &O::batch, at_least(1), "Batch size in nodes or links");
    all.add("fanout", &O::fanout, lase::fanout(), "Sampled neighbors per layer, or all");
    all.add("widths", &O::widths, lase::between(1, 65536),
            "Width (hidden dimension) of each layer");
    all.add("dropout", &O::dropout, lase::below(0, 1), "Dropout probability");
    all.add("steps", &O::steps, at_least(1), "Number of timed steps, after one for warm-up");
    all.add("seed", &O::seed, any(), "Random seed of graph and samples");
    all.add("reference", &O::reference, any(), "Also time the step in plain torch operations");
    all.add("inference", &O::inference, any(),
            "Also time exact passes over all nodes: inference, and sums with norms");
    all.include(lase::device_option_table(), &O::device);
    return all;
  }();
  return table;
}

lase::Graph graph_of(const StepFlags& flags) {
  if (flags.graph.empty()) return lase::random_graph(flags.random);
  lase::Graph graph = lase::load_graph(flags.graph);
  lase::require(graph.nodes.labels.classes() > 0 && graph.nodes.features.columns > 0, flags.graph,
                ": a step needs node features and labels");
  return graph;
}

// Seconds, one entry per step; medians are printed.
struct Times {
  std::vector<double> step, sample, forward, backward, optimizer;
};

// A training run with timed steps.
class Run {
 public:
  // The graph must be prepared for the task.
  Run(const lase::Graph& graph, const StepFlags& flags)
      : graph_(graph),
        flags_(flags),
        device_(lase::choose_device(flags.device, graph.links)),
        neighborhoods_(static_cast<const lase::Adjacency&>(graph)) {
    const bool links = lase::predicts_links(flags.predicts);
    objective_ = lase::make_objective(graph, flags.predicts, lase::Ranking::kSampled);
    std::vector<bool> training(static_cast<size_t>(graph.node_count()), true);
    inputs_.emplace(graph, lase::fit_scaling(graph, training, lase::NodeScaling::kStandard));
    inputs_ = inputs_->to(device_, graph, lase::choose_memory(flags.device, device_));
    lase::ModelOptions options;
    options.model = "sage";
    options.widths = flags.widths;
    options.project = 0;
    options.combine = lase::CombineChoice::kConcat;
    options.dropout = flags.dropout;
    options.decoder = lase::DecoderChoice::kMlp;
    model_.emplace(options,
                   lase::ModelShape{.node_features = graph.nodes.features.columns,
                                    .link_attributes = graph.link_attributes.columns,
                                    .outputs = objective_->outputs(),
                                    .links = links,
                                    .symmetric = links && !graph.directed},
                   flags.seed);
    model_->parameters().to(device_);
    if (links) {
      nodes_.resize(static_cast<size_t>(graph.targets.size()));
      std::iota(nodes_.begin(), nodes_.end(), int64_t{0});
    } else {
      for (int64_t u = 0; u < graph.node_count(); ++u) {
        if (graph.nodes.labels.known(u)) nodes_.push_back(u);
      }
      lase::require(!nodes_.empty(), "no node of the graph has a label");
    }
    batch_ = std::min(flags.batch, static_cast<int64_t>(nodes_.size()));
    seeds_ = lase::make_seeds(graph, flags.predicts, *model_, {.ranking = lase::Ranking::kSampled},
                              flags.seed);
    objective_->fit(nodes_, false);
    sampler_ =
        lase::make_sampler(neighborhoods_, inputs_->residence().adjacency ? device_ : at::kCPU);
    step_.emplace(lase::TrainStep::Parts{*model_, *inputs_, *objective_}, lase::AdamOptions{});
    estimator_.emplace(
        lase::SamplingOptions{.fanout = flags.fanout, .strategy = lase::Strategy::kUniform},
        *model_, *inputs_, neighborhoods_, lase::SeedCounts{batch_, batch_, links});
  }

  // The first step is a warm-up and is not counted. All batches are full; epochs are repeated until
  // there are enough steps.
  Times steps() {
    Times times;
    int64_t left = flags_.steps + 1;
    for (int64_t round = 0; left > 0; ++round) {
      const int64_t batches = std::min(left, static_cast<int64_t>(nodes_.size()) / batch_);
      run_round(round, batches, left == flags_.steps + 1, times);
      left -= batches;
    }
    return times;
  }

  // Seconds of an exact pass over all nodes.
  double inference() {
    return seconds_of([&] { return lase::infer(*model_, *inputs_, neighborhoods_).embedding; });
  }

  // Seconds of an exact pass that also computes the norm of every term.
  double norms() {
    return seconds_of([&] {
      return lase::exact_pass(*model_, *inputs_, neighborhoods_, lase::ops::Score::kNorm)
          .back()
          .score;
    });
  }

  std::string on_cpu() const { return describe(inputs_->residence()); }
  // Then the times of its parts are not known.
  bool is_recorded() const { return step_->takes_slots(); }
  int64_t links_first_layer() const { return links_first_layer_; }
  int64_t links() const { return links_; }
  // Floating-point operations of U f(e) and its gradients, as if attributes were dense.
  double flop() const { return flop_; }

 private:
  // Of a pass that returns a tensor. On a GPU, of a second one, because the first also loads
  // kernels and allocates memory.
  template <class Pass>
  double seconds_of(const Pass& pass) const {
    const auto wait = [](const at::Tensor& x) { x.flatten().narrow(0, 0, 1).cpu(); };
    if (!device_.is_cpu()) wait(pass());
    const auto start = Clock::now();
    wait(pass());
    return seconds_since(start);
  }

  void run_round(int64_t round, int64_t batches, bool warm_up, Times& times) {
    lase::BatchPlan plan;
    plan.order = seeds(round, batches * batch_);
    plan.batches = batches;
    plan.key = {flags_.seed, round, 0};
    lase::BatchStream stream(neighborhoods_, estimator_->sampling(),
                             {.plan = std::move(plan),
                              .snapshot = nullptr,
                              .seeds = seeds_.get(),
                              .hidden = nullptr,
                              .device = device_,
                              .sampler = sampler_.get(),
                              .slots = step_->takes_slots(),
                              .objective = objective_.get()});
    int64_t unread = 0;  // steps since the last wait for the device
    auto start = Clock::now();
    while (const auto item = stream.next()) {
      const lase::ops::Dropout dropout{flags_.dropout,
                                       lase::Random(flags_.seed, round, item->number).bits()};
      const auto result = step_->run(*item, {.dropout = dropout, .learning_rate = 0.01});
      count(item->batch);
      ++unread;
      const bool is_warm_up = warm_up && item->number == 0;
      if (!device_.is_cpu() && !is_warm_up && unread < kReadEvery && item->number + 1 < batches) {
        continue;
      }
      result.loss.item<float>();
      const int64_t steps = std::exchange(unread, 0);
      if (!is_warm_up) {
        times.step.push_back(seconds_since(start) / static_cast<double>(steps));
        times.sample.push_back(item->seconds);
        times.forward.push_back(result.forward_seconds);
        times.backward.push_back(result.backward_seconds);
        times.optimizer.push_back(result.optimizer_seconds);
      }
      start = Clock::now();
    }
  }

  // A new random order in each round.
  std::vector<int64_t> seeds(int64_t round, int64_t wanted) const {
    std::vector<int64_t> order = nodes_;
    lase::Random random(flags_.seed, 0x53454544, round);
    lase::subsample(order, static_cast<size_t>(wanted), random);
    return order;
  }

  void count(const lase::Batch& batch) {
    links_ = batch.arcs();
    links_first_layer_ = batch.blocks.empty() ? 0 : batch.blocks.front().sampled();
    flop_ = 0;
    int64_t width = graph_.nodes.features.columns;
    for (size_t l = 0; l < batch.blocks.size(); ++l) {
      flop_ += 6.0 * static_cast<double>(batch.blocks[l].sampled() * width) *
               static_cast<double>(graph_.link_attributes.columns);
      if (l < flags_.widths.size()) {
        width = lase::out_width(model_->options(), flags_.widths[l]);
      }
    }
  }

  const lase::Graph& graph_;
  // Steps between waits for a GPU, as in training.
  static constexpr int64_t kReadEvery = 16;

  const StepFlags& flags_;
  at::Device device_;
  lase::Adjacency neighborhoods_;
  std::optional<lase::Inputs> inputs_;
  std::optional<lase::Model> model_;
  std::optional<lase::Estimator> estimator_;
  std::unique_ptr<lase::NeighborSampler> sampler_;
  std::unique_ptr<lase::Objective> objective_;
  std::optional<lase::TrainStep> step_;
  std::unique_ptr<lase::Seeds> seeds_;
  std::vector<int64_t> nodes_;  // or links
  int64_t batch_ = 0;
  int64_t links_first_layer_ = 0;
  int64_t links_ = 0;
  double flop_ = 0;
};

json run_step(const StepFlags& flags, const Session& session) {
  const lase::Workspace workspace;
  std::ostream& out = session.out();
  lase::Graph graph = graph_of(flags);
  lase::require_option(
      flags.predicts == lase::Predicts::kNodes || flags.predicts == lase::Predicts::kLinkPrediction,
      lase::OptionName{"task"}, ": must be nodes or link-prediction");
  if (lase::predicts_links(flags.predicts)) lase::prepare_targets(graph, flags.predicts);
  out << "graph            " << graph.node_count() << " nodes, " << graph.links << " links, "
      << graph.nodes.features.columns << " node features, " << graph.link_attributes.columns
      << " link attributes (" << lase::layout_name(graph.link_attributes.layout) << ")\n";
  json result = {{"threads", lase::thread_count()},
                 {"instruction_set", lase::kernels::instruction_set()}};
  std::optional<lase::ops::OneThread> one_thread(std::in_place);
  const at::Device device = lase::choose_device(flags.device, graph.links);
  const lase::ops::PrecisionScope precision(
      lase::choose_precision(flags.device, device, lase::kTrainingPrecision));
  const lase::ops::StreamScope stream(device);
  Run run(graph, flags);
  const Times times = run.steps();
  const double step = median(times.step);
  result.update({{"seconds_per_step", step},
                 {"arcs", run.links()},
                 {"links_first_layer", run.links_first_layer()},
                 {"links_per_second", static_cast<double>(run.links()) / step},
                 {"gflops", run.flop() / step / 1e9},
                 {"sample_seconds", median(times.sample)},
                 {"forward_seconds", median(times.forward)},
                 {"backward_seconds", median(times.backward)},
                 {"optimizer_seconds", median(times.optimizer)}});
  if (flags.inference) {
    result["inference_seconds"] = run.inference();
    result["norms_seconds"] = run.norms();
  }
  result["peak_rss_bytes"] = peak_rss();
  if (!device.is_cpu()) {
    result["peak_device_bytes"] = lase::ops::cuda::peak_memory(device);
    result["on_cpu"] = run.on_cpu();
  }
  one_thread.reset();
  const auto ms = [&](const char* key) { return result[key].get<double>() * 1e3; };
  out << std::fixed << std::setprecision(1);
  out << "one step         " << ms("seconds_per_step") << " ms";
  if (run.is_recorded()) {
    out << ", replayed as a CUDA graph; sampling in parallel\n";
  } else {
    out << ": forward " << ms("forward_seconds") << ", backward " << ms("backward_seconds")
        << ", Adam " << ms("optimizer_seconds") << "; sampling " << ms("sample_seconds")
        << " in parallel\n";
  }
  out << "first layer      " << run.links_first_layer() << " links; "
      << result["links_per_second"].get<double>() / 1e6 << " million links/s; "
      << result["gflops"].get<double>()
      << " GFLOP/s for U f(e) and its gradients, counted as dense ("
      << lase::kernels::instruction_set() << ", " << lase::thread_count() << " threads)\n"
      << "peak memory      " << static_cast<double>(peak_rss()) / (1 << 20) << " MiB";
  if (!device.is_cpu()) {
    const auto bytes = static_cast<double>(lase::ops::cuda::peak_memory(device));
    out << "; tensors on the GPU " << bytes / (1 << 20) << " MiB";
    if (!run.on_cpu().empty()) out << "; in memory of the CPU: " << run.on_cpu();
  }
  out << "\n";
  if (flags.inference) {
    out << "exact inference  " << ms("inference_seconds") << " ms for " << graph.arc_count()
        << " arcs; sums and norms of all terms " << ms("norms_seconds") << " ms\n";
  }
  if (flags.reference) {
    // Plain torch operations on as many threads, with the default allocator settings and with freed
    // memory kept.
    at::set_num_threads(lase::thread_count());
    const lase::ops::UseReference plain;
    keep_freed_memory();
    const double kept = median(run.steps().step);
    return_freed_memory();
    const double composed = median(run.steps().step);
    result["reference_seconds_per_step"] = composed;
    result["reference_kept_seconds_per_step"] = kept;
    result["ratio"] = composed / result["seconds_per_step"].get<double>();
    result["ratio_kept"] = kept / result["seconds_per_step"].get<double>();
    out << "plain torch      " << composed * 1e3 << " ms, " << result["ratio"].get<double>()
        << " times as long (" << kept * 1e3 << " ms, " << result["ratio_kept"].get<double>()
        << " times, if freed memory is kept as in lase)\n";
  }
  return result;
}

void add_step(CLI::App& bench, Session& session) {
  auto flags = std::make_shared<StepFlags>();
  CLI::App* command = session.add_command(
      bench, "step", "Time one training step (sampling, forward, backward, Adam) on a random graph",
      [flags, &session] {
        flags->random.seed = flags->seed;
        return run_step(*flags, session);
      });
  add_flags(*command, step_table().bind(*flags));
  command->footer(
      "Examples:\n"
      "  lase bench step --nodes 10000 --links 100000 --steps 10\n"
      "  lase bench step --graph mail.graph --fanout 10,10 --inference");
}

}  // namespace

void add_bench(CLI::App& app, Session& session) {
  CLI::App* bench = app.add_subcommand("bench", command_summary("bench"));
  bench->require_subcommand(1);
  add_step(*bench, session);
  add_bench_exchange(*bench, session);
  add_bench_links(*bench, session);
  add_bench_sampling(*bench, session);
  bench->footer(
      "Examples:\n"
      "  lase bench step --nodes 10000 --links 100000 --steps 10\n"
      "  lase bench sampling mail.graph mail.model --samples 5");
}
