#pragma once

#include <cstdint>

namespace lase {

// The half-open range [first, last).
struct Part {
  int64_t first = 0;
  int64_t last = 0;

  int64_t size() const { return last - first; }
  bool operator==(const Part&) const = default;
};

// Part i of n elements in `parts` consecutive parts, whose sizes differ by at most 1.
constexpr Part part_of(int64_t n, int64_t parts, int64_t i) {
  return {i * n / parts, (i + 1) * n / parts};
}

}  // namespace lase
