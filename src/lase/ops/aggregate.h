#pragma once

#include <cstdint>

#include "lase/kernels/amplifier.h"

namespace lase::ops {

using kernels::Amplifier;

// Aggregation over a neighborhood: sum, mean, or elementwise maximum.
enum class Aggregate : uint8_t { kSum, kMean, kMax };

}  // namespace lase::ops
