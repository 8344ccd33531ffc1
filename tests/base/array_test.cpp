#include "lase/base/array.h"

#include "lase/base/string_table.h"

#include "support.h"

namespace lase {
namespace {

TEST(Array, KeepsItsVectorAlive) {
  Array<int> copy;
  {
    const Array<int> array(std::vector<int>{1, 2, 3});
    copy = array;
  }
  EXPECT_EQ(std::vector<int>(copy.begin(), copy.end()), (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(copy.size(), 3);
  EXPECT_EQ(copy[2], 3);
  const auto slice = copy.slice(1, 3);
  EXPECT_EQ(std::vector<int>(slice.begin(), slice.end()), (std::vector<int>{2, 3}));
}

TEST(Array, IsEmptyByDefault) {
  const Array<float> array;
  EXPECT_TRUE(array.empty());
  EXPECT_EQ(array.begin(), array.end());
}

TEST(Buffer, KeepsItsValuesWhileItGrows) {
  Buffer<int64_t> buffer;
  EXPECT_TRUE(buffer.empty());
  for (int64_t i = 0; i < 100'000; ++i) buffer.push_back(i * i);
  ASSERT_EQ(buffer.size(), 100'000);
  for (int64_t i = 0; i < buffer.size(); ++i) ASSERT_EQ(buffer[i], i * i);
}

TEST(Buffer, CanAppendItsOwnElement) {
  Buffer<int64_t> buffer;
  buffer.push_back(7);
  for (int i = 0; i < 1000; ++i) buffer.push_back(buffer[0]);
  EXPECT_EQ(std::count(buffer.begin(), buffer.end(), 7), 1001);
}

TEST(Buffer, AppendsSpansAndShrinks) {
  Buffer<int> buffer;
  const std::vector<int> values = {1, 2, 3};
  buffer.append(values);
  buffer.append({});
  buffer.append(values);
  buffer.resize(4);
  EXPECT_EQ(std::vector<int>(buffer.begin(), buffer.end()), (std::vector<int>{1, 2, 3, 1}));
}

TEST(Buffer, FreezesWithoutCopying) {
  Buffer<int> buffer;
  buffer.append(std::vector<int>{4, 5});
  const int* data = buffer.data();
  const Array<int> frozen = buffer.freeze();
  EXPECT_EQ(frozen.data(), data);
  EXPECT_EQ(frozen.size(), 2);
  EXPECT_TRUE(buffer.empty());
  buffer.push_back(6);
  EXPECT_EQ(frozen[0], 4);
}

TEST(Buffer, MovesItsContents) {
  Buffer<int> from;
  from.push_back(1);
  Buffer<int> to(std::move(from));
  EXPECT_EQ(to.size(), 1);
  Buffer<int> third;
  third = std::move(to);
  EXPECT_EQ(third[0], 1);
}

TEST(StringTable, HoldsStringsOfAnyBytes) {
  const Strings strings = {"", "a", std::string("\0b\n", 3), "", "ü"};
  const StringTable table = make_string_table(strings);
  EXPECT_EQ(texts(table), strings);
  EXPECT_EQ(table.size(), 5);
}

TEST(StringTable, IsEmptyWithoutStrings) {
  EXPECT_EQ(StringTable{}.size(), 0);
  EXPECT_EQ(make_string_table(Strings{}).size(), 0);
  EXPECT_EQ(texts(make_string_table(Strings{""})), Strings{""});
}

}  // namespace
}  // namespace lase
