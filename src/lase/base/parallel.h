#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>

#include "lase/base/context.h"

namespace lase {

namespace detail {
// piece(0) … piece(count − 1), in any order, on this thread and on those that sleep.
void for_each_piece(int64_t count, const std::function<void(int64_t)>& piece);
}  // namespace detail

// body(first, last) over pieces of [0, n) of `grain` elements. The pieces do not depend on the
// number of threads. The first exception, by position, is thrown again to the caller.
template <class Body>
void parallel_for(int64_t n, int64_t grain, const Body& body) {
  const int64_t pieces = (n + grain - 1) / grain;
  std::exception_ptr error;
  int64_t error_piece = pieces;
  std::mutex mutex;
  detail::for_each_piece(pieces, [&](int64_t piece) {
    try {
      body(piece * grain, std::min(n, (piece + 1) * grain));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (piece < error_piece) {
        error_piece = piece;
        error = std::current_exception();
      }
    }
  });
  if (error) std::rethrow_exception(error);
}

}  // namespace lase
