#include <ATen/ATen.h>
#include <algorithm>
#include <c10/core/GradMode.h>
#include <cmath>
#include <iomanip>
#include <memory>
#include <optional>
#include <string>

#include "lase/base/error.h"
#include "lase/base/parallel.h"
#include "lase/base/random.h"
#include "lase/base/shuffle.h"
#include "lase/inference/inference.h"
#include "lase/inference/objective.h"
#include "lase/inference/predict.h"
#include "lase/model/model_file.h"
#include "lase/ops/one_thread.h"
#include "lase/ops/workspace.h"
#include "lase/train/batch_stream.h"
#include "lase/train/estimator.h"
#include "lase/train/protocol.h"
#include "lase/train/step.h"

#include "cli/option_flags.h"
#include "cli/session.h"
#include "common/timing.h"

namespace {

using at::Tensor;
using lase::Replacement;
using lase::Strategy;
using nlohmann::json;

constexpr Strategy kStrategies[] = {Strategy::kUniform, Strategy::kGate, Strategy::kMinVar,
                                    Strategy::kSnapshot};
constexpr Replacement kReplacements[] = {Replacement::kWith, Replacement::kWithout};

struct SamplingFlags {
  std::string graph;
  std::string model;
  int64_t samples = 10;
  int64_t stale = 10;
  int64_t warm_up = 20;
  int64_t repeats = 100;
  int64_t rows = 2000;
  int64_t batch = 512;
  double learning_rate = 0.01;
  uint64_t seed = 1;
};

const lase::OptionTable<SamplingFlags>& sampling_table() {
  static const auto table = [] {
    using lase::any;
    using lase::at_least;
    using O = SamplingFlags;
    lase::OptionTable<O> all;
    all.add("graph", &O::graph, any(), "Graph file").required().positional();
    all.add("model", &O::model, any(), "Model trained on it").required().positional();
    all.add("samples", &O::samples, at_least(1), "Sampled neighbors, S");
    all.add("stale", &O::stale, at_least(0), "Batches between a refresh and the estimate");
    all.add("warm_up", &O::warm_up, at_least(0), "Batches before the first refresh");
    all.add("repeats", &O::repeats, at_least(2), "Number of samples of every row");
    all.add("rows", &O::rows, at_least(1), "Maximum number of rows to estimate");
    all.add("batch_size", &O::batch, at_least(1), "Batch size in nodes");
    all.add("learning_rate", &O::learning_rate, lase::positive(1e3), "Learning rate for Adam");
    all.add("seed", &O::seed, any(), "Random seed");
    return all;
  }();
  return table;
}

// Continues the training of a model, so that probabilities and snapshots become stale.
class Training {
 public:
  Training(const lase::TrainedModel& trained, const lase::Graph& graph, const SamplingFlags& flags)
      : flags_(flags),
        objective_(lase::make_objective(lase::labels_as_trained(trained, graph.nodes.labels))),
        protocol_(
            lase::make_protocol(graph, *objective_,
                                lase::training_links(lase::train_option_table().from_json(
                                    trained.training.value("options", nlohmann::json::object()))))),
        inputs_(graph, trained.scaling),
        seeds_(trained.label_inputs),
        model_(*trained.model),
        step_({model_, inputs_, *objective_}, {.weight_decay = 0, .clip = 5}) {
    lase::require(objective_->outputs() == model_.shape().outputs, flags.graph, ": has ",
                  objective_->outputs(), " classes, but the model has ", model_.shape().outputs);
    objective_->fit(protocol_.train, false);
  }

  lase::Model& model() { return model_; }
  const lase::Inputs& inputs() const { return inputs_; }
  const lase::Adjacency& train_graph() const { return protocol_.train_graph; }
  int64_t batch() const {
    return std::min(flags_.batch, static_cast<int64_t>(protocol_.train.size()));
  }

  // Trains on batches with uniform sampling.
  void run(int64_t batches) {
    const lase::Sampling sampling{
        .fanouts = std::vector<int64_t>(static_cast<size_t>(model_.block_count()), flags_.samples)};
    while (batches > 0) {
      ++round_;
      std::vector<int64_t> order = protocol_.train;
      lase::Random random(flags_.seed, round_);
      lase::shuffle(order, random);
      lase::BatchPlan plan;
      plan.batches = lase::batch_count(std::ssize(order), batch());
      plan.order = std::move(order);
      plan.key = {flags_.seed, round_, 0};
      lase::BatchStream stream(
          train_graph(), sampling,
          {.plan = std::move(plan), .seeds = &seeds_, .objective = objective_.get()});
      while (const auto item = stream.next()) {
        if (batches-- == 0) break;
        const lase::ops::Dropout dropout{model_.options().dropout,
                                         lase::Random(flags_.seed, round_, item->number, 1).bits()};
        step_.run(*item, {.dropout = dropout, .learning_rate = flags_.learning_rate});
      }
    }
  }

 private:
  const SamplingFlags& flags_;
  std::unique_ptr<lase::Objective> objective_;
  lase::Protocol protocol_;
  lase::Inputs inputs_;
  lase::NodeSeeds seeds_;
  lase::Model& model_;
  lase::TrainStep step_;
  int64_t round_ = 0;
};

// The rows to estimate: a random sample of the rows with more arcs than the fan-out.
std::vector<int64_t> long_rows(const lase::Adjacency& graph, const SamplingFlags& flags) {
  std::vector<int64_t> rows;
  for (int64_t u = 0; u + 1 < graph.row_ptr.size(); ++u) {
    if (graph.degree(u) > flags.samples) rows.push_back(u);
  }
  lase::require(!rows.empty(), flags.graph, ": no training node has more than ", flags.samples,
                " links; decrease --samples");
  lase::Random random(flags.seed, 0x524F5753);
  lase::subsample(rows, static_cast<size_t>(flags.rows), random);
  return rows;
}

// Compares sampled sums of one layer with the exact sums of the current weights.
class Measure {
 public:
  Measure(const Training& training, const lase::Model& model, const std::vector<int64_t>& rows,
          const SamplingFlags& flags)
      : training_(training), model_(model), rows_(rows), flags_(flags) {
    exact_ = lase::exact_pass(model, training.inputs(), training.train_graph());
  }

  // E ‖ŝ(u) − s(u)‖² of layer l, averaged over rows.
  double variance(lase::Estimator& estimator, size_t l) const {
    const std::vector<Tensor> exact = exact_sums(l);
    double squares = 0;
    for_each_estimate(estimator, l, [&](const std::vector<Tensor>& s) {
      for (size_t i = 0; i < s.size(); ++i) {
        squares += (s[i] - exact[i]).square().sum().item<double>();
      }
    });
    return squares / static_cast<double>(flags_.repeats) / static_cast<double>(rows_.size());
  }

  // Errors of the normalized sums ŝ(u) / ẑ(u) of states in layer l, relative to their root mean
  // square over all rows: bias and standard deviation.
  struct RatioErrors {
    double bias = 0;
    double deviation = 0;
  };
  // Nothing if the layer does not divide by a sum.
  std::optional<RatioErrors> ratio_errors(lase::Estimator& estimator, size_t l) const {
    const auto normalizer = model_.layer(static_cast<int64_t>(l)).normalizer();
    if (!normalizer) return std::nullopt;
    const auto ratio = [&](const std::vector<Tensor>& s) {
      const Tensor& sum = s[normalizer->sum];
      const int64_t states = normalizer->sum == 0 ? normalizer->column : s[0].size(1);
      return (s[0].narrow(1, 0, states) / sum.narrow(1, normalizer->column, 1)).to(at::kDouble);
    };
    const Tensor exact = ratio(exact_sums(l));
    Tensor mean = at::zeros_like(exact);
    double squares = 0;
    const auto repeats = static_cast<double>(flags_.repeats);
    for_each_estimate(estimator, l, [&](const std::vector<Tensor>& s) {
      const Tensor error = ratio(s) - exact;
      mean += error / repeats;
      squares += error.square().sum().item<double>() / repeats;
    });
    const double size = exact.square().sum().item<double>();
    const double of_mean = mean.square().sum().item<double>();
    // The mean over few samples has an error of its own.
    const double variance = std::max(0.0, squares - of_mean) / (repeats - 1);
    return RatioErrors{.bias = std::sqrt(std::max(0.0, of_mean - variance) / size),
                       .deviation = std::sqrt(repeats * variance / size)};
  }

  // Seconds per sampled arc of the first layer, on one thread.
  double sample_seconds(const lase::Estimator& estimator) const {
    const lase::ThreadLimit one_thread(1);
    lase::Sampling one{.fanouts = {flags_.samples},
                       .replacement = estimator.sampling().replacement};
    if (!estimator.sampling().probabilities.empty())
      one.probabilities = {estimator.sampling().probabilities[0]};
    std::vector<double> seconds;
    for (int64_t repeat = 0; repeat < 21; ++repeat) {
      const auto start = Clock::now();
      const lase::Batch batch =
          lase::sample_batch(training_.train_graph(), rows_, one, {flags_.seed, repeat, 2});
      seconds.push_back(seconds_since(start) / static_cast<double>(batch.arcs()));
    }
    return median(seconds);
  }

 private:
  // The exact sums of the rows.
  std::vector<Tensor> exact_sums(size_t l) const {
    std::vector<Tensor> sums;
    for (const Tensor& s : exact_[l].baseline.sums) {
      sums.push_back(s.index_select(0, lase::index_of(rows_)));
    }
    return sums;
  }

  // Calls visit(ŝ) for every sample of the rows.
  template <class Visit>
  void for_each_estimate(lase::Estimator& estimator, size_t l, const Visit& visit) const {
    c10::NoGradGuard no_grad;
    lase::Sampling one{.fanouts = {flags_.samples},
                       .replacement = estimator.sampling().replacement};
    if (!estimator.sampling().probabilities.empty())
      one.probabilities = {estimator.sampling().probabilities[l]};
    for (int64_t repeat = 0; repeat < flags_.repeats; ++repeat) {
      lase::Batch batch =
          lase::sample_batch(training_.train_graph(), rows_, one, {flags_.seed, repeat, 1});
      visit(estimate(estimator, l, batch));
    }
  }

  std::vector<Tensor> estimate(lase::Estimator& estimator, size_t l, lase::Batch& batch) const {
    const auto rows = [&](const lase::ops::Rows& all) {
      return all.defined() ? all.at(batch.nodes) : all;
    };
    const lase::State& all = exact_[l].baseline.state;
    const lase::State state{rows(all.h), rows(all.f)};
    const lase::Block block = batch.blocks[0];
    const lase::LayerInput in{state, block, training_.inputs().links(), {}};
    const lase::Layer& layer = model_.layer(static_cast<int64_t>(l));
    const auto parts = layer.sums(in);
    if (estimator.snapshot() != nullptr) {
      batch.blocks.resize(exact_.size(), block);
      const lase::Baseline baseline = estimator.snapshot()->of(batch);
      return layer.estimate(parts, in, baseline.model->layer(static_cast<int64_t>(l)),
                            baseline.layers[l]);
    }
    std::vector<Tensor> s;
    for (const auto& part : parts) s.push_back(lase::ops::gated_sum(part, block));
    return s;
  }

  const Training& training_;
  const lase::Model& model_;
  const std::vector<int64_t>& rows_;
  const SamplingFlags& flags_;
  std::vector<lase::LayerPass> exact_;
};

struct Candidate {
  Strategy strategy;
  Replacement replacement;
  std::unique_ptr<lase::Estimator> estimator;
  double refresh_seconds = 0;
};

// [strategy][replacement][layer], relative to uniform sampling with replacement.
json relative_variance(const Measure& measure, const std::vector<Candidate>& candidates,
                       int64_t layers) {
  json result = json::object();
  std::vector<double> base;
  for (const auto& candidate : candidates) {
    json numbers = json::array();
    for (size_t l = 0; l < static_cast<size_t>(layers); ++l) {
      const double variance = measure.variance(*candidate.estimator, l);
      lase::require(std::isfinite(variance), "the sums are not finite after training; decrease ",
                    "--learning-rate");
      if (base.size() == l) base.push_back(variance);  // the first candidate is the baseline
      numbers.push_back(base[l] > 0 ? variance / base[l] : 0);
    }
    result[std::string(name_of(candidate.strategy))][std::string(name_of(candidate.replacement))] =
        numbers;
  }
  return result;
}

// The errors of normalized sums, [bias or deviation][strategy][replacement][layer]; null if the
// model has none.
json ratio_errors(const Measure& measure, const std::vector<Candidate>& candidates,
                  int64_t layers) {
  json result;
  for (const auto& candidate : candidates) {
    for (size_t l = 0; l < static_cast<size_t>(layers); ++l) {
      const auto errors = measure.ratio_errors(*candidate.estimator, l);
      if (!errors) return {};
      const std::string strategy(name_of(candidate.strategy));
      const std::string replacement(name_of(candidate.replacement));
      result["bias"][strategy][replacement].push_back(errors->bias);
      result["deviation"][strategy][replacement].push_back(errors->deviation);
    }
  }
  return result;
}

void show(std::ostream& out, const json& result, const std::vector<Candidate>& candidates) {
  const auto numbers = [&](const json& list) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(3);
    for (const auto& number : list) text << std::setw(8) << number.get<double>();
    return text.str();
  };
  const auto layers = result["relative_variance"]["uniform"]["with"].size();
  const auto wide = static_cast<int>(8 * layers);
  out << "strategy  replace  " << std::setw(wide) << "fresh"
      << "  " << std::setw(wide) << "stale"
      << "    ns/sample  refresh\n";
  for (const auto& candidate : candidates) {
    const std::string strategy(name_of(candidate.strategy));
    const std::string replacement(name_of(candidate.replacement));
    out << std::left << std::setw(10) << strategy << std::setw(9) << replacement << std::right
        << numbers(result["relative_variance_fresh"][strategy][replacement]) << "  "
        << numbers(result["relative_variance_stale"][strategy][replacement]) << std::fixed
        << std::setprecision(1) << std::setw(11)
        << result["sample_nanoseconds"][strategy][replacement].get<double>() << std::setw(6)
        << candidate.refresh_seconds * 1e3 << " ms\n";
  }
  if (result["ratio_error"].is_null()) return;
  out << "\nerror of the normalized sums relative to their root mean square, stale: bias and "
         "standard "
         "deviation\n\n";
  for (const auto& candidate : candidates) {
    const std::string strategy(name_of(candidate.strategy));
    const std::string replacement(name_of(candidate.replacement));
    out << std::left << std::setw(10) << strategy << std::setw(9) << replacement << std::right
        << numbers(result["ratio_error"]["bias"][strategy][replacement]) << "  "
        << numbers(result["ratio_error"]["deviation"][strategy][replacement]) << "\n";
  }
}

json run_sampling(const SamplingFlags& flags, const Session& session) {
  const lase::Workspace workspace;
  const lase::TrainedModel trained = lase::load_model(flags.model);
  lase::Graph graph = lase::load_graph(flags.graph);
  graph = lase::prepare_graph(trained, std::move(graph), flags.graph);
  lase::require(trained.model->block_count() > 0, flags.model,
                ": does not have a layer that samples neighbors");
  lase::require(lase::sums_terms(trained.model->options()), flags.model,
                ": uses max aggregation, which sampling cannot estimate");
  const lase::ops::OneThread one_thread;
  Training training(trained, graph, flags);
  const std::vector<int64_t> rows = long_rows(training.train_graph(), flags);
  training.run(flags.warm_up);
  std::vector<Candidate> candidates;
  for (const Strategy strategy : kStrategies) {
    for (const Replacement replacement : kReplacements) {
      Candidate candidate{strategy, replacement,
                          std::make_unique<lase::Estimator>(
                              lase::SamplingOptions{.fanout = {flags.samples},
                                                    .strategy = strategy,
                                                    .replacement = replacement,
                                                    .refresh = lase::Refresh::kEager},
                              training.model(), training.inputs(), training.train_graph(),
                              lase::SeedCounts{training.batch(), training.batch()})};
      std::vector<double> seconds;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto start = Clock::now();
        candidate.estimator->refresh();
        seconds.push_back(seconds_since(start));
      }
      candidate.refresh_seconds = median(seconds);
      candidates.push_back(std::move(candidate));
    }
  }
  const int64_t layers = training.model().block_count();
  json result = {{"samples", flags.samples}, {"stale_batches", flags.stale}, {"rows", rows.size()}};
  result["relative_variance_fresh"] =
      relative_variance(Measure(training, training.model(), rows, flags), candidates, layers);
  training.run(flags.stale);
  const Measure stale(training, training.model(), rows, flags);
  result["relative_variance_stale"] = relative_variance(stale, candidates, layers);
  result["ratio_error"] = ratio_errors(stale, candidates, layers);
  // Probabilities are compared when fresh, the snapshot when stale: a fresh one has no variance.
  result["relative_variance"] = result["relative_variance_fresh"];
  result["relative_variance"]["snapshot"] = result["relative_variance_stale"]["snapshot"];
  for (const auto& candidate : candidates) {
    const std::string strategy(name_of(candidate.strategy));
    const std::string replacement(name_of(candidate.replacement));
    result["sample_nanoseconds"][strategy][replacement] =
        stale.sample_seconds(*candidate.estimator) * 1e9;
    result["refresh_seconds"][strategy][replacement] = candidate.refresh_seconds;
  }
  auto& out = session.out();
  out << "variance of s(u) relative to uniform sampling with replacement, one column per layer\n"
      << flags.samples << " sampled links per node, " << rows.size()
      << " training nodes with more links; stale: " << flags.stale
      << " batches after the refresh\n\n";
  show(out, result, candidates);
  return result;
}

}  // namespace

void add_bench_sampling(CLI::App& bench, Session& session) {
  auto flags = std::make_shared<SamplingFlags>();
  CLI::App* command = session.add_command(
      bench, "sampling",
      "Measure how well each sampling strategy estimates the sums of a trained model",
      [flags, &session] { return run_sampling(*flags, session); });
  add_flags(*command, sampling_table().bind(*flags));
  command->footer(
      "Examples:\n"
      "  lase bench sampling mail.graph mail.model --samples 5\n"
      "  lase bench sampling mail.graph mail.model --samples 5 --stale 50 --json");
}
