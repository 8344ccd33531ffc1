#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace lase {

class BufferPool;

// Reuses large buffers across steps. Every training step frees and allocates the same arrays of
// tens of megabytes; fresh pages from the system would cause page faults that cost more than the
// arithmetic.
//
// During the lifetime of a Workspace, workspace_memory() on its thread takes buffers from the pool,
// and they return to it when they are freed, on any thread. Another thread joins with a Workspace
// made from share(). Unused buffers are freed with the last Workspace; the pool holds at most 5/4
// of the peak use.
class Workspace {
 public:
  using Pool = std::shared_ptr<BufferPool>;

  // Uses the pool of this thread, or creates one.
  Workspace();
  // Uses the pool of another thread; null: none.
  explicit Workspace(Pool pool);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // The pool of this thread, or null.
  static Pool share();

 private:
  Pool previous_;
};

// Smaller buffers rarely come from the system.
inline constexpr int64_t kLargeBuffer = int64_t{1} << 20;

// Uninitialized memory, aligned to 64 bytes; if large, from this thread's workspace, if any.
std::shared_ptr<std::byte> workspace_memory(int64_t bytes);

}  // namespace lase
