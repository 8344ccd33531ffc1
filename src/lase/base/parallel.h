#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "lase/base/context.h"
#include "lase/base/error.h"

namespace lase {

namespace detail {
// Runs chunk(0) … chunk(count − 1), in any order, on this thread, on pool threads, and on threads
// that have no chunk left of a job that this one is part of.
void for_each_chunk(int64_t count, const std::function<void(int64_t)>& chunk);
}  // namespace detail

// Calls body(first, last) for chunks of `grain` elements of [0, n). The chunks do not depend on the
// number of threads. If several throw, the exception of the first chunk is rethrown. Throws Stopped
// if Context::stop becomes true.
template <class Body>
void parallel_for(int64_t n, int64_t grain, const Body& body) {
  const int64_t chunks = (n + grain - 1) / grain;
  std::exception_ptr error;
  int64_t error_chunk = chunks;
  std::mutex mutex;
  const std::atomic<bool>* stop = Context::current().stop;
  detail::for_each_chunk(chunks, [&](int64_t chunk) {
    try {
      if (stop != nullptr && *stop) throw Stopped();
      body(chunk * grain, std::min(n, (chunk + 1) * grain));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (chunk < error_chunk) {
        error_chunk = chunk;
        error = std::current_exception();
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace lase
