#pragma once

#include <cstdint>

#include "lase/base/host_device.h"

namespace lase {

// Bijective mixing of 64 bits (the finalizer of SplitMix64).
LASE_HD constexpr uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// The 128-bit product x · y.
struct WideProduct {
  uint64_t high;
  uint64_t low;
};
LASE_HD constexpr WideProduct multiply_wide(uint64_t x, uint64_t y) {
#if defined(__SIZEOF_INT128__) && !defined(__CUDACC__)
  const auto product = static_cast<unsigned __int128>(x) * y;
  return {static_cast<uint64_t>(product >> 64), static_cast<uint64_t>(product)};
#else
  const uint64_t x_low = x & 0xFFFFFFFFu;
  const uint64_t x_high = x >> 32;
  const uint64_t y_low = y & 0xFFFFFFFFu;
  const uint64_t y_high = y >> 32;
  const uint64_t low = x_low * y_low;
  const uint64_t middle = x_high * y_low + (low >> 32);
  const uint64_t other = x_low * y_high + (middle & 0xFFFFFFFFu);
  return {x_high * y_high + (middle >> 32) + (other >> 32), (other << 32) | (low & 0xFFFFFFFFu)};
#endif
}

// Counter-based random numbers: the stream depends only on its key, so the same seed gives the same
// numbers for any number of threads, on any machine and after resuming.
//
//   Random random(seed, kSplit, node);     // keyed by coordinates
//   random.uniform();
class Random {
 public:
  template <class... Coordinates>
  LASE_HD explicit constexpr Random(uint64_t seed, Coordinates... coordinates)
      : key_(mix(seed + kStep)) {
    ((key_ = mix(key_ ^ (static_cast<uint64_t>(coordinates) + kStep))), ...);
  }

  LASE_HD constexpr uint64_t bits() { return mix(key_ + kStep * ++counter_); }

  // Uniform in [0, 1).
  LASE_HD constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  // Uniform in {0, …, n−1}; the bias is below n / 2^64.
  LASE_HD constexpr uint64_t below(uint64_t n) { return multiply_wide(bits(), n).high; }

  // Uniform in {0, …, n−1}, and 32 bits that are independent of it for n < 2^31.
  struct Parts {
    uint64_t below;
    uint32_t rest;
  };
  LASE_HD constexpr Parts split_below(uint64_t n) {
    const WideProduct product = multiply_wide(bits(), n);
    return {product.high, static_cast<uint32_t>(product.low >> 32)};
  }

  LASE_HD constexpr bool chance(double p) { return uniform() < p; }

  // Approximately standard normal: the centered sum of twelve uniforms. It only adds, so that every
  // machine gets the same bits; all values lie in [−6, 6].
  LASE_HD constexpr double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  static constexpr uint64_t kStep = 0x9E3779B97F4A7C15u;
  uint64_t key_;
  uint64_t counter_ = 0;
};

}  // namespace lase
