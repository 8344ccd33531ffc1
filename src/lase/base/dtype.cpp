#include "lase/base/dtype.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>

namespace lase {
namespace {

struct Entry {
  std::string_view name;
  int64_t size;
};

// In the order of DType.
constexpr std::array<Entry, 12> kEntries = {{{"BOOL", 1},
                                             {"U8", 1},
                                             {"I8", 1},
                                             {"U16", 2},
                                             {"I16", 2},
                                             {"F16", 2},
                                             {"U32", 4},
                                             {"I32", 4},
                                             {"F32", 4},
                                             {"U64", 8},
                                             {"I64", 8},
                                             {"F64", 8}}};

template <class T>
T load(const std::byte* data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

}  // namespace

int64_t dtype_size(DType type) { return kEntries[static_cast<size_t>(type)].size; }

std::string_view dtype_name(DType type) { return kEntries[static_cast<size_t>(type)].name; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (size_t i = 0; i < kEntries.size(); ++i) {
    if (kEntries[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const int exponent = (half >> 10) & 0x1F;
  const auto fraction = static_cast<uint32_t>(half & 0x3FFu);
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
  // Denormals: fraction · 2^-24.
  if (exponent == 0) {
    return std::copysign(std::ldexp(static_cast<float>(fraction), -24),
                         std::bit_cast<float>(sign | 0x3F800000u));
  }
  return std::bit_cast<float>(sign | static_cast<uint32_t>(exponent + 112) << 23 | fraction << 13);
}

double element(const std::byte* data, DType type, int64_t i) {
  switch (type) {
    case DType::kBool:
    case DType::kU8:
      return load<uint8_t>(data, i);
    case DType::kI8:
      return load<int8_t>(data, i);
    case DType::kU16:
      return load<uint16_t>(data, i);
    case DType::kI16:
      return load<int16_t>(data, i);
    case DType::kF16:
      return half_to_float(load<uint16_t>(data, i));
    case DType::kU32:
      return load<uint32_t>(data, i);
    case DType::kI32:
      return load<int32_t>(data, i);
    case DType::kF32:
      return load<float>(data, i);
    case DType::kU64:
      return static_cast<double>(load<uint64_t>(data, i));
    case DType::kI64:
      return static_cast<double>(load<int64_t>(data, i));
    case DType::kF64:
      return load<double>(data, i);
  }
  return 0;
}

}  // namespace lase
