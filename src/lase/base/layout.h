#pragma once

#include <cstdint>

#include "lase/base/names.h"

namespace lase {

// How a matrix of attributes is stored; see Attributes.
enum class Layout : uint8_t { kDense, kSparse, kCoded };

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Layout> = {"dense", "sparse", "coded"};

}  // namespace lase
