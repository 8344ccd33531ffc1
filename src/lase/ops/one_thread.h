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

}  // namespace lase::ops
