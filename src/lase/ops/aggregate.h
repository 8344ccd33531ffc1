#pragma once

#include <cstdint>

#include "lase/kernels/amplifier.h"

namespace lase::ops {

using kernels::Amplifier;

// How the terms of a neighborhood are combined: their sum, mean, or the largest per dimension.
enum class Aggregate : uint8_t { kSum, kMean, kMax };

}  // namespace lase::ops
