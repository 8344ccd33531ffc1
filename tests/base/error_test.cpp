#include "lase/base/error.h"

#include "support.h"

namespace lase {
namespace {

TEST(Quote, LeavesPlainTextUnchanged) {
  EXPECT_EQ(quote("a b"), "'a b'");
  EXPECT_EQ(quote(""), "''");
  EXPECT_EQ(quote("Zürich 東京 🙂"), "'Zürich 東京 🙂'");
}

TEST(Quote, EscapesControlCharactersAndInvalidUtf8) {
  EXPECT_EQ(quote("a\tb\n"), "'a\\x09b\\x0a'");
  EXPECT_EQ(quote("\x7F"), "'\\x7f'");
  EXPECT_EQ(quote("\xFF"), "'\\xff'");
  EXPECT_EQ(quote("\xC3("), "'\\xc3('");           // a lead byte without a continuation
  EXPECT_EQ(quote("a\xE6\x9D"), "'a\\xe6\\x9d'");  // a truncated character
  EXPECT_EQ(quote(std::string_view("\0", 1)), "'\\x00'");
}

TEST(Quote, ShortensLongTextWithoutCuttingACharacter) {
  const std::string quoted = quote(std::string(1000, 'x'));
  EXPECT_LT(quoted.size(), 70u);
  EXPECT_TRUE(quoted.ends_with("...'"));
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "ü";
  const std::string cut = quote(umlauts);
  EXPECT_EQ(cut.find("\\x"), cut.npos);
  EXPECT_TRUE(cut.ends_with("ü...'"));
}

TEST(Require, ThrowsTheJoinedParts) {
  EXPECT_NO_THROW(require(true, "not this"));
  expect_error([] { require(false, "line ", 7, ": ", 1.5); }, {"line 7: 1.5"});
}

}  // namespace
}  // namespace lase
