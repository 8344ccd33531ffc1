#include "lase/sampler/batch_slot.h"

#include <ATen/ATen.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace lase {
namespace {

c10::Stream current_stream(const c10::Device& device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

}  // namespace

BatchSlot::BatchSlot(int64_t number, const c10::Stream& stream)
    : number_(number),
      stream_(stream),
      filled_(stream.device_type()),
      released_(stream.device_type()) {}

void BatchSlot::begin() {
  if (released_.was_marked_for_recording()) released_.block(stream_);
}

void BatchSlot::put_truth(const at::Tensor& values) {
  const c10::StreamGuard guard(stream_);
  if (!truth.defined())
    truth = at::empty(values.sizes(), values.options().device(stream_.device()));
  truth.copy_(values.pin_memory(), /*non_blocking=*/true);
}

void BatchSlot::end() { filled_.record(stream_); }

void BatchSlot::acquire() { filled_.block(current_stream(stream_.device())); }
void BatchSlot::release() { released_.record(current_stream(stream_.device())); }

}  // namespace lase
