#include "lase/base/interner.h"

#include <map>

#include "lase/base/random.h"

#include "support.h"

namespace lase {
namespace {

TEST(Interner, NumbersStringsByFirstAppearance) {
  Interner names;
  EXPECT_EQ(names.add("b"), 0);
  EXPECT_EQ(names.add("a"), 1);
  EXPECT_EQ(names.add("b"), 0);
  EXPECT_EQ(names.add(""), 2);
  EXPECT_EQ(names.add(std::string_view()), 2);
  EXPECT_EQ(names.size(), 3);
  EXPECT_EQ(names[1], "a");
  EXPECT_EQ(names.find("a"), 1);
  EXPECT_EQ(names.find("c"), std::nullopt);
  EXPECT_EQ(texts(names.finish()), (Strings{"b", "a", ""}));
}

TEST(Interner, DistinguishesStringsThatDifferOnlyInLength) {
  Interner names;
  for (size_t length = 0; length < 40; ++length) {
    EXPECT_EQ(names.add(std::string(length, '\0')), static_cast<int32_t>(length));
  }
  EXPECT_EQ(names.find(std::string(17, '\0')), 17);
}

TEST(Interner, AgreesWithAMapWhileItGrows) {
  Interner names;
  std::map<std::string, int32_t> reference;
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const std::string name = "node " + std::to_string(random.below(50'000));
    const auto expected = reference.emplace(name, static_cast<int32_t>(reference.size()));
    ASSERT_EQ(names.add(name), expected.first->second);
  }
  EXPECT_EQ(names.size(), static_cast<int64_t>(reference.size()));
  for (const auto& [name, id] : reference) ASSERT_EQ(names.find(name), id);
}

}  // namespace
}  // namespace lase
