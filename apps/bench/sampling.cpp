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
#include "lase/inference/inference.h"
#include "lase/inference/predict.h"
#include "lase/model/model_file.h"
#include "lase/ops/one_thread.h"
#include "lase/train/adam.h"
#include "lase/train/batch_stream.h"
#include "lase/train/estimator.h"
#include "lase/train/loss.h"
#include "lase/train/protocol.h"

#include "cli/session.h"
#include "common/memory.h"
#include "common/timing.h"

namespace {

using at::Tensor;
using lase::Draw;
using lase::Strategy;
using nlohmann::json;

constexpr Strategy kStrategies[] = {Strategy::kUniform, Strategy::kGate, Strategy::kMinVar,
                                    Strategy::kSnapshot};
constexpr Draw kDraws[] = {Draw::kReplace, Draw::kWithout};

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

// A trained model that goes on training, so that what was learned about its sums grows stale.
class Training {
 public:
  Training(const lase::TrainedModel& trained, const lase::Graph& graph, const SamplingFlags& flags)
      : flags_(flags),
        labels_(lase::labels_as_trained(trained, graph)),
        protocol_(lase::make_protocol(
            graph, trained.training.value("/options/transductive"_json_pointer, false))),
        inputs_(graph, trained.scaling),
        model_(*trained.model),
        adam_(model_.parameters(), {.weight_decay = 0, .clip = 5}),
        loss_(labels_, protocol_.train, false) {
    lase::require(labels_.classes() == model_.shape().outputs, flags.graph, ": has ",
                  labels_.classes(), " classes, the model knows ", model_.shape().outputs);
  }

  lase::Model& model() { return model_; }
  const lase::Inputs& inputs() const { return inputs_; }
  const lase::Adjacency& seen() const { return protocol_.seen; }
  int64_t batch() const {
    return std::min(flags_.batch, static_cast<int64_t>(protocol_.train.size()));
  }

  // Batches with uniform draws.
  void run(int64_t batches) {
    const lase::Sampling sampling{
        .fanouts = std::vector<int64_t>(static_cast<size_t>(model_.block_count()), flags_.samples)};
    while (batches > 0) {
      ++round_;
      std::vector<int64_t> order = protocol_.train;
      lase::Random random(flags_.seed, round_);
      for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
      lase::BatchStream stream(seen(), sampling,
                               {.order = order, .size = batch(), .key = {flags_.seed, round_, 0}});
      while (const auto item = stream.next()) {
        if (batches-- == 0) break;
        const lase::ops::Dropout dropout{model_.options().dropout,
                                         lase::Random(flags_.seed, round_, item->number, 1).bits()};
        const Tensor loss = loss_(model_.forward(inputs_, item->batch, dropout), item->seeds);
        adam_.zero_gradients();
        loss.backward();
        adam_.step(flags_.learning_rate);
      }
    }
  }

 private:
  const SamplingFlags& flags_;
  lase::Labels labels_;
  lase::Protocol protocol_;
  lase::Inputs inputs_;
  lase::Model& model_;
  lase::Adam adam_;
  lase::Loss loss_;
  int64_t round_ = 0;
};

// The rows that are estimated: some of those with more arcs than are drawn.
std::vector<int64_t> long_rows(const lase::Adjacency& graph, const SamplingFlags& flags) {
  std::vector<int64_t> rows;
  for (int64_t u = 0; u + 1 < graph.row_ptr.size(); ++u) {
    if (graph.degree(u) > flags.samples) rows.push_back(u);
  }
  lase::require(!rows.empty(), flags.graph, ": no training node has more than ", flags.samples,
                " links to draw from (fewer --samples?)");
  lase::Random random(flags.seed, 0x524F5753);
  const auto kept = std::min(static_cast<size_t>(flags.rows), rows.size());
  for (size_t i = 0; i < kept; ++i) std::swap(rows[i], rows[i + random.below(rows.size() - i)]);
  rows.resize(kept);
  return rows;
}

// What draws of one layer give, against the exact sums at this moment.
class Measure {
 public:
  Measure(const Training& training, const lase::Model& model, const std::vector<int64_t>& rows,
          const SamplingFlags& flags)
      : training_(training), model_(model), rows_(rows), flags_(flags) {
    exact_ = lase::exact_pass(model, training.inputs(), training.seen());
  }

  // E ‖ŝ(u) − s(u)‖² of layer l, averaged over rows.
  double variance(lase::Estimator& estimator, size_t l) const {
    c10::NoGradGuard no_grad;
    lase::Sampling one{.fanouts = {flags_.samples}, .draw = estimator.sampling().draw};
    if (!estimator.sampling().shares.empty()) one.shares = {estimator.sampling().shares[l]};
    const Tensor targets = lase::index_of(rows_);
    double squares = 0;
    for (int64_t repeat = 0; repeat < flags_.repeats; ++repeat) {
      lase::Batch batch =
          lase::sample_batch(training_.seen(), rows_, one, {flags_.seed, repeat, 1});
      const auto s = estimate(estimator, l, batch);
      for (size_t i = 0; i < s.size(); ++i) {
        const Tensor error = s[i] - exact_[l].known.sums[i].index_select(0, targets);
        squares += error.square().sum().item<double>();
      }
    }
    return squares / static_cast<double>(flags_.repeats) / static_cast<double>(rows_.size());
  }

  // For one drawn arc of the first layer, on one thread.
  double draw_seconds(const lase::Estimator& estimator) const {
    const lase::Alone alone;
    lase::Sampling one{.fanouts = {flags_.samples}, .draw = estimator.sampling().draw};
    if (!estimator.sampling().shares.empty()) one.shares = {estimator.sampling().shares[0]};
    std::vector<double> seconds;
    for (int64_t repeat = 0; repeat < 21; ++repeat) {
      const auto start = Clock::now();
      const lase::Batch batch =
          lase::sample_batch(training_.seen(), rows_, one, {flags_.seed, repeat, 2});
      seconds.push_back(seconds_since(start) / static_cast<double>(batch.arcs()));
    }
    return median(seconds);
  }

 private:
  std::vector<Tensor> estimate(lase::Estimator& estimator, size_t l, lase::Batch& batch) const {
    const auto rows = [&](const lase::ops::Rows& all) {
      return all.defined() ? all.at(batch.nodes) : all;
    };
    const lase::State& all = exact_[l].known.state;
    const lase::State state{rows(all.h), rows(all.f)};
    const lase::Block block = batch.blocks[0];
    const lase::LayerInput in{state, block, training_.inputs().links(), {}};
    const lase::Layer& layer = model_.layer(static_cast<int64_t>(l));
    const auto parts = layer.sums(in);
    if (estimator.snapshot() != nullptr) {
      batch.blocks.resize(exact_.size(), block);
      const lase::Past past = estimator.snapshot()->of(batch);
      return layer.estimate(parts, in, past.model->layer(static_cast<int64_t>(l)), past.layers[l]);
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
  Draw draw;
  std::unique_ptr<lase::Estimator> estimator;
  double renewal_seconds = 0;
};

// By strategy, then by draw: a number for each layer, relative to uniform draws with replacement.
json relative_variance(const Measure& measure, const std::vector<Candidate>& candidates,
                       int64_t layers) {
  json result = json::object();
  std::vector<double> base;
  for (const auto& candidate : candidates) {
    json numbers = json::array();
    for (size_t l = 0; l < static_cast<size_t>(layers); ++l) {
      const double variance = measure.variance(*candidate.estimator, l);
      lase::require(std::isfinite(variance), "the sums are not finite after training (a lower ",
                    "--learning-rate may help)");
      if (base.size() == l) base.push_back(variance);  // the first candidate is the base
      numbers.push_back(base[l] > 0 ? variance / base[l] : 0);
    }
    result[std::string(name_of(candidate.strategy))][std::string(name_of(candidate.draw))] =
        numbers;
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
  const auto layers = result["relative_variance"]["uniform"]["replace"].size();
  const auto wide = static_cast<int>(8 * layers);
  out << "strategy  draw     " << std::setw(wide) << "fresh"
      << "  " << std::setw(wide) << "stale"
      << "    ns/draw  renewal\n";
  for (const auto& candidate : candidates) {
    const std::string strategy(name_of(candidate.strategy));
    const std::string draw(name_of(candidate.draw));
    out << std::left << std::setw(10) << strategy << std::setw(9) << draw << std::right
        << numbers(result["relative_variance_fresh"][strategy][draw]) << "  "
        << numbers(result["relative_variance_stale"][strategy][draw]) << std::fixed
        << std::setprecision(1) << std::setw(11)
        << result["draw_nanoseconds"][strategy][draw].get<double>() << std::setw(6)
        << candidate.renewal_seconds * 1e3 << " ms\n";
  }
}

json run_sampling(const SamplingFlags& flags, const Session& session) {
  keep_freed_memory();
  for (const auto& [name, value] : {std::pair{"--samples", flags.samples},
                                    {"--repeats", flags.repeats},
                                    {"--rows", flags.rows},
                                    {"--batch", flags.batch}}) {
    lase::require(value >= 1, name, " ", value, ": expected at least 1");
  }
  lase::require(flags.learning_rate > 0 && std::isfinite(flags.learning_rate), "--learning-rate ",
                flags.learning_rate, ": expected a positive number");
  lase::require(flags.stale >= 0 && flags.warm_up >= 0, "--stale, --warm-up: expected 0 or more");
  const lase::TrainedModel trained = lase::load_model(flags.model);
  lase::Graph graph = lase::open_graph(flags.graph);
  lase::check_graph(graph, flags.graph);
  graph = lase::fitted_graph(trained, std::move(graph), flags.graph);
  lase::require(trained.model->block_count() > 0, flags.model, ": has no layer that draws");
  lase::require(lase::sums_terms(trained.model->options()), flags.model,
                ": takes the largest of a neighbourhood, which no draw estimates");
  const lase::ops::OneThread one_thread;
  Training training(trained, graph, flags);
  const std::vector<int64_t> rows = long_rows(training.seen(), flags);
  training.run(flags.warm_up);
  std::vector<Candidate> candidates;
  for (const Strategy strategy : kStrategies) {
    for (const Draw draw : kDraws) {
      Candidate candidate{
          strategy, draw,
          std::make_unique<lase::Estimator>(lase::SamplingOptions{.fanout = {flags.samples},
                                                                  .strategy = strategy,
                                                                  .draw = draw,
                                                                  .renewal = lase::Renewal::kEager},
                                            training.model(), training.inputs(), training.seen(),
                                            training.batch())};
      std::vector<double> seconds;
      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto start = Clock::now();
        candidate.estimator->renew();
        seconds.push_back(seconds_since(start));
      }
      candidate.renewal_seconds = median(seconds);
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
  // Each as it is meant: distributions fresh, and a snapshot, which has no variance at first,
  // stale.
  result["relative_variance"] = result["relative_variance_fresh"];
  result["relative_variance"]["snapshot"] = result["relative_variance_stale"]["snapshot"];
  for (const auto& candidate : candidates) {
    const std::string strategy(name_of(candidate.strategy));
    const std::string draw(name_of(candidate.draw));
    result["draw_nanoseconds"][strategy][draw] = stale.draw_seconds(*candidate.estimator) * 1e9;
    result["renewal_seconds"][strategy][draw] = candidate.renewal_seconds;
  }
  auto& out = session.out();
  out << "variance of s(u) relative to uniform draws with replacement, a number for each layer\n"
      << flags.samples << " of the links of " << rows.size()
      << " training nodes with more; stale: " << flags.stale << " batches later\n\n";
  show(out, result, candidates);
  return result;
}

}  // namespace

void add_bench_sampling(CLI::App& bench, Session& session) {
  auto flags = std::make_shared<SamplingFlags>();
  CLI::App* verb = session.add_verb(bench, "sampling",
                                    "How well each strategy estimates the sums of a trained model",
                                    [flags, &session] { return run_sampling(*flags, session); });
  verb->add_option("graph", flags->graph, "The graph file")->required();
  verb->add_option("model", flags->model, "A model trained on it")->required();
  verb->add_option("--samples", flags->samples, "Neighbours drawn, S");
  verb->add_option("--stale", flags->stale, "Batches between what is known and what is estimated");
  verb->add_option("--warm-up", flags->warm_up, "Batches before, so that Adam is in its stride");
  verb->add_option("--repeats", flags->repeats, "Draws of every row");
  verb->add_option("--rows", flags->rows, "Rows to estimate, at most");
  verb->add_option("--batch", flags->batch, "Nodes a batch");
  verb->add_option("--learning-rate", flags->learning_rate, "Of the batches");
  verb->add_option("--seed", flags->seed, "Same seed, same draws");
}
