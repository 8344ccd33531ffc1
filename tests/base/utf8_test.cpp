#include "lase/base/utf8.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace lase {
namespace {

std::vector<char32_t> codes(std::string_view text) {
  std::vector<char32_t> all;
  size_t bytes = 0;
  for_each_character(text, [&](Character character, std::string_view own) {
    EXPECT_EQ(own, text.substr(bytes, character.bytes));
    bytes += character.bytes;
    all.push_back(character.valid() ? character.code : 0);
  });
  EXPECT_EQ(bytes, text.size());
  return all;
}

using Codes = std::vector<char32_t>;

TEST(Utf8, ReadsCharactersOfOneToFourBytes) {
  EXPECT_EQ(codes("aü層🙂"), (Codes{'a', 0xFC, 0x5C64, 0x1F642}));
  EXPECT_EQ(codes("\x7F\xC2\x80\xDF\xBF"), (Codes{0x7F, 0x80, 0x7FF}));
  EXPECT_EQ(codes("\xE0\xA0\x80\xEF\xBF\xBD"), (Codes{0x800, kReplacement}));
  EXPECT_EQ(codes("\xF0\x90\x80\x80\xF4\x8F\xBF\xBD"), (Codes{0x10000, 0x10FFFD}));
  EXPECT_EQ(codes(""), Codes{});
}

TEST(Utf8, ReportsInvalidBytesOneByOne) {
  EXPECT_EQ(codes("\x80z"), (Codes{0, 'z'}));                 // a continuation without a lead byte
  EXPECT_EQ(codes("\xC3z"), (Codes{0, 'z'}));                 // a lead byte without a continuation
  EXPECT_EQ(codes("\xE5\xB1"), (Codes{0, 0}));                // truncated
  EXPECT_EQ(codes("\xC0\xAF"), (Codes{0, 0}));                // overlong
  EXPECT_EQ(codes("\xE0\x9F\xBF"), (Codes{0, 0, 0}));         // overlong
  EXPECT_EQ(codes("\xED\xA0\x80"), (Codes{0, 0, 0}));         // a surrogate
  EXPECT_EQ(codes("\xEF\xBF\xBF"), (Codes{0, 0, 0}));         // a noncharacter
  EXPECT_EQ(codes("\xF4\x90\x80\x80"), (Codes{0, 0, 0, 0}));  // above U+10FFFF
}

TEST(Utf8, ChecksWholeTexts) {
  EXPECT_TRUE(is_utf8(""));
  EXPECT_TRUE(is_utf8("f1=größe"));
  EXPECT_FALSE(is_utf8("f1=gr\xF6\xDF"));
}

}  // namespace
}  // namespace lase
