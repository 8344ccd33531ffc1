#include "common/sha256.h"

#include <algorithm>
#include <string>

#include "lase/base/error.h"

#include "support.h"

namespace lase {
namespace {

std::string sum_of(std::string_view text, size_t chunk = std::string::npos) {
  Sha256 sum;
  for (size_t at = 0; at < text.size(); at += std::min(chunk, text.size() - at)) {
    sum.add(std::as_bytes(std::span(text.substr(at, chunk))));
  }
  return sum.hex();
}

// From FIPS 180-4's examples and NIST's additional test vectors.
TEST(Sha256, NistVectors) {
  EXPECT_EQ(sum_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sum_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sum_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sum_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sum_of("\xbd"), "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
  EXPECT_EQ(sum_of("\xc9\x8c\x8e\x55"),
            "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504");
}

// Lengths around a block boundary, where the padding may or may not need another block.
TEST(Sha256, NistVectorsOfZeros) {
  const auto zeros = [](size_t count) { return sum_of(std::string(count, '\0')); };
  EXPECT_EQ(zeros(55), "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
  EXPECT_EQ(zeros(56), "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
  EXPECT_EQ(zeros(57), "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
  EXPECT_EQ(zeros(64), "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
  EXPECT_EQ(zeros(1000), "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53");
  EXPECT_EQ(sum_of(std::string(1000, 'A')),
            "c2e686823489ced2017f6059b8b239318b6364f6dcd835d0a519105a1eadd6e4");
  EXPECT_EQ(sum_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnTheChunkSize) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(i * 7);
  for (const size_t chunk : {1, 3, 55, 63, 64, 65, 127, 128, 999}) {
    EXPECT_EQ(sum_of(text, chunk), sum_of(text)) << chunk;
  }
}

TEST(Sha256, AcceptsMoreBytesAfterHex) {
  Sha256 sum;
  sum.add(std::as_bytes(std::span(std::string_view("a"))));
  EXPECT_EQ(sum.hex(), sum_of("a"));
  sum.add(std::as_bytes(std::span(std::string_view("bc"))));
  EXPECT_EQ(sum.hex(), sum_of("abc"));
}

using Sha256OfFile = FolderTest;

TEST_F(Sha256OfFile, ReadsTheWholeFile) {
  EXPECT_EQ(sha256_of_file(write("a", "abc")), sum_of("abc"));
  EXPECT_EQ(sha256_of_file(write("b", "")), sum_of(""));
  expect_error([&] { sha256_of_file(path("none")); }, {"none: cannot be opened"});
}

}  // namespace
}  // namespace lase
