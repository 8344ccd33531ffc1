#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lase/base/random.h"

namespace lase::ops {

// Zeroes entries of a matrix with probability `rate` and rescales the others, during training. The
// mask depends only on the key and the position of the entry, so that nothing has to be saved for
// the backward pass.
struct Dropout {
  double rate = 0;   // 0: off
  uint64_t key = 0;  // 0: not in training

  bool active() const { return rate > 0; }
  bool training() const { return key != 0; }
  // An independent mask with the same rate.
  Dropout part(int64_t number) const { return {rate, Random(key, number).bits()}; }

  // x [rows, d] *= mask[first : first + rows].
  template <class T>
  void apply(T* x, int64_t first, int64_t rows, int64_t d) const {
    // One 64-bit random number decides four entries. Numbers are generated a tile at a time, so
    // that the compiler can vectorize the loop that compares and multiplies.
    constexpr int64_t kTile = 256;
    uint64_t numbers[kTile / 4];
    uint16_t bits[kTile];
    const auto threshold = static_cast<uint16_t>(rate * 65536);
    const auto kept = static_cast<T>(1 / (1 - static_cast<double>(threshold) / 65536));
    const int64_t words = (d + 3) / 4;
    for (int64_t row = 0; row < rows; ++row) {
      uint64_t counter = key + static_cast<uint64_t>((first + row) * words);
      for (int64_t j = 0; j < d; j += kTile) {
        T* to = x + row * d + j;
        const int64_t width = std::min(kTile, d - j);
        for (int64_t i = 0; i < (width + 3) / 4; ++i) {
          numbers[i] = mix(++counter * 0x9E3779B97F4A7C15U);
        }
        std::memcpy(bits, numbers, sizeof(bits));
        for (int64_t i = 0; i < width; ++i) to[i] *= bits[i] < threshold ? T{0} : kept;
      }
    }
  }
};

}  // namespace lase::ops
