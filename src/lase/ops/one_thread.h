#pragma once

#include <ATen/Parallel.h>

namespace lase::ops {

// While it lives, torch computes on one thread: sums are then taken in one order, and results do
// not depend on the number of threads. What is worth several threads is parallel by lase's own
// hand.
class OneThread {
 public:
  OneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  ~OneThread() { at::set_num_threads(before_); }

 private:
  int before_;
};

}  // namespace lase::ops
