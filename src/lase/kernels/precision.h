#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "lase/base/names.h"

namespace lase {

// Precision of products on a GPU. kTf32 rounds factors to 10 bits after the point and approximates
// sigmoids with a relative error of 2⁻¹¹; sums are in float32.
enum class Precision : uint8_t { kFp32, kTf32 };

template <>
inline constexpr std::array<std::string_view, 2> kEnumNames<Precision> = {"fp32", "tf32"};

}  // namespace lase
