#pragma once

#include <cstdint>

#include "lase/base/random.h"

namespace lase::kernels {

// Which entries of a matrix [·, d] dropout zeroes; the others are multiplied by scale(). A function
// of the key and the position of the entry. One 64-bit random number decides four entries of a row,
// 16 bits each, the lowest first: an entry is dropped if its bits are below the threshold.
struct DropoutMask {
  uint64_t key = 0;
  uint16_t threshold = 0;
  int64_t words = 0;  // random numbers per row

  DropoutMask() = default;
  DropoutMask(double rate, uint64_t key_of_mask, int64_t d)
      : key(key_of_mask), threshold(static_cast<uint16_t>(rate * 65536)), words((d + 3) / 4) {}

  // The bits of entries 4 word … 4 word + 3 of a row.
  LASE_HD uint64_t bits(int64_t row, int64_t word) const {
    const uint64_t counter = key + static_cast<uint64_t>(row * words + word + 1);
    return mix(counter * 0x9E3779B97F4A7C15U);
  }
  double scale() const { return 1 / (1 - static_cast<double>(threshold) / 65536); }
};

}  // namespace lase::kernels
