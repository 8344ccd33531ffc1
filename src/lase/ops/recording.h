#pragma once

#include <c10/core/Device.h>
#include <functional>
#include <memory>

namespace lase::ops {

// Operations on a GPU that are recorded once and then replayed (as a CUDA graph), which takes the
// CPU microseconds instead of milliseconds. Replaying reads and writes the same memory: tensors
// that existed before must still exist, and may have other values. The operations must not wait for
// the GPU or depend on values that the CPU reads.
class Recording {
 public:
  // Replays work in any order, but not at the same time as another recording of this recorder.
  void replay();

 private:
  friend class Recorder;
  struct State;
  std::shared_ptr<State> state_;
};

// Makes recordings that share their temporary memory.
class Recorder {
 public:
  // Whether this build can record on the device.
  static bool supports(const c10::Device& device);

  Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  // Records what `enqueue` enqueues on the current stream, which must not be the default stream;
  // nothing is executed. Tensors that `enqueue` creates have memory that no other recording uses as
  // long as they exist.
  Recording record(const std::function<void()>& enqueue);

 private:
  struct Pool;
  std::unique_ptr<Pool> pool_;
};

// Makes another stream than the default one current, on a GPU, so that work can be recorded. The
// end of the scope waits for its work.
class StreamScope {
 public:
  explicit StreamScope(const c10::Device& device);
  StreamScope(const StreamScope&) = delete;
  StreamScope& operator=(const StreamScope&) = delete;
  ~StreamScope();

 private:
  struct State;
  std::unique_ptr<State> state_;  // null on the CPU
};

}  // namespace lase::ops
