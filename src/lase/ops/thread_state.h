#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <optional>

#include "lase/ops/precision.h"

namespace lase::ops {

// The stream and the precision of the calling thread, for a thread that it starts: work of both
// threads on the device then runs in the order in which it is enqueued.
class ThreadState {
 public:
  explicit ThreadState(const at::Device& device) {
    if (!device.is_cpu()) stream_ = c10::impl::VirtualGuardImpl(device.type()).getStream(device);
  }

  // Applies the state to the calling thread.
  class Scope {
   public:
    explicit Scope(const ThreadState& state) : precision_(state.precision_) {
      if (state.stream_) stream_.emplace(*state.stream_);
    }

   private:
    PrecisionScope precision_;
    std::optional<c10::StreamGuard> stream_;
  };

 private:
  Precision precision_ = PrecisionScope::current();
  std::optional<c10::Stream> stream_;
};

}  // namespace lase::ops
