#include "lase/ops/recording.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace lase::ops {

struct Recorder::Pool {
  at::cuda::MempoolId_t id = at::cuda::graph_pool_handle();
};

struct Recording::State {
  at::cuda::CUDAGraph graph;
};

void Recording::replay() { state_->graph.replay(); }

bool Recorder::supports(const c10::Device& device) { return device.is_cuda(); }

Recorder::Recorder() : pool_(std::make_unique<Pool>()) {}
Recorder::~Recorder() = default;

Recording Recorder::record(const std::function<void()>& enqueue) {
  Recording recording;
  recording.state_ = std::make_shared<Recording::State>();
  at::cuda::CUDAGraph& graph = recording.state_->graph;
  // Other threads, such as the one that samples, may go on using the device.
  graph.capture_begin(pool_->id, cudaStreamCaptureModeThreadLocal);
  try {
    enqueue();
  } catch (...) {
    try {
      graph.capture_end();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the first error is the cause
    }
    throw;
  }
  graph.capture_end();
  return recording;
}

struct StreamScope::State {
  explicit State(const c10::cuda::CUDAStream& stream) : guard(stream) {}
  c10::cuda::CUDAStreamGuard guard;
};

StreamScope::StreamScope(const c10::Device& device) {
  if (!device.is_cuda()) return;
  const auto stream = c10::cuda::getStreamFromPool(false, device.index());
  c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
  state_ = std::make_unique<State>(stream);
}

StreamScope::~StreamScope() {
  if (state_ == nullptr) return;
  try {
    state_->guard.current_stream().synchronize();
  } catch (...) {  // NOLINT(bugprone-empty-catch): an earlier error of the device
  }
}

}  // namespace lase::ops
