#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lase {

// A 64-bit checksum that detects accidental changes, not forgery. Computed on all threads; the
// result does not depend on their number.
uint64_t checksum(std::span<const std::byte> bytes);

// The checksum as 16 hexadecimal digits.
std::string checksum_text(uint64_t checksum);

}  // namespace lase
