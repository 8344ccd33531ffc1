#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lase {

// Element types of arrays stored in files.
enum class DType : uint8_t {
  kBool,
  kU8,
  kI8,
  kU16,
  kI16,
  kF16,
  kU32,
  kI32,
  kF32,
  kU64,
  kI64,
  kF64
};

int64_t dtype_size(DType type);
std::string_view dtype_name(DType type);  // as safetensors writes it: "F32"
std::optional<DType> dtype_from_name(std::string_view name);

template <class T>
inline constexpr DType kDTypeOf = DType::kF32;
template <>
inline constexpr DType kDTypeOf<double> = DType::kF64;
template <>
inline constexpr DType kDTypeOf<int64_t> = DType::kI64;
template <>
inline constexpr DType kDTypeOf<int32_t> = DType::kI32;
template <>
inline constexpr DType kDTypeOf<uint16_t> = DType::kU16;
template <>
inline constexpr DType kDTypeOf<uint8_t> = DType::kU8;
template <>
inline constexpr DType kDTypeOf<char> = DType::kU8;

float half_to_float(uint16_t half);

// Element i of an array of any type, as double. `data` need not be aligned.
double element(const std::byte* data, DType type, int64_t i);

}  // namespace lase
