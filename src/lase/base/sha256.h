#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lase {

// The SHA-256 sum (FIPS 180-4) of bytes that come piece by piece.
class Sha256 {
 public:
  void add(std::span<const std::byte> bytes);
  // The sum of all that was added, as 64 hexadecimal digits. More may be added afterwards.
  std::string hex() const;

 private:
  static constexpr size_t kBlock = 64;

  void add_block(const std::byte* block);
  void pad();

  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlock> rest_{};  // the bytes that do not fill a block yet
  uint64_t size_ = 0;
};

std::string sha256_of(std::string_view text);
std::string sha256_of_file(const std::string& path);

}  // namespace lase
