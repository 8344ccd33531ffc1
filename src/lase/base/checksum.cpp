#include "lase/base/checksum.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "lase/base/parallel.h"
#include "lase/base/random.h"

namespace lase {
namespace {

constexpr int64_t kChunk = 1 << 20;

// Four independent chains of multiplications, so that the processor works on them at once.
uint64_t chunk_checksum(std::span<const std::byte> bytes) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15u;  // odd, so that no word is lost
  std::array<uint64_t, 4> lane = {1, 2, 3, 4};
  size_t at = 0;
  for (; at + sizeof(lane) <= bytes.size(); at += sizeof(lane)) {
    std::array<uint64_t, 4> words{};
    std::memcpy(words.data(), bytes.data() + at, sizeof(words));
    for (size_t i = 0; i < lane.size(); ++i) {
      lane[i] = (lane[i] ^ words[i]) * kFactor;
      lane[i] ^= lane[i] >> 32;
    }
  }
  std::array<uint64_t, 4> rest{};
  std::memcpy(rest.data(), bytes.data() + at, bytes.size() - at);
  uint64_t sum = mix(bytes.size());
  for (size_t i = 0; i < lane.size(); ++i) sum = mix(sum ^ mix(lane[i] ^ rest[i]));
  return sum;
}

}  // namespace

uint64_t checksum(std::span<const std::byte> bytes) {
  const auto size = std::ssize(bytes);
  std::vector<uint64_t> sums(static_cast<size_t>((size + kChunk - 1) / kChunk));
  parallel_for(size, kChunk, [&](int64_t first, int64_t last) {
    sums[static_cast<size_t>(first / kChunk)] = chunk_checksum(
        bytes.subspan(static_cast<size_t>(first), static_cast<size_t>(last - first)));
  });
  uint64_t sum = mix(static_cast<uint64_t>(size) + 1);
  for (const uint64_t part : sums) sum = mix(sum ^ part);
  return sum;
}

std::string checksum_text(uint64_t checksum) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[checksum >> shift & 15];
  return text;
}

}  // namespace lase
