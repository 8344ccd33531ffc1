#include "lase/base/format.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace lase {
namespace {

TEST(Format, Fixed) {
  EXPECT_EQ(fixed(0.7834, 3), "0.783");
  EXPECT_EQ(fixed(-2, 1), "-2.0");
  EXPECT_EQ(fixed(1e20, 0), "100000000000000000000");
  EXPECT_EQ(fixed(std::numeric_limits<double>::infinity(), 2), "inf");
  EXPECT_EQ(fixed(std::nan(""), 2), "nan");
}

TEST(Format, SignedFixed) {
  EXPECT_EQ(signed_fixed(0.5, 3), "+0.500");
  EXPECT_EQ(signed_fixed(-0.0004, 3), "−0.000");
  EXPECT_EQ(signed_fixed(0, 1), "+0.0");
}

TEST(Format, SignificantAndScientific) {
  EXPECT_EQ(significant(36.789, 3), "36.8");
  EXPECT_EQ(significant(20, 3), "20");
  EXPECT_EQ(significant(1.5e6, 3), "1.5e+06");
  EXPECT_EQ(significant(0.1 + 0.2, 12), "0.3");
  EXPECT_EQ(scientific(1.66e-13, 1), "1.7e-13");
  EXPECT_EQ(scientific(0, 1), "0.0e+00");
}

TEST(Format, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(grouped(-123), "-123");
  EXPECT_EQ(grouped(std::numeric_limits<int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(Format, ByteSize) {
  EXPECT_EQ(byte_size(512), "0.5 kB");
  EXPECT_EQ(byte_size(243'000), "243.0 kB");
  EXPECT_EQ(byte_size(1'700'000), "1.7 MB");
  EXPECT_EQ(byte_size(2'340'000'000), "2.3 GB");
}

TEST(Format, Duration) {
  EXPECT_EQ(duration(12.3), "12 s");
  EXPECT_EQ(duration(180), "3 min");
}

}  // namespace
}  // namespace lase
