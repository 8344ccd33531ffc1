#pragma once

#include <cstdint>

namespace lase {

// How a matrix of attributes is stored; see Attributes.
enum class Layout : uint8_t { kDense, kSparse, kCoded };

}  // namespace lase
