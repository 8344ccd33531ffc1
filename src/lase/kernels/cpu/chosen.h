#pragma once

#include <cstddef>
#include <cstring>
#include <memory>

#include "lase/base/workspace.h"
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
  explicit Floats(int64_t n = 0) {
    if (n == 0) return;
    const int64_t bytes = round_up(n, 16) * static_cast<int64_t>(sizeof(float));
    data_ = workspace_memory(bytes);
    std::memset(data_.get(), 0, static_cast<size_t>(bytes));
  }
  float* get() const { return reinterpret_cast<float*>(data_.get()); }

 private:
  std::shared_ptr<std::byte> data_;
};

inline void add(const float* from, int64_t n, float* to) {
  for (int64_t i = 0; i < n; ++i) to[i] += from[i];
}

}  // namespace lase::kernels
