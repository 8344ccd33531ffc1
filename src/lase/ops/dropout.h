#pragma once

#include <ATen/core/Tensor.h>
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "lase/base/random.h"
#include "lase/kernels/dropout.h"

namespace lase::ops {

// Zeroes entries of a matrix with probability `rate` and rescales the others, during training. The
// mask depends only on the key and the position of the entry, so that nothing has to be saved for
// the backward pass.
struct Dropout {
  double rate = 0;   // 0: off
  uint64_t key = 0;  // 0: not in training
  // int64 [1]: if defined, the key is Random(*base, key).bits(), which is read when the mask is
  // applied. A recorded step has a new mask whenever it is replayed.
  at::Tensor base = {};

  bool active() const { return rate > 0; }
  bool training() const { return key != 0 || base.defined(); }
  // An independent mask with the same rate. With a base, there is only one level of parts.
  Dropout part(int64_t number) const {
    if (base.defined()) return {rate, static_cast<uint64_t>(number), base};
    return {rate, Random(key, number).bits()};
  }
  // For a matrix of d columns, on the CPU.
  kernels::DropoutMask mask(int64_t d) const {
    return {rate, base.defined() ? Random(*base_pointer(), key).bits() : key, d};
  }
  // Null if undefined.
  const uint64_t* base_pointer() const {
    return base.defined() ? reinterpret_cast<const uint64_t*>(base.data_ptr<int64_t>()) : nullptr;
  }

  // x [rows, d] *= mask[first : first + rows].
  template <class T>
  void apply(T* x, int64_t first, int64_t rows, int64_t d) const {
    // Numbers are generated a tile at a time, so that the compiler can vectorize the loop that
    // compares and multiplies.
    constexpr int64_t kTile = 256;
    uint64_t numbers[kTile / 4];
    uint16_t bits[kTile];
    const kernels::DropoutMask all = mask(d);
    const uint16_t threshold = all.threshold;
    const auto kept = static_cast<T>(all.scale());
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t j = 0; j < d; j += kTile) {
        T* to = x + row * d + j;
        const int64_t width = std::min(kTile, d - j);
        for (int64_t i = 0; i < (width + 3) / 4; ++i) {
          numbers[i] = all.bits(first + row, j / 4 + i);
        }
        std::memcpy(bits, numbers, sizeof(bits));
        for (int64_t i = 0; i < width; ++i) to[i] *= bits[i] < threshold ? T{0} : kept;
      }
    }
  }
};

}  // namespace lase::ops
