#include "lase/train/step.h"

#include <ATen/ATen.h>
#include <chrono>
#include <cmath>
#include <utility>

namespace lase {
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

TrainStep::TrainStep(Model& model, const Inputs& inputs, const Objective& objective,
                     AdamOptions adam, GradientHook hook)
    : model_(model),
      inputs_(inputs),
      objective_(objective),
      adam_(model.parameters(), adam),
      hook_(std::move(hook)) {}

TrainStep::Result TrainStep::run(const BatchStream::Item& item, const Options& options) {
  Stopwatch watch;
  Result result;
  at::Tensor outputs =
      model_.forward(inputs_, item.batch, options.dropout,
                     item.baseline ? &*item.baseline : nullptr, item.query.links());
  if (item.query.excluded.defined()) {
    constexpr float kNever = -1e9F;
    outputs = outputs.reshape_as(item.query.excluded).masked_fill(item.query.excluded, kNever);
  }
  const at::Tensor loss = objective_.loss(outputs, item.seeds).mean();
  result.loss = loss.detach();
  result.forward_seconds = watch.lap();
  if (loss.is_cpu() && !std::isfinite(loss.item<float>())) return result;

  adam_.zero_gradients();
  loss.backward();
  if (hook_) hook_(model_.parameters());
  result.backward_seconds = watch.lap();

  adam_.step(options.learning_rate);
  result.optimizer_seconds = watch.lap();
  result.updated = true;
  return result;
}

}  // namespace lase
