#pragma once

#include <cstdint>

namespace lase::kernels {

// a(e) = σ(U f(e)), U f(e), or 1.
enum class Amplifier : uint8_t { kSigmoid, kLinear, kNone };

}  // namespace lase::kernels
