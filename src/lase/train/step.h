#pragma once

#include <functional>
#include <map>
#include <memory>

#include "lase/inference/objective.h"
#include "lase/model/model.h"
#include "lase/ops/optimizer.h"
#include "lase/ops/recording.h"
#include "lase/train/adam.h"
#include "lase/train/batch_stream.h"
#include "lase/train/weight_average.h"

namespace lase {

// One training step on a sampled batch:
//
//   outputs = model(batch)
//   L       = Σ loss / count
//   g       = ∂L/∂w
//   w       ← Adam(w, g)
//   w̄       ← average of w          if there is one
//
// A batch may be cut into chunks, which the current processes divide among themselves. Loss, count
// and ∂(Σ loss)/∂w are summed over the chunks, in an order that does not depend on the number of
// processes and threads.
//
// On a GPU, the CPU takes longer to enqueue these operations than the GPU to execute them. The step
// of a batch in a slot is therefore recorded, and replayed for later batches in the same slot.
class TrainStep {
 public:
  // `model`, `inputs`, `objective` and `average` must outlive the step.
  struct Parts {
    Model& model;
    const Inputs& inputs;
    const Objective& objective;
    WeightAverage* average = nullptr;
  };
  TrainStep(const Parts& parts, AdamOptions adam);

  // Whether batches may be in slots: steps on this device can be recorded.
  bool takes_slots() const;

  struct Options {
    ops::Dropout dropout = {};
    double learning_rate = 0;
    bool stop = false;  // request of this process, for a batch in chunks
  };
  struct Result {
    at::Tensor loss;  // scalar, on the device of the model; reading it waits for the GPU
    // False if the loss is infinite or NaN, which is checked on the CPU only.
    bool updated = false;
    bool stopped = false;  // a process requested it, for a batch in chunks
    // On a GPU, to enqueue the operations; of a recorded step, all of them in the first.
    double forward_seconds = 0;
    double backward_seconds = 0;
    double optimizer_seconds = 0;
  };
  Result run(const BatchStream::Item& item, const Options& options);
  // A batch in chunks: next() returns the next of the own chunks; it is called by several threads,
  // one at a time.
  Result run(int64_t chunks, const std::function<BatchStream::Item()>& next,
             const Options& options);

  Adam& adam() { return adam_; }
  const Adam& adam() const { return adam_; }

 private:
  using Item = BatchStream::Item;
  LossSum loss_of(const Item& item, const ops::Dropout& dropout) const;
  // The sums of a chunk: gradients, then those listed in step.cpp.
  at::Tensor sums_of(const Item& item, const ops::Dropout& dropout, bool stop) const;
  void compute_gradients(const at::Tensor& loss);
  int64_t gradient_size() const;
  // Sets the gradients to consecutive values.
  void set_gradients(const at::Tensor& values);
  // Sets the numbers of the next step, which update() and recorded steps read.
  void begin_step(const Options& options);
  void update();
  // The loss of a batch in a slot.
  at::Tensor run_in_slot(const Item& item, const Options& options);

  Parts parts_;
  Adam adam_;
  ops::StepNumbers numbers_;
  struct Recorded {
    ops::Recording step;
    at::Tensor loss;
  };
  std::unique_ptr<ops::Recorder> recorder_;  // created after the first step
  std::map<int64_t, Recorded> recorded_;     // by slot
};

}  // namespace lase
