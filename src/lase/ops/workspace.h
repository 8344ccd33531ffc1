#pragma once

#include <ATen/core/Tensor.h>
#include <memory>

namespace lase::ops {

namespace detail {
class BufferPool;
}

// Keeps large buffers between steps. Every training step frees and allocates the same arrays of
// tens of megabytes; from the system they would come as fresh pages, whose faults cost more than
// the arithmetic on them.
//
// While a Workspace lives, empty() in its thread takes buffers from it, and tensors return them
// when they are freed, on any thread. Another thread joins by a Workspace made from share(). All
// buffers that are not in use are freed when the last one ends; held are at most 5/4 of what was
// in use at once.
class Workspace {
 public:
  using Pool = std::shared_ptr<detail::BufferPool>;

  // A pool of its own; or the one of this thread where it has one already.
  Workspace();
  // The pool of another thread; null: none.
  explicit Workspace(Pool pool);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  ~Workspace();

  // The pool of this thread, or null.
  static Pool share();

 private:
  Pool before_;
};

// Uninitialized, on the CPU; from this thread's workspace where it is large and there is one.
at::Tensor empty(at::IntArrayRef shape, at::ScalarType type = at::kFloat);
// The same with the shape, type and device of another tensor.
at::Tensor empty_like(const at::Tensor& tensor);

// matrix[index], without a history.
at::Tensor gather(const at::Tensor& matrix, const at::Tensor& index);

}  // namespace lase::ops
