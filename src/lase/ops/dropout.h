#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lase/base/random.h"

namespace lase::ops {

// Zeroes entries of a matrix with probability `rate` and scales the rest, while training. Which
// ones is a function of the key and of the entry's place alone, so that nothing need be kept for
// the backward pass.
struct Dropout {
  double rate = 0;  // 0: nothing happens
  uint64_t key = 0;

  bool active() const { return rate > 0; }
  // Another mask of the same rate.
  Dropout part(int64_t number) const { return {rate, Random(key, number).bits()}; }

  // x [rows, d] *= mask of the rows from `first` on.
  template <class T>
  void apply(T* x, int64_t first, int64_t rows, int64_t d) const {
    // One number of 64 bits decides on four entries. They are drawn by the chunk, so that comparing
    // and multiplying are loops of their own, which compilers turn into vectors.
    constexpr int64_t kChunk = 256;
    uint64_t drawn[kChunk / 4];
    uint16_t bits[kChunk];
    const auto threshold = static_cast<uint16_t>(rate * 65536);
    const auto kept = static_cast<T>(1 / (1 - static_cast<double>(threshold) / 65536));
    const int64_t words = (d + 3) / 4;
    for (int64_t row = 0; row < rows; ++row) {
      uint64_t counter = key + static_cast<uint64_t>((first + row) * words);
      for (int64_t j = 0; j < d; j += kChunk) {
        T* to = x + row * d + j;
        const int64_t width = std::min(kChunk, d - j);
        for (int64_t i = 0; i < (width + 3) / 4; ++i) {
          drawn[i] = mix(++counter * 0x9E3779B97F4A7C15U);
        }
        std::memcpy(bits, drawn, sizeof(bits));
        for (int64_t i = 0; i < width; ++i) to[i] *= bits[i] < threshold ? T{0} : kept;
      }
    }
  }
};

}  // namespace lase::ops
