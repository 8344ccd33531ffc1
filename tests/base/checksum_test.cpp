#include "lase/base/checksum.h"

#include <gtest/gtest.h>
#include <set>
#include <vector>

#include "lase/base/parallel.h"

namespace lase {
namespace {

TEST(Checksum, ChangesWithEveryByteAndTheLength) {
  for (const size_t size : {1u, 7u, 8u, 31u, 32u, 33u, 100u}) {
    std::vector<std::byte> bytes(size);
    std::set<uint64_t> sums = {checksum(bytes)};
    for (auto& byte : bytes) {
      for (const int bit : {1, 128}) {
        byte = static_cast<std::byte>(bit);
        EXPECT_TRUE(sums.insert(checksum(bytes)).second);
        byte = {};
      }
    }
    bytes.emplace_back();
    EXPECT_TRUE(sums.insert(checksum(bytes)).second);
  }
}

TEST(Checksum, IsTheSameForAnyNumberOfThreads) {
  std::vector<std::byte> bytes(5'000'001);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::set<uint64_t> sums;
  for (const int threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    sums.insert(checksum(bytes));
  }
  EXPECT_EQ(sums.size(), 1u);
  std::swap(bytes[10], bytes[(1 << 20) + 10]);  // in different chunks
  EXPECT_FALSE(sums.contains(checksum(bytes)));
}

TEST(Checksum, IsTheSameOnEveryMachine) {
  EXPECT_EQ(checksum_text(checksum(std::as_bytes(std::span("lase", 4)))), "a7920d78b6a033e3");
  EXPECT_EQ(checksum_text(0x1234), "0000000000001234");
}

}  // namespace
}  // namespace lase
