#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace lase {

// A checksum of 64 bits against accidental changes, not against forgery. Computed on all threads;
// the same for any number of them.
uint64_t checksum(std::span<const std::byte> bytes);

// As 16 hexadecimal digits.
std::string checksum_text(uint64_t checksum);

}  // namespace lase
