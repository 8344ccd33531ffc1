#pragma once

#include <cstdint>

namespace lase {

// Bijective mixing of 64 bits (the finaliser of SplitMix64).
constexpr uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// Counter-based random numbers: the stream is a function of its key alone, so the same seed gives
// the same numbers whatever the thread count, the machine or the point of resumption.
//
//   Random random(seed, kSplit, node);     // keyed by coordinates
//   random.uniform();
class Random {
 public:
  template <class... Coordinates>
  explicit constexpr Random(uint64_t seed, Coordinates... coordinates) : key_(mix(seed + kStep)) {
    ((key_ = mix(key_ ^ (static_cast<uint64_t>(coordinates) + kStep))), ...);
  }

  constexpr uint64_t bits() { return mix(key_ + kStep * ++counter_); }

  // Uniform in [0, 1).
  constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

  // Uniform in {0, …, n−1}; the bias is below n / 2^64.
  constexpr uint64_t below(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(bits()) * n) >> 64);
  }

  // Uniform in {0, …, n−1}, and 32 bits that are independent of it as long as n is below 2^31.
  struct Parts {
    uint64_t below;
    uint32_t rest;
  };
  constexpr Parts split_below(uint64_t n) {
    const auto product = static_cast<unsigned __int128>(bits()) * n;
    return {static_cast<uint64_t>(product >> 64),
            static_cast<uint32_t>(static_cast<uint64_t>(product) >> 32)};
  }

  constexpr bool chance(double p) { return uniform() < p; }

  // Close to standard normal: a centred sum of twelve uniforms. Only sums, so that every machine
  // gets the same bits; no value lies beyond 6.
  constexpr double normal() {
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
