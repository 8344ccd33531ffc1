#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <cstdint>

#include "lase/sampler/sampler.h"

namespace lase {

// Memory on a GPU for one batch after another, for steps that are recorded: the tensors stay the
// same, and are padded to the same sizes, with targets without arcs and sources that are node 0.
//
// A batch is sampled on a stream of its own while earlier ones are trained on. The methods order
// the two streams.
class BatchSlot {
 public:
  // `stream` is the one of sampling.
  BatchSlot(int64_t number, const c10::Stream& stream);

  int64_t number() const { return number_; }
  // The tensors, and the number of arcs of the batch that was sampled last.
  Batch batch;
  at::Tensor truth;  // of the seeds; see Objective::truth

  // ---- On the thread that samples

  // Before sampling: waits until no operation reads the previous batch anymore.
  void begin();
  void put_truth(const at::Tensor& values);
  void end();

  // ---- On the thread that trains

  void acquire();  // later work on the current stream waits for the batch
  void release();  // the next batch waits for earlier work on the current stream

 private:
  int64_t number_;
  c10::Stream stream_;
  c10::Event filled_;
  c10::Event released_;
};

}  // namespace lase
