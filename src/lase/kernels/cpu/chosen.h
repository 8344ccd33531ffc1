#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "lase/kernels/cpu/isa.h"

// Shared by the CPU kernels.
namespace lase::kernels {

// The instruction set in use.
const InstructionSet& isa();

inline int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

// A zero-initialized array aligned to 64 bytes.
class Floats {
 public:
  explicit Floats(int64_t n = 0) : data_(allocate(n)) {}
  float* get() const { return data_.get(); }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  static float* allocate(int64_t n) {
    if (n == 0) return nullptr;
    const auto bytes = static_cast<size_t>(round_up(n, 16)) * sizeof(float);
    auto* p = static_cast<float*>(std::aligned_alloc(64, bytes));
    if (p == nullptr) throw std::bad_alloc();
    std::memset(p, 0, bytes);
    return p;
  }
  std::unique_ptr<float, Free> data_;
};

inline void add(const float* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
}

}  // namespace lase::kernels
