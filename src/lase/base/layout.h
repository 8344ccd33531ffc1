#pragma once

#include <cstdint>

#include "lase/base/names.h"

namespace lase {

// Storage layout of an attribute matrix; see Attributes.
enum class Layout : uint8_t { kDense, kSparse, kDictionary };

template <>
inline constexpr std::array<std::string_view, 3> kEnumNames<Layout> = {"dense", "sparse",
                                                                       "dictionary"};

}  // namespace lase
