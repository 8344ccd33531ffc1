#include "report/markup.h"

#include <gtest/gtest.h>

namespace lase {
namespace {

TEST(Escaped, EscapesCharactersThatXmlDoesNotAllow) {
  EXPECT_EQ(escaped("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(escaped("λ → 層"), "λ → 層");
  EXPECT_EQ(escaped("a\x01\nb"), "a  b");
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(escaped("a\xFFz"), "a" + bad + "z");
  EXPECT_EQ(escaped("\xC3"), bad);                      // truncated
  EXPECT_EQ(escaped("\xC0\xAF"), bad + bad);            // overlong encoding
  EXPECT_EQ(escaped("\xED\xA0\x80"), bad + bad + bad);  // lone surrogate
  EXPECT_EQ(escaped("\xEF\xBF\xBF"), bad + bad + bad);  // noncharacter U+FFFF
}

}  // namespace
}  // namespace lase
