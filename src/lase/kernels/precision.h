#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lase/base/names.h"

namespace lase {

// Precision of products on a GPU. kTf32 rounds factors to 10 bits after the point, kBf16 to 7 bits;
// both approximate sigmoids with a relative error of 2⁻¹¹. Sums are in float32.
enum class Precision : uint8_t { kFp32, kTf32, kBf16 };

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Precision> = {"fp32", "tf32", "bf16"};

}  // namespace lase
