#include "lase/train/epoch.h"

#include <ATen/ATen.h>
#include <algorithm>
#include <cmath>
#include <utility>

#include "lase/base/error.h"
#include "lase/base/random.h"
#include "lase/base/shuffle.h"

namespace lase {
namespace {

constexpr uint64_t kOrderStream = 0x4F52444552;
constexpr uint64_t kDropoutStream = 0x44524F50;

// Projected features are many, hence also the weights of W^(0), which overfit without a penalty.
AdamOptions with_weight_decay(AdamOptions options, const Model& model) {
  constexpr double kUsual = 5e-4;
  if (!options.weight_decay) options.weight_decay = model.projects() ? kUsual : 0;
  return options;
}

Estimator make_estimator(const TrainOptions& options, const TrainingData& data) {
  const Model& model = *data.trained.model;
  const SeedCounts seeds{.epoch = std::ssize(data.protocol.train),
                         .batch = data.batch_size(options.batch),
                         .most_hidden = data.seeds->most_hidden(std::ssize(data.protocol.train))};
  if (data.divided) {
    return {options.sampling, model, *data.inputs, data.divided->passes(model, *data.inputs),
            seeds};
  }
  return {options.sampling, model, *data.inputs, data.protocol.train_graph, seeds};
}

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

EpochRunner::EpochRunner(const TrainOptions& options, const TrainingData& data)
    : options_(options),
      data_(data),
      model_(*data.trained.model),
      average_(model_.parameters(), options.average),
      sampler_(make_sampler(data.protocol.train_graph,
                            data.inputs->residence().adjacency ? data.device : at::kCPU)),
      step_({model_, *data.inputs, *data.objective, &average_},
            with_weight_decay(options.adam, model_)),
      estimator_(make_estimator(options, data)) {}

double EpochRunner::seconds() const { return seconds_since(start_); }

double EpochRunner::links_per_second() const {
  return static_cast<double>(links_) / std::max(1e-9, train_seconds_);
}

std::vector<int64_t> EpochRunner::shuffled(int64_t epoch) const {
  std::vector<int64_t> order = data_.protocol.train;
  Random random(options_.seed, kOrderStream, epoch);
  shuffle(order, random);
  return order;
}

// Of similar sizes: the step of a last batch of a few nodes would be as large as the others.
int64_t EpochRunner::batches_per_epoch() const {
  return batch_count(std::ssize(data_.protocol.train), data_.batch_size(options_.batch));
}

BatchPlan EpochRunner::plan(const std::vector<int64_t>& order, int64_t epoch, int64_t first,
                            int64_t batches) const {
  const int64_t all = batches_per_epoch();
  const auto start_of = [&](int64_t batch) {
    return order.begin() + part_of(std::ssize(order), all, batch).first;
  };
  return {.order = {start_of(first), start_of(first + batches)},
          .batches = batches,
          .chunks = options_.chunks,
          .key = {options_.seed, epoch, first}};
}

BatchSource::Options EpochRunner::source_options(BatchPlan plan) {
  return {.plan = std::move(plan),
          .snapshot = estimator_.snapshot(),
          .seeds = data_.seeds.get(),
          .hidden = estimator_.needs_refreshes() && data_.seeds->hides() ? &hidden_ : nullptr,
          .device = data_.device,
          .sampler = sampler_.get(),
          .slots = step_.takes_slots() && !estimator_.lazy() && options_.chunks == 1,
          .objective = data_.objective.get()};
}

std::unique_ptr<ItemSource> EpochRunner::source(BatchPlan plan) {
  if (data_.divided) {
    return data_.divided->batches(
        estimator_.sampling(), std::move(plan),
        {*data_.objective, data_.graph.nodes.features, data_.trained.scaling});
  }
  return std::make_unique<BatchSource>(data_.protocol.train_graph, estimator_.sampling(),
                                       source_options(std::move(plan)));
}

std::optional<double> EpochRunner::run(int64_t epoch, double learning_rate) {
  const auto start = Clock::now();
  // The contents of a lazy snapshot depend on the batches seen so far, so it is refreshed after
  // every checkpoint, which then does not need to store it.
  if (estimator_.lazy() && epoch % options_.checkpoint_every == 0) estimator_.mark_stale();
  // A snapshot must not contain what the seeds of the batches until the next refresh hide.
  if (data_.seeds->hides()) estimator_.mark_stale();
  const int64_t sent = sent_so_far();
  own_links_ = 0;
  const auto loss = run_batches(epoch, learning_rate);
  links_ += sum_over_processes(own_links_);
  bytes_sent_ += sent_so_far() - sent;
  train_seconds_ += seconds_since(start);
  return loss;
}

int64_t EpochRunner::sent_so_far() const {
  const ProcessGroup* group = current_processes();
  const int64_t for_batches = data_.divided ? data_.divided->bytes_sent() : 0;
  return (group == nullptr ? 0 : group->bytes_sent()) + for_batches;
}

std::optional<double> EpochRunner::run_batches(int64_t epoch, double learning_rate) {
  const std::vector<int64_t> order = shuffled(epoch);
  const auto n = std::ssize(order);
  const int64_t all = batches_per_epoch();
  // A GPU must finish all steps before a loss can be read.
  const int64_t read_every = data_.device.is_cpu() ? 1 : 16;
  pending_.clear();
  loss_sum_ = 0;
  done_ = 0;
  for (int64_t batch = 0; batch < all;) {
    if (estimator_.batches_left() == 0) refresh(order, epoch, batch);
    const int64_t batches = std::min(all - batch, estimator_.batches_left());
    BatchStream stream(source(plan(order, epoch, batch, batches)));
    for (int64_t number = batch; number < batch + batches; ++number) {
      step(epoch, number, stream, learning_rate);
      const bool last = number + 1 == all;
      if (std::ssize(pending_) < read_every && !last && !stopped()) continue;
      if (!read_losses(epoch) || stopped()) return std::nullopt;
      if (options_.batch_progress) {
        options_.batch_progress({.epoch = epoch + 1,
                                 .epochs = options_.epochs,
                                 .batch = number + 1,
                                 .batches = all,
                                 .loss = loss_sum_ / static_cast<double>(done_),
                                 .seconds = seconds()});
      }
    }
    estimator_.count_batches(batches);
    batch += batches;
  }
  return loss_sum_ / static_cast<double>(n);
}

void EpochRunner::step(int64_t epoch, int64_t number, BatchStream& stream, double learning_rate) {
  const auto next = [&] {
    BatchStream::Item item = *stream.next();
    own_links_ += item.batch.arcs();
    return item;
  };
  const ops::Dropout dropout{options_.model.dropout,
                             Random(options_.seed, kDropoutStream, epoch, number).bits()};
  const TrainStep::Options step{dropout, learning_rate, requested_stop()};
  if (number == 0) initial_ = model_.parameters().copy();
  const auto result =
      options_.chunks == 1 ? step_.run(next(), step) : step_.run(options_.chunks, next, step);
  agreed_stop_ = agreed_stop_ || result.stopped;
  ++steps_;
  const auto n = std::ssize(data_.protocol.train);
  pending_.push_back({result.loss, number, part_of(n, batches_per_epoch(), number).size()});
}

bool EpochRunner::read_losses(int64_t epoch) {
  if (pending_.empty()) return true;
  std::vector<at::Tensor> losses;
  for (const auto& each : pending_) losses.push_back(each.loss);
  const at::Tensor values = at::stack(losses).cpu();
  const auto* value = values.data_ptr<float>();
  for (const auto& each : pending_) {
    const auto loss = static_cast<double>(*value++);
    if (!std::isfinite(loss)) {
      diverged_ = join("the loss is ", loss, " in epoch ", epoch + 1, ", batch ", each.batch + 1,
                       "; try a lower learning rate");
      return false;
    }
    if (each.batch == 0) good_ = std::move(initial_);
    loss_sum_ += loss * static_cast<double>(each.seeds);
    done_ += each.seeds;
  }
  pending_.clear();
  return true;
}

// Before batch `first` of an epoch.
void EpochRunner::refresh(const std::vector<int64_t>& order, int64_t epoch, int64_t first) {
  const auto start = Clock::now();
  const int64_t left = std::min(batches_per_epoch() - first, estimator_.refresh_every());
  hidden_ = data_.seeds->hidden(data_.protocol.train_graph, plan(order, epoch, first, left).order);
  hidden_.labels = ops::move(hidden_.labels, data_.device);
  LayerNodes read;
  const bool divided = process_count() > 1 && estimator_.eager() && !data_.divided;
  if (divided) read = targets_until_refresh(order, epoch, first);
  estimator_.refresh(0, hidden_, divided ? &read : nullptr);
  snapshot_ = model_.parameters().copy();
  refresh_seconds_ += seconds_since(start);
}

LayerNodes EpochRunner::targets_until_refresh(std::vector<int64_t> order, int64_t epoch,
                                              int64_t first) {
  LayerNodes all(static_cast<size_t>(model_.block_count()));
  for (int64_t left = estimator_.refresh_every(); left > 0 && epoch < options_.epochs; ++epoch) {
    const int64_t number = std::min(left, batches_per_epoch() - first);
    const BatchSource source(data_.protocol.train_graph, estimator_.sampling(),
                             source_options(plan(order, epoch, first, number)));
    const LayerNodes found = source.targets();
    for (size_t l = 0; l < all.size(); ++l) {
      all[l].insert(all[l].end(), found[l].begin(), found[l].end());
    }
    if (data_.seeds->hides()) break;  // every epoch starts with a refresh
    left -= number;
    first = 0;
    order = shuffled(epoch + 1);
  }
  return all;
}

void EpochRunner::save(Checkpoint& checkpoint) const {
  const auto& moments = step_.adam().moments();
  checkpoint.weights = model_.parameters().copy();
  checkpoint.average = average_.values();
  checkpoint.first = moments.first;
  checkpoint.second = moments.second;
  checkpoint.steps = moments.steps;
  const bool keeps = !estimator_.lazy() && !data_.seeds->hides();
  if (estimator_.needs_refreshes() && keeps && estimator_.batches_left() > 0) {
    checkpoint.snapshot = snapshot_;
    checkpoint.progress.batches_left = estimator_.batches_left();
  }
}

void EpochRunner::restore(Checkpoint& checkpoint) {
  Parameters& parameters = model_.parameters();
  if (!checkpoint.snapshot.empty()) {
    parameters.set(checkpoint.snapshot);
    estimator_.refresh(checkpoint.progress.batches_left);
    snapshot_ = std::move(checkpoint.snapshot);
  }
  parameters.set(checkpoint.weights);
  average_.restore(std::move(checkpoint.average));
  step_.adam().set({.first = std::move(checkpoint.first),
                    .second = std::move(checkpoint.second),
                    .steps = checkpoint.steps});
}

}  // namespace lase
