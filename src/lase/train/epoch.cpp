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

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

EpochRunner::EpochRunner(const TrainOptions& options, const TrainingData& data)
    : options_(options),
      data_(data),
      model_(*data.trained.model),
      step_(model_, *data.inputs, *data.objective, with_weight_decay(options.adam, model_)),
      estimator_(options.sampling, model_, *data.inputs, data.protocol.train_graph,
                 {.epoch = std::ssize(data.protocol.train),
                  .batch = data.batch_size(options.batch),
                  .hides = data.seeds->hides()}),
      average_(model_.parameters(), options.average) {}

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

std::optional<double> EpochRunner::run(int64_t epoch, double learning_rate) {
  const auto start = Clock::now();
  // The contents of a lazy snapshot depend on the batches seen so far, so it is refreshed after
  // every checkpoint, which then does not need to store it.
  if (estimator_.lazy() && epoch % options_.checkpoint_every == 0) estimator_.mark_stale();
  // A snapshot must not contain the links that are predicted until the next refresh.
  if (data_.seeds->hides()) estimator_.mark_stale();
  const auto loss = run_batches(epoch, learning_rate);
  train_seconds_ += seconds_since(start);
  return loss;
}

std::optional<double> EpochRunner::run_batches(int64_t epoch, double learning_rate) {
  const std::vector<int64_t> order = shuffled(epoch);
  const auto n = std::ssize(order);
  // Of similar sizes: the step of a last batch of a few nodes would be as large as the others.
  const int64_t all = batch_count(n, data_.batch_size(options_.batch));
  // A GPU must finish all steps before a loss can be read.
  const int64_t read_every = data_.device.is_cpu() ? 1 : 16;
  pending_.clear();
  loss_sum_ = 0;
  done_ = 0;
  for (int64_t batch = 0; batch < all;) {
    if (estimator_.batches_left() == 0) {
      const int64_t last = std::min(all, batch + estimator_.refresh_every());
      refresh({order.begin() + batch * n / all, order.begin() + last * n / all});
    }
    const int64_t batches = std::min(all - batch, estimator_.batches_left());
    BatchStream stream(
        data_.protocol.train_graph, estimator_.sampling(),
        {.order = {order.begin() + batch * n / all, order.begin() + (batch + batches) * n / all},
         .batches = batches,
         .key = {options_.seed, epoch, batch},
         .snapshot = estimator_.snapshot(),
         .seeds = data_.seeds.get(),
         .hidden = estimator_.needs_refreshes() && data_.seeds->hides() ? &hidden_ : nullptr,
         .device = data_.device});
    while (const auto item = stream.next()) {
      step(epoch, *item, learning_rate);
      const bool last = item->number + 1 == all;
      if (std::ssize(pending_) < read_every && !last && !stopped()) continue;
      if (!read_losses(epoch) || stopped()) return std::nullopt;
      if (options_.batch_progress) {
        options_.batch_progress({.epoch = epoch + 1,
                                 .epochs = options_.epochs,
                                 .batch = item->number + 1,
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

void EpochRunner::step(int64_t epoch, const BatchStream::Item& item, double learning_rate) {
  links_ += item.batch.arcs();
  const ops::Dropout dropout{options_.model.dropout,
                             Random(options_.seed, kDropoutStream, epoch, item.number).bits()};
  if (item.number == 0) initial_ = model_.parameters().copy();
  const auto result = step_.run(item, {.dropout = dropout, .learning_rate = learning_rate});
  pending_.push_back({result.loss, item.number, std::ssize(item.seeds)});
  if (result.updated) average_.update(model_.parameters(), step_.adam().steps());
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

// For batches with these seeds.
void EpochRunner::refresh(std::span<const int64_t> order) {
  const auto start = Clock::now();
  const bool hides = data_.seeds->hides();
  if (hides) hidden_ = data_.seeds->hidden(data_.protocol.train_graph, order);
  estimator_.refresh(0, hides ? &hidden_ : nullptr);
  snapshot_ = model_.parameters().copy();
  refresh_seconds_ += seconds_since(start);
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
