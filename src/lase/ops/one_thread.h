#pragma once

#include <ATen/Parallel.h>

namespace lase::ops {

// Limits torch to one thread during its lifetime, so that the order of summation, and thus the
// result, does not depend on the number of threads. lase parallelizes expensive operators itself.
class OneThread {
 public:
  OneThread() : previous_(at::get_num_threads()) { at::set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { at::set_num_threads(previous_); }

 private:
  int previous_;
};

// Applies torch's number of threads to the calling thread. For OpenMP, which BLAS uses, it is a
// property of each thread: without this call, a product computed by another thread than the one
// that created OneThread would be split differently, and rounded differently.
inline void inherit_thread_count() { at::init_num_threads(); }

}  // namespace lase::ops
