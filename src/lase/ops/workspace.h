#pragma once

#include <ATen/core/Tensor.h>
#include <memory>

namespace lase::ops {

namespace detail {
class BufferPool;
}

// Reuses large buffers across steps. Every training step frees and allocates the same arrays of
// tens of megabytes; fresh pages from the system would cause page faults that cost more than the
// arithmetic.
//
// During the lifetime of a Workspace, empty() on its thread takes buffers from the pool, and
// tensors return them when they are freed, on any thread. Another thread joins with a Workspace
// made from share(). Unused buffers are freed with the last Workspace; the pool holds at most 5/4
// of the peak use.
class Workspace {
 public:
  using Pool = std::shared_ptr<detail::BufferPool>;

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

// An uninitialized CPU tensor; if large, from this thread's workspace, if any.
at::Tensor empty(at::IntArrayRef shape, at::ScalarType type = at::kFloat);
// The same, with the shape, type and device of another tensor.
at::Tensor empty_like(const at::Tensor& tensor);

// matrix[index], without autograd history.
at::Tensor gather(const at::Tensor& matrix, const at::Tensor& index);

}  // namespace lase::ops
