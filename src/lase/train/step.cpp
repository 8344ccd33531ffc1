#include "lase/train/step.h"

#include <ATen/ATen.h>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/variable.h>
#include <utility>
#include <vector>

#include "lase/base/process_group.h"
#include "lase/ops/gated_sum.h"
#include "lase/ops/node.h"
#include "lase/train/chunk_sum.h"

namespace lase {

using at::Tensor;

namespace {

// lap() returns the seconds since the previous lap.
class Stopwatch {
 public:
  double lap() {
    const auto now = Clock::now();
    const std::chrono::duration<double> spent = now - std::exchange(last_, now);
    return spent.count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

TrainStep::TrainStep(const Parts& parts, AdamOptions adam)
    : parts_(parts), adam_(parts.model.parameters(), adam), numbers_(parts.model.device()) {}

bool TrainStep::takes_slots() const {
  const Model& model = parts_.model;
  const auto device = model.device();
  // The other cases read sizes back from the GPU.
  return ops::Recorder::supports(device) && !model.shape().links && parts_.inputs.dense() &&
         parts_.inputs.labeled().empty() && sums_terms(model.options()) &&
         ops::fuses(device, model.shape().link_attributes);
}

LossSum TrainStep::loss_of(const Item& item, const ops::Dropout& dropout) const {
  std::optional<Baseline> baseline = item.baseline;
  if (item.snapshot != nullptr) baseline = item.snapshot->of(item.batch);
  const Inputs& inputs = item.inputs ? *item.inputs : parts_.inputs;
  std::optional<Inputs> without_labels;
  if (item.hidden_labels.defined()) without_labels = inputs.hiding(item.hidden_labels);
  Tensor outputs =
      parts_.model.forward(without_labels ? *without_labels : inputs, item.batch, dropout,
                           baseline ? &*baseline : nullptr, item.query.links());
  if (item.query.excluded.defined()) {
    constexpr float kNever = -1e9F;
    outputs = outputs.reshape_as(item.query.excluded).masked_fill(item.query.excluded, kNever);
  }
  return parts_.objective.loss(outputs, item.truth);
}

void TrainStep::compute_gradients(const Tensor& loss) {
  adam_.zero_gradients();
  loss.backward();
}

int64_t TrainStep::gradient_size() const {
  int64_t size = 0;
  for (const auto& [name, w] : parts_.model.parameters().all()) size += w.numel();
  return size;
}

void TrainStep::set_gradients(const Tensor& values) {
  int64_t first = 0;
  for (auto& [name, w] : parts_.model.parameters().all()) {
    w.mutable_grad() = values.slice(0, first, first + w.numel()).view(w.sizes());
    first += w.numel();
  }
}

void TrainStep::begin_step(const Options& options) {
  ops::StepNumbers::Values values{.dropout_key = options.dropout.key};
  adam_.begin_step(options.learning_rate, values);
  if (parts_.average != nullptr) values.average_decay = parts_.average->decay(adam_.steps());
  numbers_.set(values);
}

void TrainStep::update() {
  adam_.update(numbers_.adam_factors());
  if (parts_.average != nullptr) {
    parts_.average->update(parts_.model.parameters(), numbers_.average_decay());
  }
}

TrainStep::Result TrainStep::run(const Item& item, const Options& options) {
  Stopwatch watch;
  Result result;
  if (item.slot != nullptr) {
    result.loss = run_in_slot(item, options);
    result.forward_seconds = watch.lap();
    result.updated = true;
    return result;
  }
  const Tensor loss = loss_of(item, options.dropout).mean();
  result.loss = loss.detach();
  result.forward_seconds = watch.lap();
  if (loss.is_cpu() && !std::isfinite(loss.item<float>())) return result;

  compute_gradients(loss);
  result.backward_seconds = watch.lap();

  begin_step(options);
  update();
  result.optimizer_seconds = watch.lap();
  result.updated = true;
  return result;
}

namespace {

// What is summed over chunks after the gradients.
enum ChunkTotal : int64_t { kLoss, kCount, kStops, kChunkTotals };

}  // namespace

Tensor TrainStep::sums_of(const Item& item, const ops::Dropout& dropout, bool stop) const {
  const auto device = parts_.model.device();
  Tensor totals = at::zeros({kChunkTotals}, device);
  totals[kStops] = stop ? 1 : 0;
  std::vector<Tensor> sums;
  std::vector<Tensor> weights;
  for (const auto& [name, w] : parts_.model.parameters().all()) weights.push_back(w);
  std::vector<Tensor> gradients(weights.size());
  if (!item.seeds.empty()) {
    const LossSum loss = loss_of(item, dropout);
    gradients = torch::autograd::grad({loss.sum}, weights, {}, c10::nullopt, false,
                                      /*allow_unused=*/true);
    totals[kLoss] = loss.sum.detach();
    totals[kCount] = loss.count.detach();
  }
  for (size_t i = 0; i < weights.size(); ++i) {
    const Tensor& g = gradients[i];
    sums.push_back(g.defined() ? g.reshape(-1) : at::zeros({weights[i].numel()}, device));
  }
  sums.push_back(totals);
  const Tensor all = at::cat(sums);
  return current_processes() == nullptr ? all : all.cpu();
}

TrainStep::Result TrainStep::run(int64_t chunks, const std::function<Item()>& next,
                                 const Options& options) {
  Stopwatch watch;
  Result result;
  const int64_t size = gradient_size();
  const auto take = [&](int64_t chunk) -> ChunkTask {
    const auto item = std::make_shared<const Item>(next());
    return [this, item, dropout = options.dropout.part(chunk), stop = options.stop] {
      return sums_of(*item, dropout, stop);
    };
  };
  const bool concurrent = parts_.model.device().is_cpu();
  // Keeps the gradient accumulators of the weights alive: torch reads its weak pointer to them
  // without a lock, so chunks that are computed at once must not create them.
  std::vector<ops::NodePointer> accumulators;
  for (const auto& [name, w] : parts_.model.parameters().all()) {
    if (concurrent) accumulators.push_back(torch::autograd::impl::grad_accumulator(w));
  }
  const Tensor sums = sum_over_chunks(chunks, size + kChunkTotals, take, concurrent);
  const Tensor totals = sums.slice(0, size);
  const LossSum loss{totals[kLoss], totals[kCount]};
  result.loss = loss.mean().to(parts_.model.device());
  result.stopped = current_processes() != nullptr && totals[kStops].item<float>() > 0;
  result.backward_seconds = watch.lap();
  if (result.loss.is_cpu() && !std::isfinite(result.loss.item<float>())) return result;

  const LossSum gradients{sums.slice(0, 0, size), loss.count};
  set_gradients(gradients.mean().to(parts_.model.device()));
  begin_step(options);
  update();
  result.optimizer_seconds = watch.lap();
  result.updated = true;
  return result;
}

Tensor TrainStep::run_in_slot(const Item& item, const Options& options) {
  begin_step(options);
  const ops::Dropout dropout{options.dropout.rate, 0, numbers_.dropout_key()};
  const auto step = [&] {
    const Tensor loss = loss_of(item, dropout).mean();
    compute_gradients(loss);
    update();
    return loss.detach();
  };
  item.slot->acquire();
  Tensor loss;
  if (recorder_ == nullptr) {
    loss = step();  // libraries allocate memory on first use, which cannot be recorded
    recorder_ = std::make_unique<ops::Recorder>();
  } else {
    const auto [at, is_new] = recorded_.try_emplace(item.slot->number());
    Recorded& recorded = at->second;
    if (is_new) recorded.step = recorder_->record([&] { recorded.loss = step(); });
    recorded.step.replay();
    loss = recorded.loss.clone();
  }
  item.slot->release();
  return loss;
}

}  // namespace lase
