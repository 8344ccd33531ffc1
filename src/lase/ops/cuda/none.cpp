#include "lase/base/error.h"
#include "lase/ops/cuda/cuda.h"
#include "lase/ops/pinned.h"
#include "lase/ops/recording.h"

namespace lase::ops {

bool cuda::is_built() { return false; }
bool cuda::supports(const at::Device&) { return false; }
int64_t cuda::most_attributes() { return 0; }
int64_t cuda::peak_memory(const at::Device&) { return 0; }
int64_t cuda::free_memory(const at::Device&) { return 0; }

at::Tensor pinned(const at::Tensor&, const at::Device&) {
  fail("this build of lase has no GPU support");
}
at::Tensor pinned(const at::Tensor& x, const at::Device& device, int64_t) {
  return pinned(x, device);
}

struct Recorder::Pool {};
struct StreamScope::State {};

bool Recorder::supports(const c10::Device&) { return false; }
Recorder::Recorder() = default;
Recorder::~Recorder() = default;
Recording Recorder::record(const std::function<void()>&) {
  fail("this build of lase has no GPU support");
}
void Recording::replay() { fail("this build of lase has no GPU support"); }
StreamScope::StreamScope(const c10::Device&) {}
StreamScope::~StreamScope() = default;

}  // namespace lase::ops
