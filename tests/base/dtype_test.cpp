#include "lase/base/dtype.h"

#include <cmath>

#include "support.h"

namespace lase {
namespace {

// (−1)^s 2^(e−15) (1 + f/1024), or (−1)^s 2^−14 f/1024 if e = 0 (IEEE 754).
double half_by_formula(uint16_t half) {
  const double sign = half >> 15 != 0 ? -1 : 1;
  const int exponent = half >> 10 & 31;
  const double fraction = (half & 1023) / 1024.0;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (exponent == 0) return sign * std::pow(2.0, -14) * fraction;
  return sign * std::pow(2.0, exponent - 15) * (1 + fraction);
}

TEST(HalfToFloat, MatchesTheFormulaForEveryValue) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const double expected = half_by_formula(half);
    const float value = half_to_float(half);
    ASSERT_EQ(std::signbit(value), bits >= 32768) << bits;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else {
      ASSERT_EQ(double{value}, expected) << bits;
    }
  }
}

TEST(DType, UsesSafetensorsNames) {
  for (int i = 0; i <= static_cast<int>(DType::kF64); ++i) {
    const auto type = static_cast<DType>(i);
    EXPECT_EQ(dtype_from_name(dtype_name(type)), type);
  }
  EXPECT_EQ(dtype_name(DType::kF16), "F16");
  EXPECT_EQ(dtype_size(DType::kF16), 2);
  EXPECT_EQ(dtype_size(DType::kI64), 8);
  EXPECT_EQ(dtype_from_name("BF16"), std::nullopt);
  EXPECT_EQ(dtype_from_name(""), std::nullopt);
}

TEST(Element, ReadsUnalignedData) {
  const std::string bytes = "x" + bytes_of(std::vector<double>{1.5, -2});
  const auto* data = reinterpret_cast<const std::byte*>(bytes.data()) + 1;
  EXPECT_EQ(element(data, DType::kF64, 0), 1.5);
  EXPECT_EQ(element(data, DType::kF64, 1), -2);
}

}  // namespace
}  // namespace lase
