#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "lase/base/array.h"

namespace lase {

inline constexpr int64_t kLargestNarrow = std::numeric_limits<int32_t>::max();

// An immutable array of indices that is cheap to copy: int32 if all indices fit, int64
// otherwise.
class IndexArray {
 public:
  IndexArray() = default;
  IndexArray(Array<int32_t> values)  // NOLINT(google-explicit-constructor)
      : narrow_(std::move(values)) {}
  IndexArray(Array<int64_t> values)  // NOLINT(google-explicit-constructor)
      : wide_(std::move(values)) {}
  IndexArray(std::vector<int32_t> values)  // NOLINT(google-explicit-constructor)
      : narrow_(std::move(values)) {}

  int64_t size() const { return narrow_.size() + wide_.size(); }
  bool is_wide() const { return !wide_.empty(); }
  int64_t operator[](int64_t i) const { return is_wide() ? wide_[i] : narrow_[i]; }

  const Array<int32_t>& narrow() const { return narrow_; }  // empty if is_wide()
  const Array<int64_t>& wide() const { return wide_; }      // empty unless is_wide()

  // Calls visit(array) with wide() or narrow(), whichever is in use.
  template <class Visit>
  decltype(auto) visit(const Visit& visit) const {
    return is_wide() ? visit(wide_) : visit(narrow_);
  }

 private:
  Array<int32_t> narrow_;
  Array<int64_t> wide_;
};

// Builds an IndexArray. set() may be called in any order, by several threads.
class IndexBuffer {
 public:
  // Uses int64 if `largest` exceeds `largest_narrow`.
  IndexBuffer(int64_t size, int64_t largest, int64_t largest_narrow = kLargestNarrow)
      : is_wide_(largest > largest_narrow && size > 0) {
    is_wide_ ? wide_.resize(size) : narrow_.resize(size);
  }

  void set(int64_t i, int64_t index) {
    if (is_wide_) {
      wide_[i] = index;
    } else {
      narrow_[i] = static_cast<int32_t>(index);
    }
  }

  // Moves the storage into an array; the buffer is empty afterwards.
  IndexArray freeze() {
    return is_wide_ ? IndexArray(wide_.freeze()) : IndexArray(narrow_.freeze());
  }

 private:
  bool is_wide_;
  Buffer<int32_t> narrow_;
  Buffer<int64_t> wide_;
};

}  // namespace lase
