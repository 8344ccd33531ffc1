#pragma once

#include "lase/kernels/precision.h"

namespace lase::ops {

namespace detail {
inline thread_local Precision current_precision = Precision::kFp32;
}  // namespace detail

// Sets the precision of products on a GPU for operators called by this thread. The backward pass
// of an operator, which runs on another thread, uses the precision of its forward pass.
class PrecisionScope {
 public:
  explicit PrecisionScope(Precision precision) : previous_(current()) {
    detail::current_precision = precision;
  }
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;
  ~PrecisionScope() { detail::current_precision = previous_; }

  static Precision current() { return detail::current_precision; }

 private:
  Precision previous_;
};

}  // namespace lase::ops
